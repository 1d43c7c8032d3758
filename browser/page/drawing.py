"""Frames for a tab that lies behind others, while the pointer goes a way in it.

Chrome draws none there, and hands a page the pointer's way frame by frame: a drag of ten steps took
five seconds. While somebody records the tab it draws as if it were in front; nobody sees it move.
"""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Page

_SMALLEST = {"format": "jpeg", "quality": 1, "maxWidth": 16, "maxHeight": 16}


@asynccontextmanager
async def drawing(page: Page) -> AsyncIterator[None]:
    """Let a tab draw as it does in front, until the body is done."""
    session = await page.context.new_cdp_session(page)
    await session.send("Page.startScreencast", _SMALLEST)
    try:
        yield
    finally:
        with suppress(PlaywrightError):  # the tab closed meanwhile
            await session.detach()
