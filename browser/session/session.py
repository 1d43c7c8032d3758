"""The session: one browser, launched or attached, and the tabs that are ours in it."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from browser.errors import BrowserError, BrowserGone, DeadlineExceeded
from browser.page import library
from browser.page.context import context_of, raw_context
from browser.page.deadline import within
from browser.page.tab import OPEN_SECONDS, Tab
from browser.page.transfer import Downloads
from browser.session.attach import attach
from browser.session.launch import LaunchOptions, Running, launch
from browser.types import TabInfo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Page, Playwright

    from browser.types import PageContext

TABS_AT_MOST = 8  # of ours; a page that opens more has them closed
TAB_SECONDS = 1.5  # a tab of the user that shows a dialog does not answer
CLOSE_SECONDS = 3.0
ALIVE_SECONDS = 1.0


class Browser:
    """A browser under our hand. Made by `launch` or `attach`, both async context managers."""

    def __init__(
        self, playwright: Playwright, running: Running, options: LaunchOptions | None
    ) -> None:
        self._playwright = playwright
        self._running = running
        self._options = options
        self._downloads = Downloads(options.downloads_dir if options else None)
        self._tabs: list[Tab] = []
        self._count = 0
        self._reopening = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def launch(
        cls,
        *,
        headless: bool = True,
        executable: str | os.PathLike[str] | None = None,
        proxy: str | None = None,
        storage_state: str | os.PathLike[str] | None = None,
        user_data_dir: str | os.PathLike[str] | None = None,
        downloads_dir: str | os.PathLike[str] | None = None,
    ) -> AsyncIterator[Browser]:
        """Start a browser of our own. Raises BrowserMissing or LaunchFailed."""
        folder = Path(downloads_dir) if downloads_dir else None
        options = LaunchOptions(headless, executable, proxy, storage_state, user_data_dir, folder)
        async with async_playwright() as playwright:
            browser = cls(playwright, await launch(playwright, options), options)
            try:
                yield browser
            finally:
                await browser._end()

    @classmethod
    @asynccontextmanager
    async def attach(cls, url: str) -> AsyncIterator[Browser]:
        """Attach to a Chrome that is open: a CDP address, `chrome` or `msedge`.

        Raises AttachFailed. Leaving closes our own tabs, and nothing else.
        """
        async with async_playwright() as playwright:
            browser = cls(playwright, await attach(playwright, url), None)
            try:
                yield browser
            finally:
                await browser._end()

    @property
    def attached(self) -> bool:
        """Whether this is the user's own browser."""
        return self._options is None

    async def open(self, url: str, *, deadline: float = OPEN_SECONDS) -> Tab:
        """Open an address in a new tab of ours; `deadline` in seconds.

        Raises DeadlineExceeded, ConnectFailed, BrowserGone (after trying a new browser).
        """
        tab = await self._new_tab()
        try:
            await tab.goto(url, deadline)
        except BrowserError:
            await self.close(tab)
            raise
        return tab

    async def close(self, tab: Tab) -> None:
        """Close a tab of ours; one that does not answer is forgotten."""
        if tab in self._tabs:
            self._tabs.remove(tab)
        with suppress(DeadlineExceeded, BrowserGone):
            await tab.close()

    async def tabs(self) -> list[TabInfo]:
        """List all tabs, ours and the user's."""
        ours = {tab.page: tab for tab in self._tabs}
        infos = await asyncio.gather(
            *(self._info(page, ours.get(page), n) for n, page in enumerate(self._pages(), 1))
        )
        return list(infos)

    async def visible_context(self) -> PageContext | None:
        """Give the context of the tab that the person sees; None when none answers."""
        ours = {tab.page for tab in self._tabs}
        pages = [page for page in self._pages() if page not in ours]
        found = await asyncio.gather(*(self._context(page) for page in pages))
        shown = [raw for raw in found if raw and raw["visible"]]
        if not shown:
            return None
        return context_of(max(shown, key=lambda raw: bool(raw["focus"])))

    def _pages(self) -> list[Page]:
        return [page for page in self._running.context.pages if not page.is_closed()]

    async def _context(self, page: Page) -> dict[str, object] | None:
        try:
            async with asyncio.timeout(TAB_SECONDS):
                return await raw_context(page)
        except (TimeoutError, PlaywrightError):
            return None

    async def _info(self, page: Page, tab: Tab | None, number: int) -> TabInfo:
        title = ""
        with suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(TAB_SECONDS):
                title = await page.title()
        name = tab.id if tab else f"u{number}"
        return TabInfo(name, page.url, title, ours=tab is not None)

    async def _new_tab(self) -> Tab:
        try:
            return await self._page_of_ours()
        except (BrowserGone, DeadlineExceeded):
            if self.attached:
                raise
            await self._restart()
            return await self._page_of_ours()

    async def _page_of_ours(self) -> Tab:
        async with within(CLOSE_SECONDS, "open a tab"):
            page = await self._running.context.new_page()
            if self.attached:
                await page.add_init_script(library.SOURCE)
        return self._adopt(page)

    def _adopt(self, page: Page) -> Tab:
        self._count += 1
        tab = Tab(page, f"t{self._count}", self._downloads)
        self._tabs.append(tab)
        return tab

    async def _restart(self) -> None:
        """Replace a browser that is gone or frozen."""
        async with self._reopening:
            assert self._options is not None
            self._tabs.clear()
            _kill(self._running.pid)
            with suppress(DeadlineExceeded, BrowserError):
                async with within(ALIVE_SECONDS, "close the browser"):
                    await self._running.context.close()
            self._running = await launch(self._playwright, self._options)

    async def _end(self) -> None:
        for tab in list(self._tabs):
            await self.close(tab)
        if self.attached:
            return  # leaving Playwright drops the connection; the browser stays
        with suppress(BrowserError):
            async with within(CLOSE_SECONDS, "close the browser"):
                await self._running.context.close()
                if self._running.browser:
                    await self._running.browser.close()
            return
        _kill(self._running.pid)


def _kill(pid: int | None) -> None:
    if pid is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
