"""What a page holds, read out: its HTML, what a person has before them, a picture, its storage."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from browser.errors import BrowserError
from browser.net.url import is_web_url, origin
from browser.page import injected
from browser.page.waiting import answer_of, within
from browser.text.words import clean
from browser.types import PageContext

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Frame, Page


READ_SECONDS = 5.0  # a page that does not answer by then is stuck in a script of its own
FOREIGN_FRAME_SECONDS = 1.0
FOREIGN_FRAMES = 8  # those beyond are advertisements
FOREIGN_FRAME_SIZE = (200, 100)  # pixels; there is nothing to read in smaller ones


async def rendered_html(page: Page) -> str:
    """Serialise what a person sees, styles applied; frames of other sites stand at the end.

    A frame that is gone or stuck is left out. Raises DeadlineExceeded and SessionError.
    """
    async with within(READ_SECONDS, "read the page"):
        html = str(await injected.call(page.main_frame, "rendered"))

    async def inside(frame: Frame) -> str:
        box = await (await frame.frame_element()).bounding_box()
        width, height = FOREIGN_FRAME_SIZE
        if box is None or box["width"] < width or box["height"] < height:
            return ""
        rendered = str(await injected.call(frame, "rendered"))
        return f"<section>{rendered.partition('<body>')[2].rpartition('</body>')[0]}</section>"

    own = origin(page.url)
    foreign = [f for f in page.frames[1:] if is_web_url(f.url) and origin(f.url) != own]
    parts = [await answer_of(inside(f), FOREIGN_FRAME_SECONDS) for f in foreign[:FOREIGN_FRAMES]]
    return html.replace("</body>", f"{''.join(filter(None, parts))}</body>", 1)


def context_of(raw: dict[str, Any]) -> PageContext:
    """Make a PageContext of what `context` of `js/rendered.js` told, cleaned."""
    return PageContext(
        url=raw["url"],
        title=clean(raw["title"]),
        selection=clean(raw["selection"]),
        visible_text=clean(raw["visible_text"]),
        canonical_url=raw["canonical_url"],
        focused=clean(raw["focused"]) if raw["focused"] else None,
        language=raw["language"],
        published=raw["published"],
    )


JPEG_QUALITY = 80  # small print stays readable, at a quarter of a PNG's size on pages with photos


async def marked_pictures(page: Page, seconds: float) -> tuple[bytes, ...]:
    """Take a picture with the refs of the last snapshot drawn in all frames, as JPEG.

    Where they hide something there is a second picture, without them.
    """

    async def picture() -> bytes:
        # One pixel of the picture is one CSS pixel, so that a point on it can be clicked.
        return await page.screenshot(
            type="jpeg", quality=JPEG_QUALITY, scale="css", timeout=seconds * 1000
        )

    async def in_all_frames(name: str) -> list[Any]:
        calls = (answer_of(injected.call(frame, name), seconds / 2) for frame in page.frames)
        return list(await asyncio.gather(*calls))

    hiding = await in_all_frames("drawMarks")
    try:
        marked = await picture()
    finally:
        await in_all_frames("unmark")
    return (marked, await picture()) if any(hiding) else (marked,)


Items = tuple[tuple[str, str], ...]
DATABASE_SECONDS = 2.0
"""A session's databases are there in 10 ms; many sites visited before cost some 120 ms each."""
MOST_BYTES = 4_000_000
"""Larger databases are caches, which a site fills again, and would be copied after every step."""
_RESTORE = """(() => {
    const [site, items] = %s;
    if (location.origin === site && !sessionStorage.length)
        for (const [name, value] of items) sessionStorage.setItem(name, value);
})()"""


@dataclass(frozen=True, slots=True)
class Stored:
    """All cookies of the browser, and what the open page's site keeps: they are secrets.

    `session` is that of the tab alone; `databases` are in Playwright's form, none where they are
    too large.
    """

    cookies: tuple[dict[str, Any], ...]
    origin: str = ""
    items: Items = ()
    session: Items = ()
    databases: tuple[dict[str, Any], ...] = ()


async def stored_by(page: Page) -> Stored:
    """Ask the browser; `origin` is empty where the open page is none of the web."""
    cookies = tuple(dict(cookie) for cookie in await page.context.cookies())
    if not is_web_url(page.url):
        return Stored(cookies)
    site = origin(page.url)
    held = await injected.call(page.main_frame, "stored")
    local, session = (
        tuple((str(name), str(value)) for name, value in held[kind])
        for kind in ("local", "session")
    )
    databases: tuple[dict[str, Any], ...] = ()
    if 0 < held["bytes"] <= MOST_BYTES:
        databases = await _databases(page, site)
    return Stored(cookies, site, local, session, databases)


async def _databases(page: Page, site: str) -> tuple[dict[str, Any], ...]:
    try:
        async with within(DATABASE_SECONDS, "read a site's databases"):
            state = await page.context.storage_state(indexed_db=True)
    except BrowserError:
        return ()
    rows: list[Any] = [dict(row) for row in state["origins"]]
    return tuple(db for row in rows if row["origin"] == site for db in row.get("indexedDB", ()))


@asynccontextmanager
async def with_session(page: Page, site: str, items: Items) -> AsyncIterator[None]:
    """Let documents of a site that begin in this block find its session storage as it was."""
    if not items:
        yield
        return
    async with await page.add_init_script(_RESTORE % json.dumps([site, items])):
        yield
