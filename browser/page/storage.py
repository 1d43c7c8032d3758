"""What a site keeps in the browser: cookies, and the local storage of the page that is open.

Playwright's own `storage_state` opens a page for every site that was ever visited, some 120 ms
each; asked after every step, the site that is open is all that can have changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from browser.net.url import is_web_url, origin

if TYPE_CHECKING:
    from playwright.async_api import Page

_ITEMS = "() => { try { return Object.entries(localStorage) } catch { return [] } }"


@dataclass(frozen=True, slots=True)
class Stored:
    """All cookies of the browser, and the open page's local storage: they are secrets."""

    cookies: tuple[dict[str, Any], ...]
    origin: str = ""
    items: tuple[tuple[str, str], ...] = ()


async def stored_by(page: Page) -> Stored:
    """Ask the browser; `origin` is empty where the open page is none of the web."""
    cookies = tuple(dict(cookie) for cookie in await page.context.cookies())
    if not is_web_url(page.url):
        return Stored(cookies)
    items = await page.evaluate(_ITEMS)
    return Stored(cookies, origin(page.url), tuple((str(k), str(v)) for k, v in items))
