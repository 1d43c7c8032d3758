"""What lies over a page: consent dialogs, closed where we can, and captchas, for a solver.

Consent dialogs of well-known platforms are closed by rejecting where that is offered. A captcha is
found for a solver and answered with the token that it gave.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.net.url import host
from browser.page import injected
from browser.types import Challenge

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page


# Platforms that put their dialog into a frame of their own.
_CONSENT_FRAMES = (
    "consent", "sp_message", "privacy-mgmt", "trustarc", "cmp.", "/cmp", "onetrust", "cookielaw",
)  # fmt: skip
# The widgets' own frames hold nothing that a token could be put into.
_WIDGETS = ("google.com", "recaptcha.net", "hcaptcha.com", "cloudflare.com")


async def close_consent(page: Page) -> str | None:
    """Close the consent dialog in front; gives what was done ("OneTrust: rejected") or None.

    Buttons are known by the platform's own ids and classes, never by what they say.
    """
    named = [f for f in page.frames[1:] if any(sign in f.url.lower() for sign in _CONSENT_FRAMES)]
    for frame in (page.main_frame, *named):
        with suppress(PlaywrightError):  # the frame went away with its dialog
            if found := await injected.call(frame, "consent"):
                return f"{found[0]}: {found[1]}"
    return None


async def challenge_of(page: Page) -> Challenge | None:
    """Find the captcha of a page or of a frame in it; None where there is none we know."""
    found = await _found_in(page)
    return found[1] if found else None


async def answer_challenge(page: Page, token: str) -> str:
    """Hand the token to the page as the widget would.

    Says how: `callback`, `submitted`, `filled` (the page's own button is to follow), or "" where
    the captcha is gone.
    """
    found = await _found_in(page)
    if found is None:
        return ""
    return str(await injected.call(found[0], "answerChallenge", token))


async def _found_in(page: Page) -> tuple[Frame, Challenge] | None:
    for frame in page.frames:
        if frame.parent_frame and host(frame.url).endswith(_WIDGETS):
            continue
        with suppress(PlaywrightError):  # a frame that went away
            if raw := await injected.call(frame, "challenge"):
                return frame, Challenge(**raw)
    return None
