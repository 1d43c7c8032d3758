"""The captcha of a live page: found for a solver, answered with the token that it gave."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.page import library
from browser.types import Challenge

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

# The widgets' own frames hold nothing that a token could be put into.
_WIDGETS = re.compile(r"//[^/]*(?:google\.com|recaptcha\.net|hcaptcha\.com|cloudflare\.com)/")


async def challenge_of(page: Page) -> Challenge | None:
    """Find the captcha of a page or of a frame in it; None where there is none we know."""
    found = await _found(page)
    return found[1] if found else None


async def answer_challenge(page: Page, token: str) -> str:
    """Hand the token to the page as the widget would.

    Says how: `callback`, `submitted`, `filled` (the page's own button is to follow), or "" where
    the captcha is gone.
    """
    found = await _found(page)
    if found is None:
        return ""
    return str(await library.call(found[0], "answerChallenge", token))


async def _found(page: Page) -> tuple[Frame, Challenge] | None:
    for frame in page.frames:
        if frame.parent_frame and _WIDGETS.search(frame.url):
            continue
        try:
            raw = await library.call(frame, "challenge")
        except PlaywrightError:
            continue  # a frame that went away
        if raw:
            return frame, Challenge(**raw)
    return None
