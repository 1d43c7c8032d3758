"""Real endpoints on loopback, for the real clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser import retries
from tests.agent.models.wire import AnthropicProvider, OpenAIProvider, running
from tests.loopback import sleep_briefly

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "sleep", sleep_briefly)


@pytest.fixture
def provider() -> Iterator[OpenAIProvider]:
    with running(OpenAIProvider, "/v1") as provider:
        yield provider


@pytest.fixture
def claude() -> Iterator[AnthropicProvider]:
    with running(AnthropicProvider, "") as provider:
        yield provider
