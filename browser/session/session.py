"""The session: one browser, launched or attached, and the tabs that are ours in it."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import async_playwright

from browser.errors import BrowserError, BrowserGone, DeadlineExceeded
from browser.page import library
from browser.page.context import context_of
from browser.page.deadline import within
from browser.page.tab import OPEN_SECONDS, Tab
from browser.page.transfer import Downloads
from browser.session.attach import UsersTabs, attach
from browser.session.launch import LaunchOptions, Running, launch
from browser.text import clean
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
        self,
        playwright: Playwright,
        running: Running,
        options: LaunchOptions | None,
        users: UsersTabs | None = None,
    ) -> None:
        self._users = users
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
        async with attach(url) as (playwright, running, users):
            browser = cls(playwright, running, None, users)
            try:
                yield browser
            finally:
                await browser._close_tabs()

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
        """List our tabs, then the user's."""
        ours = [TabInfo(tab.id, tab.url, await self._title(tab)) for tab in self._tabs]
        if self._users is None:
            return ours
        front = (await self._users.visible() or {}).get("target")
        return ours + [
            TabInfo(f"u{n}", tab["url"], clean(tab["title"]), tab["targetId"] == front, ours=False)
            for n, tab in enumerate(await self._users.all(), 1)
        ]

    async def visible_context(self) -> PageContext | None:
        """Give the context of the tab that the person sees; None when none answers.

        In a browser of our own that is the tab opened last.
        """
        if self._users is None:
            return await self._tabs[-1].context() if self._tabs else None
        raw = await self._users.visible()
        return context_of(raw) if raw else None

    async def _title(self, tab: Tab) -> str:
        try:
            async with within(TAB_SECONDS, "ask for a title"):
                return clean(await tab.page.title())
        except BrowserError:
            return tab.title

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

    async def _close_tabs(self) -> None:
        await asyncio.gather(*(self.close(tab) for tab in list(self._tabs)))

    async def _end(self) -> None:
        await self._close_tabs()
        try:
            async with within(CLOSE_SECONDS, "close the browser"):
                await self._running.context.close()
                if self._running.browser:
                    await self._running.browser.close()
        except BrowserError:
            _kill(self._running.pid)


def _kill(pid: int | None) -> None:
    if pid is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
