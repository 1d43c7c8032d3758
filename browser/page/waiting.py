"""Waits for the browser: deadlines with typed errors, background tasks, page text matching.

Every call to the browser has a deadline, and every Playwright error becomes a `BrowserError`.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

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

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine

    from playwright.async_api import Page

T = TypeVar("T")

# Playwright has one Error class for all of these; only the messages differ.
_CLOSED_MESSAGES = (
    "has been closed", "browser closed", "connection closed", "disconnected", "pipe closed",
    "epipe",
)  # fmt: skip


@asynccontextmanager
async def within(seconds: float, doing: str) -> AsyncIterator[None]:
    """Run the body for at most `seconds`.

    Raises DeadlineExceeded when time is up, and turns Playwright errors into typed ones. `doing`
    names the operation in the message ("open https://…").
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        message = f"{doing}: no response from the page within {seconds:g} s"
        raise DeadlineExceeded(message) from error
    except PlaywrightError as error:
        raise _typed_error(error, doing) from error


def _typed_error(error: PlaywrightError, doing: str) -> BrowserError:
    reason = first_line(error)
    folded = reason.lower()
    if "net::err_" in folded:
        return ConnectFailed(f"{doing}: {reason.partition('net::')[2].split()[0]}")
    if "ffmpeg" in folded:
        hint = "Run `playwright install ffmpeg`, or record a .har."
        return SessionError(f"{doing}: a video needs Playwright's ffmpeg", hint=hint)
    if "crashed" in folded:
        return PageCrashed(f"{doing}: the page crashed", hint="Open the page again.")
    if any(phrase in folded for phrase in _CLOSED_MESSAGES):
        return BrowserGone(f"{doing}: the page or its browser is gone", hint="Open the page again.")
    if "Timeout" in reason:
        return DeadlineExceeded(f"{doing}: {reason}")
    kind = ActionError if "element" in folded else SessionError
    return kind(f"{doing}: {reason}")


def first_line(error: PlaywrightError) -> str:
    """Return the first line of Playwright's message; the rest is a call log."""
    line = next(iter(str(error.message).strip().splitlines()), "unknown error")
    call, colon, reason = line.partition(": ")  # `Page.goto: …`
    return reason if colon and call.replace(".", "", 1).isidentifier() and "." in call else line


async def answer_or_none(call: Awaitable[T], seconds: float) -> T | None:
    """Await a call to a page or frame; None if it does not answer in time or no longer exists."""
    try:
        async with asyncio.timeout(seconds):
            return await call
    except (TimeoutError, PlaywrightError):
        return None


# The event loop only has weak references to tasks; without these, a task might be garbage-collected
# before it finishes.
_BACKGROUND: set[asyncio.Task[Any]] = set()


def run_in_background(coroutine: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine without waiting for it."""
    task = asyncio.ensure_future(coroutine)
    _BACKGROUND.add(task)
    task.add_done_callback(_BACKGROUND.discard)


_SMALLEST_SCREENCAST = {"format": "jpeg", "quality": 1, "maxWidth": 16, "maxHeight": 16}


@asynccontextmanager
async def keep_rendering(page: Page) -> AsyncIterator[None]:
    """Make a background tab draw frames while the body runs, as a visible tab does.

    Chrome draws tabs that are being recorded, so this starts the smallest possible screencast.
    """
    session = await page.context.new_cdp_session(page)
    await session.send("Page.startScreencast", _SMALLEST_SCREENCAST)
    try:
        yield
    finally:
        with suppress(PlaywrightError):  # the tab was closed in the meantime
            await session.detach()


def text_matcher(text: str) -> Callable[[str], bool]:
    """Return a function that tests page text for `text` (ignoring case) or a `/pattern/`.

    Raises ActionError for an invalid pattern.
    """
    pattern, slash, flag = text.removeprefix("/").rpartition("/")
    if not (text.startswith("/") and slash and pattern and flag in {"", "i"}):
        needle = " ".join(text.split()).casefold()
        return lambda page_text: needle in " ".join(page_text.split()).casefold()
    flags = re.MULTILINE | (re.IGNORECASE if flag else re.NOFLAG)
    try:
        compiled = re.compile(pattern, flags)
    except re.error as error:
        raise ActionError(
            f"{text!r} is not a valid pattern: {error}",
            hint="The text between the slashes must be a regular expression.",
        ) from error
    return lambda page_text: compiled.search(page_text) is not None
