"""A picture with the refs drawn on it, for models that see."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.page import library

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

JPEG_QUALITY = 80  # small print stays readable, at a quarter of a PNG's size on pages with photos


async def marked_screenshot(page: Page, seconds: float) -> bytes:
    """Draw the refs of the last snapshot in all frames, take the picture, take them away."""
    await asyncio.gather(*(_in_frame(frame, "drawMarks") for frame in page.frames))
    try:
        # One pixel of the picture is one CSS pixel, so that a point on it can be clicked.
        return await page.screenshot(
            type="jpeg", quality=JPEG_QUALITY, scale="css", timeout=seconds * 1000
        )
    finally:
        await asyncio.gather(*(_in_frame(frame, "unmark") for frame in page.frames))


async def _in_frame(frame: Frame, name: str) -> None:
    try:
        await library.call(frame, name)
    except PlaywrightError:
        return  # a frame that went away needs no marks
