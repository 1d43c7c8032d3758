"""Real endpoints on loopback, for the real clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agent.models.wire import AnthropicProvider, OpenAIProvider, running

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def provider() -> Iterator[OpenAIProvider]:
    with running(OpenAIProvider, "/v1") as provider:
        yield provider


@pytest.fixture
def claude() -> Iterator[AnthropicProvider]:
    with running(AnthropicProvider, "") as provider:
        yield provider
