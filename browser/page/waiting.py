"""Waiting for the browser: deadlines with typed errors, work in the background, texts that come.

Every call to the browser has a deadline, and every error of Playwright becomes one of ours.
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
        raise _typed(error, doing) from error


def _typed(error: PlaywrightError, doing: str) -> BrowserError:
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


async def answer_of(asked: Awaitable[T], seconds: float) -> T | None:
    """Await what a frame is asked; None where it does not answer in time or went away."""
    try:
        async with asyncio.timeout(seconds):
            return await asked
    except (TimeoutError, PlaywrightError):
        return None


_BACKGROUND: set[asyncio.Task[Any]] = set()


def in_background(work: Coroutine[Any, Any, object]) -> None:
    """Run without being waited for; the loop alone would let go of the task before its end."""
    task = asyncio.ensure_future(work)
    _BACKGROUND.add(task)
    task.add_done_callback(_BACKGROUND.discard)


_SMALLEST = {"format": "jpeg", "quality": 1, "maxWidth": 16, "maxHeight": 16}


@asynccontextmanager
async def drawing(page: Page) -> AsyncIterator[None]:
    """Let a tab in the background draw frames until the body is done, as one in front does."""
    session = await page.context.new_cdp_session(page)
    await session.send("Page.startScreencast", _SMALLEST)
    try:
        yield
    finally:
        with suppress(PlaywrightError):  # the tab closed meanwhile
            await session.detach()


def text_matcher(text: str) -> Callable[[str], bool]:
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
