"""An egress proxy that may reach the test's own servers, and a client that uses it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from tests.browser.net.servers import Origin


@pytest.fixture
def client_of() -> Callable[..., AbstractAsyncContextManager[HttpClient]]:
    @asynccontextmanager
    async def client(*origins: Origin, **options: float) -> AsyncIterator[HttpClient]:
        policy = EgressPolicy(allow_private=tuple(origin.named for origin in origins))
        async with Egress(policy) as egress, HttpClient(egress, **options) as http:
            yield http

    return client
