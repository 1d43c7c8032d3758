"""The DOM of a live page as HTML: what a person sees, frames and shadow roots too, and no more."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import Error

from browser.errors import DeadlineExceeded, SessionError
from browser.net.url import is_web_url, origin

if TYPE_CHECKING:
    from playwright.async_api import Frame

    from browser.page.tab import Tab

_SCRIPT = Path(__file__).with_name("rendered.js").read_text(encoding="utf-8")
# Seconds. A page that does not answer by then is stuck in a script of its own.
_DEADLINE = 5.0
_FRAME_DEADLINE = 1.0
# Foreign frames beyond these are advertisements.
_MOST_FRAMES = 8


async def rendered_html(tab: Tab) -> str:
    """Serialise what is visible, styles applied. Raises DeadlineExceeded and SessionError."""
    page = tab.page
    try:
        async with asyncio.timeout(_DEADLINE):
            html = str(await page.evaluate(_SCRIPT))
    except TimeoutError as error:
        message = "the page did not answer when it was read"
        raise DeadlineExceeded(message) from error
    except Error as error:
        message = f"the page could not be read: {error.message}"
        raise SessionError(message) from error
    foreign = [frame for frame in page.frames[1:] if _is_foreign(frame, page.url)]
    parts = [await _frame_html(frame) for frame in foreign[:_MOST_FRAMES]]
    return html.replace("</body>", f"{''.join(parts)}</body>", 1) if any(parts) else html


def _is_foreign(frame: Frame, url: str) -> bool:
    return is_web_url(frame.url) and origin(frame.url) != origin(url)


async def _frame_html(frame: Frame) -> str:
    """What a frame of another site shows; nothing where it is small, gone or stuck."""
    try:
        async with asyncio.timeout(_FRAME_DEADLINE):
            element = await frame.frame_element()
            box = await element.bounding_box()
            if box is None or box["width"] < 200 or box["height"] < 100:
                return ""
            html = str(await frame.evaluate(_SCRIPT))
    except (TimeoutError, Error):
        return ""  # the page itself is still worth reading
    inner = html.partition("<body>")[2].rpartition("</body>")[0]
    return f"<section>{inner}</section>"
