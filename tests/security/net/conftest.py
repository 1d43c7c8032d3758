"""A real Chromium whose only way out is the guard."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from browser.session.launch import LaunchOptions, processes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from playwright.async_api import BrowserContext

    from browser.net.egress import Egress


@pytest.fixture(scope="session")
def browser_behind() -> Callable[[Egress], AbstractAsyncContextManager[BrowserContext]]:
    @asynccontextmanager
    async def behind(egress: Egress) -> AsyncIterator[BrowserContext]:
        async with processes().launched(LaunchOptions(proxy=egress.proxy_url)) as running:
            yield running.context

    return behind
