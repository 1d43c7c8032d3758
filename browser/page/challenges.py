"""Captchas on a page: finds one for a solver, and inserts the solver's token."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.page import injected
from browser.page.driver import ACT_SECONDS, LOOK_SECONDS
from browser.page.waiting import within
from browser.types import Challenge

if TYPE_CHECKING:
    from playwright.async_api import Frame

    from browser.page.driver import PageDriver


async def find(driver: PageDriver) -> Challenge | None:
    """Find the captcha on the page; see `Tab.challenge`."""
    driver.check_alive()
    async with within(LOOK_SECONDS, "read the page"):
        found = await _find(driver)
    return found[1] if found else None


async def insert_token(driver: PageDriver, token: str) -> str:
    """Insert a token into the page's captcha; see `Tab.answer_challenge`."""
    driver.check_alive()
    async with within(ACT_SECONDS, "answer the captcha"):
        await injected.call(driver.page.main_frame, "arm")
        found = await _find(driver)
        way = await injected.call(found[0], "answerChallenge", token) if found else ""
        await driver.settle()
    return str(way)


async def _find(driver: PageDriver) -> tuple[Frame, Challenge] | None:
    for frame in driver.page.frames:
        with suppress(PlaywrightError):  # the frame no longer exists
            if raw := await injected.call(frame, "challenge"):
                return frame, Challenge(**raw)
    return None
