"""Waiting for the browser: deadlines with typed errors, pages coming to rest, texts that come.

Every call to the browser has a deadline, and every error of Playwright becomes one of ours.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.errors import (
    ActionError,
    BrowserError,
    BrowserGone,
    ConnectFailed,
    DeadlineExceeded,
    PageCrashed,
    SessionError,
)
from browser.page import injected

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from playwright.async_api import Frame, Page

    from browser.page.page_events import Events


_CLOSED = (
    "has been closed", "browser closed", "connection closed", "disconnected", "pipe closed",
    "epipe",
)  # fmt: skip


@asynccontextmanager
async def within(seconds: float, doing: str) -> AsyncIterator[None]:
    """Run the body for at most `seconds`.

    Raises DeadlineExceeded when the time is up, and the typed error for whatever Playwright
    raises; `doing` says in the message what was under way ("open https://…").
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        message = f"{doing}: no answer from the page within {seconds:g} s"
        raise DeadlineExceeded(message) from error
    except PlaywrightError as error:
        raise translated(error, doing) from error


def translated(error: PlaywrightError, doing: str) -> BrowserError:
    """Find the typed error for one of Playwright's, with its first line as the reason."""
    reason = first_line(error)
    folded = reason.lower()
    if "net::err_" in folded:
        return ConnectFailed(f"{doing}: {reason.partition('net::')[2].split()[0]}")
    if "crashed" in folded:
        return PageCrashed(f"{doing}: the page crashed", hint="Open the page again.")
    if any(sign in folded for sign in _CLOSED):
        return BrowserGone(f"{doing}: the page or its browser is gone", hint="Open the page again.")
    if "Timeout" in reason:
        return DeadlineExceeded(f"{doing}: {reason}")
    return (ActionError if "lement" in reason else SessionError)(f"{doing}: {reason}")


def first_line(error: PlaywrightError) -> str:
    """Reduce Playwright's message, which carries a call log, to its first line."""
    line = next(iter(str(error.message).strip().splitlines()), "unknown error")
    call, colon, reason = line.partition(": ")  # `Page.goto: …`
    return reason if colon and call.replace(".", "", 1).isidentifier() and "." in call else line


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


QUIET_MS = 40  # no DOM change for this long; of nine measured actions eight were done within 66 ms
CAP_SECONDS = 2.5  # a page that never rests is looked at as it is
NAVIGATION_SECONDS = 12.0
_STEP = 0.02  # longest wait between two looks at the page's state while requests are open


async def settle(page: Page, events: Events, within: Frame | None = None) -> None:
    """Wait for navigation, open requests, short timers and DOM changes to come to rest.

    `within` is the frame that was acted in, where that is not the page's own.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + CAP_SECONDS
    while loop.time() < until:
        left = await _left(page, events)
        if left == 0 and within is not None:
            left = await _left_in(within)
        if left == 0:
            return
        await asyncio.sleep(min(left, max(0.0, until - loop.time())))


async def _left(page: Page, events: Events) -> float:
    """Seconds until the next look makes sense; 0 when the page is at rest."""
    if events.closed or events.crashed:
        return 0
    try:
        state = await injected.call(page.main_frame, "quietIn", {"quiet": QUIET_MS})
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


async def _left_in(frame: Frame) -> float:
    """Seconds until a frame inside the page is at rest."""
    try:
        return float((await injected.call(frame, "quietIn", {"quiet": QUIET_MS}))["left"]) / 1000
    except PlaywrightError:
        return 0  # it went, or goes elsewhere


async def _arrive(page: Page, events: Events) -> None:
    """Wait for the document that is on its way; a stopped or refused one leaves us where we are."""
    try:
        async with asyncio.timeout(NAVIGATION_SECONDS):
            if events.navigating:
                await page.wait_for_event("framenavigated", timeout=NAVIGATION_SECONDS * 1000)
            await page.wait_for_load_state("domcontentloaded")
    except (TimeoutError, PlaywrightError):
        events.navigating = False


def wanted_in(text: str) -> Callable[[str], bool]:
    """Make a test of a page's text: it holds a text (in any case), or matches a `/pattern/`.

    Raises ActionError for a pattern that is none.
    """
    pattern, slash, flag = text.removeprefix("/").rpartition("/")
    if not (text.startswith("/") and slash and pattern and flag in {"", "i"}):
        needle = " ".join(text.split()).casefold()
        return lambda shown: needle in " ".join(shown.split()).casefold()
    try:
        wanted = re.compile(pattern, re.IGNORECASE | re.MULTILINE if flag else re.MULTILINE)
    except re.error as error:
        raise ActionError(
            f"{text!r} is no pattern: {error}", hint="Between the slashes is a regular expression."
        ) from error
    return lambda shown: wanted.search(shown) is not None
