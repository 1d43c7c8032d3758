"""The Chrome of a user, to attach to."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from browser.session.chrome import EXECUTABLE_VARIABLES, start_chrome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from playwright.async_api import BrowserContext, Playwright

    from browser.session.chrome import StartedChrome


async def users_chrome(profile: Path) -> StartedChrome:
    """Start a full Chrome, as users have it, whichever browser the other tests use."""
    with pytest.MonkeyPatch.context() as patch:
        for name in EXECUTABLE_VARIABLES:
            patch.delenv(name, raising=False)
        return await start_chrome(profile, headless=True)


@asynccontextmanager
async def driven_chrome(playwright: Playwright, address: str) -> AsyncIterator[BrowserContext]:
    """Act as its user in an open Chrome; leaves it as it was found: one tab, with nothing in it.

    All tests act through one driver, the fixture `playwright`: starting one takes .33 s of a
    processor.
    """
    browser = await playwright.chromium.connect_over_cdp(address, no_defaults=True)
    context = browser.contexts[0]
    yield context
    front, *others = context.pages
    for tab in others:
        await tab.close()
    await front.goto("about:blank")
    await browser.close()  # the connection alone
