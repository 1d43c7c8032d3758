"""Waiting until a page has done what it does after an action: no longer, and never without end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.page import library

if TYPE_CHECKING:
    from playwright.async_api import Page

    from browser.page.events import Events

QUIET_MS = 40  # no DOM change for this long; of nine measured actions eight were done within 66 ms
CAP_SECONDS = 2.5  # a page that never rests is looked at as it is
NAVIGATION_SECONDS = 12.0
_STEP = 0.02  # longest wait between two looks at the page's state while requests are open


async def settle(page: Page, events: Events, cap: float = CAP_SECONDS) -> None:
    """Wait for navigation, open requests, short timers and DOM changes to come to rest."""
    loop = asyncio.get_running_loop()
    until = loop.time() + cap
    while loop.time() < until:
        left = await _left(page, events)
        if left == 0:
            return
        await asyncio.sleep(min(left, max(0.0, until - loop.time())))


async def _left(page: Page, events: Events) -> float:
    """Seconds until the next look makes sense; 0 when the page is at rest."""
    if events.closed or events.crashed:
        return 0
    try:
        state = await library.call(page.main_frame, "quietIn", {"quiet": QUIET_MS})
    except PlaywrightError:
        # The document went away under the question: a navigation.
        await _arrive(page, events)
        return _STEP
    if events.navigating or (state["navigating"] and not events.diverted):
        await _arrive(page, events)
        return _STEP
    if state["ready"] == "loading" or events.pending() or state["opening"] > events.opened:
        return _STEP
    return float(state["left"]) / 1000


async def _arrive(page: Page, events: Events) -> None:
    """Wait for the document that is on its way; a stopped or refused one leaves us where we are."""
    try:
        async with asyncio.timeout(NAVIGATION_SECONDS):
            if events.navigating:
                await page.wait_for_event("framenavigated", timeout=NAVIGATION_SECONDS * 1000)
            await page.wait_for_load_state("domcontentloaded")
    except (TimeoutError, PlaywrightError):
        events.navigating = False
