"""A URL in, a Page out: HTTP first, the browser where evidence asks for it."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from browser.errors import BrowserError, DeadlineExceeded, SessionError
from browser.extract.charset import decode
from browser.net.url import host, registrable_domain
from browser.read.files import Files
from browser.read.habits import Habits
from browser.read.pages import page_of_error, page_of_response, read_rendered
from browser.read.refresh import refresh_target
from browser.read.shell import needs_browser
from browser.types import Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path

    from browser.net.http import HttpClient
    from browser.net.polite import Polite
    from browser.session import Browser

Mode = Literal["auto", "http", "browser"]

# Seconds for one page, all ways tried taken together.
DEADLINE = 20.0
# Browsers stop at 20 redirects; a page that refreshes more than twice goes in circles.
_MOST_REFRESHES = 2
# The browser shows these in a viewer or saves them; HTTP brings them as they are.
_DOCUMENT = re.compile(
    r"\.(?:pdf|docx?|xlsx?|pptx?|od[tsp]|epub|eml|mbox|json|xml|csv|txt|md)(?:[?#]|$)",
    re.IGNORECASE,
)
# Walls that a real browser, with its scripts and cookies, may pass.
_BROWSER_MAY_PASS = frozenset((Outcome.BOT_CHECK, Outcome.CONSENT, Outcome.BLOCKED))


class Reader:
    """Reads pages. `browser` is asked for a session only when a page needs one."""

    def __init__(
        self,
        http: HttpClient | Polite,
        *,
        browser: Callable[[], Awaitable[Browser]] | None = None,
        files: Iterable[Path | str] = (),
        habits: Habits | Path | None = None,
    ) -> None:
        self._http = http
        self._browser = browser
        self._files = Files.of(files)
        self.habits = habits if isinstance(habits, Habits) else Habits(habits)

    async def read(self, url: str, mode: Mode = "auto", deadline: float = DEADLINE) -> Page:
        """Read a page; what goes wrong is in `Page.outcome` and `reason`, never raised.

        `deadline` is in seconds and covers all that is tried. `file://` URLs are read only
        inside the files and folders that the reader was given.
        """
        until = time.monotonic() + deadline
        try:
            if url.lower().startswith("file:"):
                return await asyncio.to_thread(self._files.read, url)
            if mode == "browser":
                return await self._browse(url, until, "asked to read it in the browser")
            return await (self._fetch(url, until) if mode == "http" else self._choose(url, until))
        except BrowserError as error:
            return page_of_error(url, error)

    async def _choose(self, url: str, until: float) -> Page:
        site = registrable_domain(host(url))
        habit = self.habits.of(site)
        if self._browser is not None and habit.wants_browser and not _DOCUMENT.search(url):
            why = f"{site} needed the browser before: {habit.reason}"
            with suppress(BrowserError):  # then the plain way is tried after all
                return await self._browse(url, until, why)
        page = await self._fetch(url, until)
        reason = _why_browser(page)
        if not reason:
            self.habits.http_was_enough(site)
            return page
        return await self._second_way(page, reason, site, until)

    async def _second_way(self, page: Page, reason: str, site: str, until: float) -> Page:
        if self._browser is None:
            return replace(page, reason=f"{reason}; no browser is at hand")
        try:
            browsed = await self._browse(page.url, until, reason)
        except BrowserError as error:
            return replace(page, reason=f"{reason}; the browser did not bring more: {error}")
        if _size(browsed) <= _size(page):
            return replace(page, reason=f"{reason}; the browser shows no more")
        self.habits.needed_browser(site, reason)
        return replace(browsed, requested_url=page.requested_url, status=page.status)

    async def _fetch(self, url: str, until: float) -> Page:
        page = await self._get(url, url, until)
        for _ in range(_MOST_REFRESHES):
            target = refresh_target(page)
            if target is None:
                break
            page = await self._get(url, target, until)
        return page

    async def _get(self, requested: str, url: str, until: float) -> Page:
        response = await self._http.get(url, deadline=_left(until))
        page = await asyncio.to_thread(page_of_response, requested, response)
        if page.outcome is not Outcome.OK:  # a wall, or nothing: not to be met again from the cache
            await self._http.forget(response.url)
        return page

    async def _browse(self, url: str, until: float, reason: str) -> Page:
        if self._browser is None:
            message = "no browser is at hand"
            raise SessionError(message, hint="Read it with mode http.")
        session = await self._browser()
        tab = await session.open(url, deadline=_left(until))
        try:
            page = await read_rendered(tab)
        finally:
            await session.close(tab)
        return replace(page, requested_url=url, reason=page.reason or reason)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        message = "the page took longer than its deadline"
        raise DeadlineExceeded(message)
    return left


def _size(page: Page) -> int:
    return len(page.document.text) if page.document and page.outcome is Outcome.OK else 0


def _why_browser(page: Page) -> str:
    if page.outcome in _BROWSER_MAY_PASS:
        return page.reason
    if page.outcome not in {Outcome.OK, Outcome.EMPTY} or page.document is None:
        return ""
    if page.document.kind != "html":
        return ""
    return needs_browser(decode(page.body, page.content_type), page.document)
