"""Consent dialogs of well-known platforms are closed, rejecting where that is offered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.page import library

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

# Platforms that put their dialog into a frame of their own.
_FRAMES = re.compile(
    r"consent|sp_message|privacy-mgmt|trustarc|cmp\.|/cmp|onetrust|cookielaw", re.IGNORECASE
)


async def close_consent(page: Page) -> str | None:
    """Close the consent dialog in front; gives what was done ("OneTrust: rejected") or None.

    Buttons are known by the platform's own ids and classes, never by what they say.
    """
    candidates = [f for f in page.frames if f != page.main_frame and _FRAMES.search(f.url)]
    for frame in (page.main_frame, *candidates):
        if done := await _close_in(frame):
            return done
    return None


async def _close_in(frame: Frame) -> str | None:
    try:
        found = await library.call(frame, "consent")
    except PlaywrightError:
        return None  # the frame went away with its dialog
    return f"{found[0]}: {found[1]}" if found else None
