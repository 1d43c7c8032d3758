"""Every call to the browser has a deadline, and every error of Playwright becomes one of ours."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
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

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_NETWORK = re.compile(r"net::(ERR_\w+)")
_CRASHED = re.compile(r"crashed", re.IGNORECASE)
_CLOSED = re.compile(
    r"has been closed|browser.*closed|connection closed|disconnected|pipe closed|EPIPE",
    re.IGNORECASE,
)


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
    network = _NETWORK.search(reason)
    if network:
        return ConnectFailed(f"{doing}: {network[1]}")
    if _CRASHED.search(reason):
        return PageCrashed(f"{doing}: the page crashed", hint="Open the page again.")
    if _CLOSED.search(reason):
        return BrowserGone(f"{doing}: the page or its browser is gone", hint="Open the page again.")
    if "Timeout" in reason:
        return DeadlineExceeded(f"{doing}: {reason}")
    return (ActionError if "lement" in reason else SessionError)(f"{doing}: {reason}")


def first_line(error: PlaywrightError) -> str:
    """Reduce Playwright's message, which carries a call log, to its first line."""
    lines = str(error.message).strip().splitlines()
    return re.sub(r"^\w+\.\w+: ", "", lines[0]) if lines else "unknown error"
