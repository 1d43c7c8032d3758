"""What a site keeps in the browser: cookies, and the storage of the page that is open.

Playwright's own `storage_state` opens a page for every site that was ever visited, some 120 ms
each; asked after every step, the site that is open is all that can have changed. Databases alone
are left to it, as it knows how to write and to restore them: where the open page has any.
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from browser.errors import BrowserError
from browser.net.url import is_web_url, origin
from browser.page.deadline import within

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from playwright.async_api import Page

Items = tuple[tuple[str, str], ...]
DATABASE_SECONDS = 2.0
"""A session's databases are there in 10 ms; many sites visited before cost some 120 ms each."""
MOST_BYTES = 4_000_000
"""Larger databases are caches, which a site fills again, and would be copied after every step."""
_HELD = """async () => {
    const items = (name) => { try { return Object.entries(window[name]) } catch { return [] } };
    const soon = (asked) => Promise.race([asked, new Promise((ok) => setTimeout(ok, 300))]);
    let bytes = 0;
    try {
        if ((await soon(indexedDB.databases()))?.length) {
            const estimate = await soon(navigator.storage?.estimate());
            bytes = estimate?.usageDetails?.indexedDB || 1;
        }
    } catch { /* a page without an origin of its own has none */ }
    return { local: items("localStorage"), session: items("sessionStorage"), bytes };
}"""
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
    held = await page.evaluate(_HELD)
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
