"""The rendered page as one HTML text: shadow roots and frames in their places."""

from __future__ import annotations

import asyncio
import re
import secrets
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browser.page import library

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

FRAME_SECONDS = 3.0
FRAMES_DEEP = 5
_BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL | re.IGNORECASE)


async def html_of(page: Page) -> str:
    """Serialise the page; a frame that does not answer in time is left empty."""
    mark = f"frame-{secrets.token_hex(8)}-"  # a page cannot write it, so it cannot place a frame
    return await _frame_html(page.main_frame, mark, 0)


async def _frame_html(frame: Frame, mark: str, depth: int) -> str:
    text = str(await library.call(frame, "html", {"mark": mark}))
    if mark not in text:
        return text
    children = frame.child_frames if depth < FRAMES_DEEP else []
    inner = dict(await asyncio.gather(*(_child(child, mark, depth + 1) for child in children)))
    return re.sub(re.escape(mark) + r"(\w+);", lambda found: inner.get(found[1], ""), text)


async def _child(frame: Frame, mark: str, depth: int) -> tuple[str, str]:
    try:
        async with asyncio.timeout(FRAME_SECONDS):
            owner = await frame.frame_element()
            parent = frame.parent_frame
            ref = await library.call(parent, "frameNumber", owner) if parent else None
            text = await _frame_html(frame, mark, depth) if ref else ""
    except (TimeoutError, PlaywrightError):
        return "", ""
    body = _BODY.search(text)
    return str(ref), body[1] if body else text
