"""What a page holds, read out: its HTML, what a person has before them, a picture, its storage."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from browser.errors import BrowserError
from browser.net.url import is_web_url, origin
from browser.page import injected
from browser.page.waiting import within
from browser.text.words import clean
from browser.types import PageContext

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from playwright.async_api import Frame, Page


READ_SECONDS = 5.0  # a page that does not answer by then is stuck in a script of its own
FOREIGN_FRAME_SECONDS = 1.0
FOREIGN_FRAMES = 8  # those beyond are advertisements


async def rendered_html(page: Page) -> str:
    """Serialise what a person sees, styles applied; frames of other sites stand at the end.

    Raises DeadlineExceeded and SessionError.
    """
    async with within(READ_SECONDS, "read the page"):
        html = str(await injected.call(page.main_frame, "rendered"))
    foreign = [frame for frame in page.frames[1:] if _is_foreign(frame, page.url)]
    parts = [await _foreign_html(frame) for frame in foreign[:FOREIGN_FRAMES]]
    return html.replace("</body>", f"{''.join(parts)}</body>", 1) if any(parts) else html


def _is_foreign(frame: Frame, url: str) -> bool:
    return is_web_url(frame.url) and origin(frame.url) != origin(url)


async def _foreign_html(frame: Frame) -> str:
    """What a frame of another site shows; nothing where it is small, gone or stuck."""
    try:
        async with asyncio.timeout(FOREIGN_FRAME_SECONDS):
            element = await frame.frame_element()
            box = await element.bounding_box()
            if box is None or box["width"] < 200 or box["height"] < 100:  # nothing to read in it
                return ""
            html = str(await injected.call(frame, "rendered"))
    except (TimeoutError, PlaywrightError):
        return ""  # the page itself is still worth reading
    inner = html.partition("<body>")[2].rpartition("</body>")[0]
    return f"<section>{inner}</section>"


async def raw_context(page: Page) -> dict[str, Any]:
    """Ask the page for its context; also whether it is visible and focused."""
    found: dict[str, Any] = await injected.call(
        page.main_frame, "context", {"limit": injected.CONTEXT_LIMIT}
    )
    return found


def context_of(raw: dict[str, Any]) -> PageContext:
    """Make a PageContext of what the page told, cleaned."""
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
    hiding = await asyncio.gather(*(_in_frame(frame, "drawMarks") for frame in page.frames))
    try:
        marked = await _picture(page, seconds)
    finally:
        await asyncio.gather(*(_in_frame(frame, "unmark") for frame in page.frames))
    return (marked, await _picture(page, seconds)) if any(hiding) else (marked,)


async def _picture(page: Page, seconds: float) -> bytes:
    # One pixel of the picture is one CSS pixel, so that a point on it can be clicked.
    return await page.screenshot(
        type="jpeg", quality=JPEG_QUALITY, scale="css", timeout=seconds * 1000
    )


async def _in_frame(frame: Frame, name: str) -> Any:
    try:
        return await injected.call(frame, name)
    except PlaywrightError:
        return None  # a frame that went away needs no marks


Items = tuple[tuple[str, str], ...]
DATABASE_SECONDS = 2.0
"""A session's databases are there in 10 ms; many sites visited before cost some 120 ms each."""
MOST_BYTES = 4_000_000
"""Larger databases are caches, which a site fills again, and would be copied after every step."""
_GIVEN = """(() => {
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
    held = await injected.call(page.main_frame, "kept")
    databases = await _databases(page, site) if 0 < held["bytes"] <= MOST_BYTES else ()
    return Stored(cookies, site, _items(held["local"]), _items(held["session"]), databases)


@asynccontextmanager
async def with_session(page: Page, site: str, items: Items) -> AsyncIterator[None]:
    """Let documents of a site that begin in this block find its session storage as it was."""
    if not items:
        yield
        return
    script = _GIVEN % json.dumps([site, items])
    async with await page.add_init_script(script):
        yield


async def _databases(page: Page, site: str) -> tuple[dict[str, Any], ...]:
    try:
        async with within(DATABASE_SECONDS, "read a site's databases"):
            state = await page.context.storage_state(indexed_db=True)
    except BrowserError:
        return ()
    rows: list[Any] = [dict(row) for row in state["origins"]]
    return tuple(db for row in rows if row["origin"] == site for db in row.get("indexedDB", ()))


def _items(pairs: Sequence[Sequence[Any]]) -> Items:
    return tuple((str(name), str(value)) for name, value in pairs)
