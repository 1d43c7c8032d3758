"""Waiting until a text stands on a page, in whichever of its frames."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError, DeadlineExceeded

if TYPE_CHECKING:
    from playwright.async_api import Page

_PATTERN = re.compile(r"/(.+)/(i?)")


async def text_shown(page: Page, text: str, seconds: float) -> None:
    """Wait until a text, or a `/pattern/`, can be seen.

    Raises DeadlineExceeded when it does not come, ActionError for a pattern that is none.
    """
    wanted = _wanted(text)
    waits = {
        asyncio.ensure_future(
            frame.get_by_text(wanted)
            .filter(visible=True)
            .first.wait_for(state="attached", timeout=seconds * 1000)
        )
        for frame in page.frames
    }
    try:
        async with asyncio.timeout(seconds):
            await _first_good(waits)
    except (TimeoutError, PlaywrightError) as error:
        raise DeadlineExceeded(
            f"{text!r} did not come within {seconds:g} s", hint="SNAPSHOT shows what is there."
        ) from error


async def _first_good(waits: set[asyncio.Task[None]]) -> None:
    """Return when one is done; raises its error when all have failed."""
    try:
        while waits:
            done, waits = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            failed = [task.exception() for task in done]
            if None in failed:
                return
            if not waits and failed[0]:
                raise failed[0]
    finally:
        for wait in waits:
            wait.cancel()


def _wanted(text: str) -> str | re.Pattern[str]:
    found = _PATTERN.fullmatch(text)
    if not found:
        return text
    try:
        return re.compile(found[1], re.IGNORECASE if found[2] else 0)
    except re.error as error:
        raise ActionError(
            f"{text!r} is no pattern: {error}", hint="Between the slashes is a regular expression."
        ) from error
