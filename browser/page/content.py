"""Reads a page: its rendered HTML, visible content and storage; takes screenshots."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from browser.errors import BrowserError
from browser.net.url import is_web_url, origin
from browser.page import injected
from browser.page.waiting import answer_or_none, within
from browser.text.words import clean
from browser.types import PageContext

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Frame, Page

    from browser.page.view import Target

READ_SECONDS = 5.0  # a page that takes longer is stuck in one of its scripts
FOREIGN_FRAME_SECONDS = 1.0  # how long to wait for a frame from another site
MAX_FOREIGN_FRAMES = 8  # further frames are advertisements
MIN_FOREIGN_FRAME_SIZE = (200, 100)  # pixels; smaller frames contain nothing to read


async def rendered_html(page: Page) -> str:
    """Serialise the visible page as HTML, with styles applied; frames from other sites come last.

    A frame that no longer exists or does not answer is left out. Raises DeadlineExceeded and
    SessionError.
    """
    async with within(READ_SECONDS, "read the page"):
        html = str(await injected.call(page.main_frame, "rendered"))

    async def frame_html(frame: Frame) -> str:
        box = await (await frame.frame_element()).bounding_box()
        width, height = MIN_FOREIGN_FRAME_SIZE
        if box is None or box["width"] < width or box["height"] < height:
            return ""
        rendered = str(await injected.call(frame, "rendered"))
        return f"<section>{rendered.partition('<body>')[2].rpartition('</body>')[0]}</section>"

    # The script also reads frames from the page's own site, but cannot access those of other sites.
    own = origin(page.url)
    foreign = [f for f in page.frames[1:] if is_web_url(f.url) and origin(f.url) != own]
    sections = ""
    for frame in foreign[:MAX_FOREIGN_FRAMES]:
        sections += await answer_or_none(frame_html(frame), FOREIGN_FRAME_SECONDS) or ""
    return html.replace("</body>", f"{sections}</body>", 1)


MAX_FETCHED_BYTES = 50_000_000  # in a file that the page fetches for us
_FETCH_SCRIPT = """async ([url, most]) => {
  const answer = await fetch(url, { credentials: 'include' });
  const file = answer.ok ? await answer.blob() : null;
  if (!file || file.size > most) return '';
  const reader = new FileReader();
  return new Promise((done) => {
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(file);
  });
}"""


async def pdf_bytes(page: Page) -> bytes | None:
    """Fetch the PDF that a page shows, if possible from the browser's cache.

    Returns None if it is too large, or if the site does not serve it a second time.
    """
    body = await _fetch_in_page(page.main_frame, page.url)
    return body if body is not None and body.startswith(b"%PDF") else None


async def _fetch_in_page(frame: Frame, url: str) -> bytes | None:
    """Have a page fetch a file; None if it cannot, or if the file is too large."""
    try:
        text: str = await frame.evaluate(_FETCH_SCRIPT, [url, MAX_FETCHED_BYTES])
    except PlaywrightError:  # the request failed
        return None
    return base64.b64decode(text.partition(",")[2]) if text else None


async def link_to_data(target: Target) -> tuple[str, str] | None:
    """Return the file name and address of a link to a file that the page itself contains."""
    name, url = await target.element.evaluate(
        "e => { const a = e.closest('a[download]'); return [a?.download ?? '', a?.href ?? '']; }"
    )
    return (name or "download", url) if url.startswith(("data:", "blob:")) else None


async def linked_data(target: Target) -> tuple[str, bytes] | None:
    """Return the file name and content of a `data:` or `blob:` link; None if it cannot be read."""
    link = await link_to_data(target)
    data = await _fetch_in_page(target.frame, link[1]) if link else None
    return (link[0], data) if link and data is not None else None


def page_context(raw: dict[str, Any]) -> PageContext:
    """Build a PageContext from the result of `context` in `js/rendered.js`; clean its strings."""
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


JPEG_QUALITY = 80  # keeps small print readable; pages with photos are a quarter of the PNG's size


async def marked_pictures(page: Page, seconds: float) -> tuple[bytes, ...]:
    """Take a JPEG screenshot with the refs of the last snapshot marked in all frames.

    If the marks cover something, a second screenshot without them is added.
    """

    async def screenshot() -> bytes:
        # `scale`: one image pixel is one CSS pixel, so that a point on the image can be clicked.
        # `caret`: Playwright would hide it with a style and leave an empty attribute behind.
        return await page.screenshot(
            type="jpeg", quality=JPEG_QUALITY, scale="css", caret="initial", timeout=seconds * 1000
        )

    async def call_in_all_frames(name: str) -> list[Any]:
        calls = (answer_or_none(injected.call(frame, name), seconds / 2) for frame in page.frames)
        return list(await asyncio.gather(*calls))

    hides_content = await call_in_all_frames("drawMarks")
    try:
        marked = await screenshot()
    finally:
        await call_in_all_frames("unmark")
    return (marked, await screenshot()) if any(hides_content) else (marked,)


StorageRows = Sequence[dict[str, str]]
"""Entries of a site's localStorage or sessionStorage, in Playwright's form: `name`, `value`."""
DATABASE_SECONDS = 2.0
"""Reading the databases of one session takes 10 ms, or about 120 ms after visits to many sites."""
MAX_DATABASE_BYTES = 4_000_000
"""Larger databases are caches that the site can refill; copying them after every step is slow."""
# Restores only an empty session storage, so that newer entries are never overwritten.
_RESTORE_SCRIPT = """(() => {
    const [site, rows] = %s;
    if (location.origin === site && !sessionStorage.length)
        for (const row of rows) sessionStorage.setItem(row.name, row.value);
})()"""


@dataclass(frozen=True, slots=True)
class BrowserStorage:
    """The browser's cookies, and the data stored by the open page's site. All of it is secret.

    `site` is the site's entry in Playwright's storage state, without databases that are too large;
    None if the open page is not http(s). `session` is the tab's sessionStorage.
    """

    cookies: list[dict[str, Any]]
    site: dict[str, Any] | None = None
    session: StorageRows = ()


async def read_storage(page: Page) -> BrowserStorage:
    """Read cookies, and the storage of the open page's site."""
    cookies = [dict(cookie) for cookie in await page.context.cookies()]
    if not is_web_url(page.url):
        return BrowserStorage(cookies)
    site = origin(page.url)
    stored = await injected.call(page.main_frame, "stored")
    # A page may have overridden its storage; Playwright accepts only strings.
    local, session = (
        [{"name": str(name), "value": str(value)} for name, value in stored[kind]]
        for kind in ("local", "session")
    )
    databases = []
    if 0 < stored["bytes"] <= MAX_DATABASE_BYTES:
        databases = await _databases(page, site)
    entry = {"origin": site, "localStorage": local, "indexedDB": databases}
    return BrowserStorage(cookies, entry, session)


async def _databases(page: Page, site: str) -> list[dict[str, Any]]:
    try:
        async with within(DATABASE_SECONDS, "read a site's databases"):
            state = await page.context.storage_state(indexed_db=True)
    except BrowserError:
        return []
    # Playwright's types do not include databases.
    origins: list[Any] = [dict(entry) for entry in state["origins"]]
    return [
        database
        for entry in origins
        if entry["origin"] == site
        for database in entry.get("indexedDB", ())
    ]


@asynccontextmanager
async def restored_session_storage(page: Page, site: str, rows: StorageRows) -> AsyncIterator[None]:
    """Restore a site's sessionStorage in documents that it loads inside this block."""
    if not rows:
        yield
        return
    async with await page.add_init_script(_RESTORE_SCRIPT % json.dumps([site, rows])):
        yield
