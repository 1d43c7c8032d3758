"""A real Chromium whose only way out is the guard."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import async_playwright

from browser.session.chrome import find_chrome
from browser.session.launch import launch_flags, proxy_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from playwright.async_api import BrowserContext

    from browser.net.egress import Egress


@pytest.fixture(scope="session")
async def browser_behind() -> AsyncIterator[
    Callable[[Egress], AbstractAsyncContextManager[BrowserContext]]
]:
    async with async_playwright() as playwright:

        @asynccontextmanager
        async def behind(egress: Egress) -> AsyncIterator[BrowserContext]:
            browser = await playwright.chromium.launch(
                executable_path=find_chrome(),
                args=["--no-sandbox", *launch_flags()],
                proxy=proxy_settings(egress.proxy_url),
            )
            async with browser, await browser.new_context() as context:
                yield context

        yield behind
