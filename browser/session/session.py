"""The session: one browser, launched or attached to, and the tabs that are ours in it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.async_api import async_playwright

from browser.errors import AttachFailed, BrowserError, BrowserGone
from browser.net.url import origin
from browser.page import injected
from browser.page.content import context_of, with_session
from browser.page.downloads import BYTES_LIMIT, Downloads
from browser.page.driver import OPEN_SECONDS
from browser.page.tab import Tab
from browser.page.waiting import answer_of, in_background, within
from browser.session.launch import ARRIVING, LaunchOptions, Running, launched, scratch
from browser.session.relay import Relay, UsersTabs
from browser.text.words import clean
from browser.types import TabInfo

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from playwright.async_api import Page

    from browser.page.content import Items
    from browser.page.driver import Judge
    from browser.types import PageContext

TABS_AT_MOST = 5  # with that many, further ones that pages open by themselves are closed
TITLE_SECONDS = 1.0
ALIVE_SECONDS = 1.0  # the answer takes 1 ms; a browser that needs longer is stopped or gone
NEW_TAB_SECONDS = 5.0
CLOSE_SECONDS = 1.5
CONNECT_SECONDS = 10.0
LEAVE_SECONDS = 2.0


class Browser:
    """A browser and our tabs in it. Made by `launch` or `attach`, both async context managers."""

    def __init__(
        self,
        begin: Callable[[], AbstractAsyncContextManager[Running]],
        downloads: Downloads,
        judge: Judge | None = None,
    ) -> None:
        self._begin = begin
        self._downloads = downloads
        self._judge = judge
        self._stack = AsyncExitStack()
        self._running: Running | None = None
        self._renewing = asyncio.Lock()
        self._tabs: list[Tab] = []
        self._count = 0

    @classmethod
    @asynccontextmanager
    async def launch(
        cls,
        *,
        headless: bool = True,
        proxy: str | None = None,
        storage_state: str | os.PathLike[str] | None = None,
        downloads_dir: str | os.PathLike[str] | None = None,
        downloads_quota: int = BYTES_LIMIT,
    ) -> AsyncIterator[Browser]:
        """Start a browser of our own; `proxy` is a URL, with credentials where it needs them.

        Downloads go to `downloads_dir`, up to `downloads_quota` bytes in all.

        Raises BrowserMissing or LaunchFailed.
        """
        with scratch() as folder:
            target = Path(downloads_dir) if downloads_dir else None
            downloads = Downloads(target, folder / ARRIVING, downloads_quota)
            options = LaunchOptions(folder, headless, proxy, storage_state)
            browser = cls(lambda: launched(options), downloads)
            async with browser._started():
                yield browser

    @classmethod
    @asynccontextmanager
    async def attach(cls, url: str, judge: Judge | None = None) -> AsyncIterator[Browser]:
        """Attach to a Chrome that is open: a CDP address, `chrome` or `msedge`.

        `judge` refuses addresses that pages lead to. Raises AttachFailed. Leaving closes our own
        tabs, and nothing else.
        """
        with scratch() as folder:
            downloads = Downloads(None, folder / ARRIVING)
            browser = cls(lambda: _attached(url), downloads, judge)
            async with browser._started():
                yield browser

    @asynccontextmanager
    async def _started(self) -> AsyncIterator[None]:
        self._running = await self._stack.enter_async_context(self._begin())
        try:
            yield
        finally:
            await asyncio.gather(*(self.close(tab) for tab in list(self._tabs)))
            await self._stack.aclose()
            self._downloads.clear()

    @property
    def _users(self) -> UsersTabs | None:
        """The person's own tabs, of an attached browser."""
        return self._running.users if self._running else None

    async def open(self, url: str, *, deadline: float = OPEN_SECONDS, session: Items = ()) -> Tab:
        """Open an address in a new tab of ours; `deadline` in seconds.

        Its site finds `session` in its session storage, as another tab of it had it. A browser that
        was killed, froze or lost its connection is replaced first. Raises DeadlineExceeded,
        ConnectFailed, PageCrashed, BrowserGone.
        """
        running = self._running
        if not (running and await running.alive(ALIVE_SECONDS)):
            await self._renew(running)
        async with within(NEW_TAB_SECONDS, "open a tab"):
            page = await self._context().new_page()
            if self._users:  # a context of ours has the script already
                await page.add_init_script(injected.SOURCE)
        tab = self._adopt(page)
        try:
            async with with_session(page, origin(url), session):
                await tab.goto(url, deadline)
        except BrowserError:
            await self.close(tab)
            raise
        return tab

    def tab(self, tab_id: str) -> Tab | None:
        """Find a tab of ours by its id, such as one that a page opened."""
        return next((tab for tab in self._tabs if tab.id == tab_id), None)

    async def responds(self, tab: Tab) -> bool:
        """Whether a tab of ours does: not one that crashed, hangs or went with its browser."""
        running, events = self._running, tab.events
        if tab not in self._tabs or events.crashed or events.closed:
            return False
        if running is None or not await running.alive(ALIVE_SECONDS):
            return False
        # A page in a script without end answers nothing.
        return await answer_of(tab.page.evaluate("1"), ALIVE_SECONDS) == 1

    async def close(self, tab: Tab) -> None:
        """Close a tab of ours; one that does not answer is forgotten."""
        if tab in self._tabs:
            self._tabs.remove(tab)
        await answer_of(tab.page.close(), CLOSE_SECONDS)

    async def tabs(self) -> list[TabInfo]:
        """List our tabs, then the user's."""
        self._forget_closed()
        ours = []
        for tab in self._tabs:
            title = await answer_of(tab.page.title(), TITLE_SECONDS)
            title = tab.title if title is None else clean(title)
            ours.append(TabInfo(tab.id, tab.url, title, active=tab is self._tabs[-1]))
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
        if raw and (behind := await self._users.text_behind(raw["target"])):
            raw["visible_text"] += "\n" + behind
        return context_of(raw) if raw else None

    async def visible_html(self, url: str) -> str:
        """Give the DOM of the tab that the person sees, if it still shows `url`; else ''."""
        if self._users is None:
            return await self._tabs[-1].html() if self._tabs and self._tabs[-1].url == url else ""
        raw = await self._users.visible()
        return await self._users.html(raw["target"]) if raw and raw["url"] == url else ""

    def _context(self) -> Any:
        if self._running is None:
            raise BrowserGone("the browser is gone")
        return self._running.context

    def _adopt(self, page: Page) -> Tab:
        self._count += 1
        tab = Tab(page, f"t{self._count}", self._downloads, self._on_popup, self._judge)
        self._tabs.append(tab)
        return tab

    def _on_popup(self, page: Page) -> str | None:
        """Take a tab that one of ours opened; None where there are too many, and it is closed."""
        self._forget_closed()
        if len(self._tabs) < TABS_AT_MOST:
            return self._adopt(page).id
        in_background(answer_of(page.close(), NEW_TAB_SECONDS))
        return None

    def _forget_closed(self) -> None:
        self._tabs = [tab for tab in self._tabs if not tab.events.closed]

    async def _renew(self, lost: Running | None) -> None:
        """Replace a browser that is gone or frozen; of several that notice, the first does it."""
        async with self._renewing:
            if self._running is not lost:
                return
            if lost:
                lost.kill()
            self._tabs.clear()
            self._running = None
            with suppress(BrowserError):  # it is gone: it need not let itself be closed
                await self._stack.aclose()
            self._running = await self._stack.enter_async_context(self._begin())


@asynccontextmanager
async def _attached(url: str) -> AsyncIterator[Running]:
    """Connect to `http://127.0.0.1:9222`, a `ws://` address, or `chrome` / `msedge`.

    Raises AttachFailed, at once where nothing listens. Leaving drops the connection alone.
    """
    async with Relay.connect(url) as relay, async_playwright() as playwright:
        try:
            async with within(CONNECT_SECONDS, f"attach to {url}"):
                browser = await playwright.chromium.connect_over_cdp(
                    relay.endpoint, no_defaults=True, timeout=CONNECT_SECONDS * 1000
                )
        except BrowserError as error:
            raise AttachFailed(f"no Chrome answers at {url} ({error})") from error
        try:
            yield Running(browser.contexts[0], users=UsersTabs(relay))
        finally:
            with suppress(BrowserError):
                async with within(LEAVE_SECONDS, "leave the browser"):
                    await browser.close()
