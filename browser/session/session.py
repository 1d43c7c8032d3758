"""A session: a browser, either launched or attached to, and our tabs in it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from browser.errors import AttachFailed, BrowserError, BrowserGone
from browser.net.url import origin
from browser.page import injected
from browser.page.content import page_context, restored_session_storage
from browser.page.downloads import MAX_BYTES_PER_SESSION, Downloads
from browser.page.driver import OPEN_SECONDS, Logins
from browser.page.tab import Tab
from browser.page.waiting import answer_or_none, run_in_background, within
from browser.session.launch import LaunchOptions, RunningBrowser, driver, processes
from browser.session.relay import Relay, UsersTabs
from browser.text.words import clean
from browser.types import TabInfo

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence
    from contextlib import AbstractAsyncContextManager

    from playwright.async_api import Page

    from browser.page.content import StorageRows
    from browser.page.driver import AddressCheck
    from browser.session.launch import StorageState
    from browser.types import PageContext

MAX_TABS = 5  # any further tabs that pages open are closed
TITLE_SECONDS = 1.0  # a busy tab does not answer
ALIVE_SECONDS = 1.0  # an answer takes 1 ms; a browser that takes longer is frozen or has ended
NEW_TAB_SECONDS = 5.0  # for opening a tab; a browser that takes longer counts as frozen
CLOSE_SECONDS = 1.5  # for closing a tab, which its page may delay
SAVE_STATE_TIMEOUT_S = 10.0  # for reading the cookies and storage of all sites
CONNECT_SECONDS = 10.0  # for attaching to a browser, which reports all of its tabs first
LEAVE_SECONDS = 2.0  # for detaching from a browser, which may no longer answer


class Browser:
    """A browser and our tabs in it, created by the context managers `launch` and `attach`."""

    def __init__(
        self,
        begin: Callable[[], AbstractAsyncContextManager[RunningBrowser]],
        downloads: Downloads,
        check_allowed: AddressCheck | None = None,
        logins: Logins | None = None,
    ) -> None:
        self.logins = logins or Logins()
        self._start = begin
        self._downloads = downloads
        self._check_allowed = check_allowed
        self._stack = AsyncExitStack()
        self._running: RunningBrowser | None = None
        self._restarting = asyncio.Lock()
        self._tabs: list[Tab] = []
        self._count = 0

    @classmethod
    @asynccontextmanager
    async def launch(
        cls,
        *,
        headless: bool = True,
        proxy: str | None = None,
        storage_state: str | os.PathLike[str] | StorageState | None = None,
        downloads_dir: str | os.PathLike[str] | None = None,
        downloads_quota: int = MAX_BYTES_PER_SESSION,
        logged_in: Iterable[str] = (),
        record: Sequence[Path] = (),
    ) -> AsyncIterator[Browser]:
        """Open our own browser; `proxy` is a URL, with credentials if needed.

        The browser has its own context (cookies, storage, downloads) in a process that all runs of
        this event loop share. `record` lists files that are written when it is closed: .webm for a
        video of each tab, .har for the requests and responses, including cookies. `logged_in` lists
        the sites for which `storage_state` contains logins; if the list is empty, any site may be
        among them. Downloads are saved in `downloads_dir`, up to `downloads_quota` bytes in total.
        Raises BrowserMissing, LaunchFailed.
        """
        downloads = Downloads(Path(downloads_dir) if downloads_dir else None, downloads_quota)
        options = LaunchOptions(headless, proxy, storage_state, tuple(record))
        sites = set(logged_in)
        logins = Logins(sites, anywhere=storage_state is not None and not sites)
        browser = cls(lambda: processes().launched(options), downloads, logins=logins)
        async with browser._lifespan():
            yield browser

    @classmethod
    @asynccontextmanager
    async def attach(
        cls, url: str, check_allowed: AddressCheck | None = None
    ) -> AsyncIterator[Browser]:
        """Attach to a running Chrome: a CDP address, `chrome` or `msedge`.

        `check_allowed` raises Refused for addresses that a page must not open. When the block ends,
        only our own tabs are closed. Raises AttachFailed.
        """
        logins = Logins(anywhere=True)
        browser = cls(lambda: _attach(url), Downloads(None), check_allowed, logins)
        async with browser._lifespan():
            yield browser

    @asynccontextmanager
    async def _lifespan(self) -> AsyncIterator[None]:
        self._running = await self._stack.enter_async_context(self._start())
        try:
            yield
        finally:
            await asyncio.gather(*(self.close(tab) for tab in list(self._tabs)))
            await self._stack.aclose()

    @property
    def _user_tabs(self) -> UsersTabs | None:
        """The user's tabs, if the browser is attached."""
        return self._running.user_tabs if self._running else None

    async def open(
        self, url: str, *, deadline: float = OPEN_SECONDS, session: StorageRows = ()
    ) -> Tab:
        """Open an address in a new tab; `deadline` is in seconds.

        `session` is restored as the site's sessionStorage. If the browser was killed, is frozen or
        has lost its connection, it is restarted first. Raises DeadlineExceeded, ConnectFailed,
        PageCrashed, BrowserGone.
        """
        running = self._running
        if not (running and await running.alive(ALIVE_SECONDS)):
            await self._restart(running)
        async with within(NEW_TAB_SECONDS, "open a tab"):
            page = await self._context().new_page()
            if self._user_tabs:  # attached: the user's context does not have our script
                await page.add_init_script(injected.SOURCE)
        tab = self._adopt(page)
        try:
            async with restored_session_storage(page, origin(url), session):
                await tab.goto(url, deadline)
        except BrowserError:
            await self.close(tab)
            raise
        return tab

    def tab(self, tab_id: str) -> Tab | None:
        """Find one of our tabs by its id, for example one that a page opened."""
        return next((tab for tab in self._tabs if tab.id == tab_id), None)

    async def responds(self, tab: Tab) -> bool:
        """Whether one of our tabs answers: it has not crashed or hung, and its browser is alive."""
        if tab not in self._tabs or tab.events.crashed or tab.events.closed:
            return False
        # Neither a page whose script never ends nor a frozen browser answers.
        return await answer_or_none(tab.page.evaluate("1"), ALIVE_SECONDS) == 1

    async def close(self, tab: Tab) -> None:
        """Close one of our tabs; a tab that does not answer is merely forgotten."""
        if tab in self._tabs:
            self._tabs.remove(tab)
        await answer_or_none(tab.page.close(), CLOSE_SECONDS)

    async def tabs(self) -> list[TabInfo]:
        """List our tabs, then the user's."""
        self._forget_closed()
        ours = []
        for tab in self._tabs:
            title = await answer_or_none(tab.page.title(), TITLE_SECONDS)
            title = tab.title if title is None else clean(title)
            ours.append(TabInfo(tab.id, tab.url, title, active=tab is self._tabs[-1]))
        if self._user_tabs is None:
            return ours
        visible = await self._user_tabs.visible() or {}
        for number, user_tab in enumerate(await self._user_tabs.all(), 1):
            active = user_tab["targetId"] == visible.get("target")
            title = clean(user_tab["title"])
            ours.append(TabInfo(f"u{number}", user_tab["url"], title, active, ours=False))
        return ours

    async def storage_state(self) -> StorageState:
        """Return all sites' cookies and storage, including databases; both are secrets."""
        async with within(SAVE_STATE_TIMEOUT_S, "read the browser's storage"):
            return dict(await self._context().storage_state(indexed_db=True))

    async def visible_page(self) -> tuple[PageContext, str] | None:
        """Return the context and DOM of the tab that the user sees; None if no tab answers.

        In our own browser, this is the tab that was opened last.
        """
        if self._user_tabs is None:
            last = self._tabs[-1] if self._tabs else None
            return (await last.context(), await last.html()) if last else None
        raw = await self._user_tabs.visible()
        if raw is None:
            return None
        if closed_text := await self._user_tabs.closed_text(raw["target"]):
            raw["visible_text"] += "\n" + closed_text
        return page_context(raw), await self._user_tabs.html(raw["target"])

    @property
    def silent_tabs(self) -> int:
        """How many of the user's tabs did not answer during the search for the visible one."""
        return self._user_tabs.unresponsive_tabs if self._user_tabs else 0

    def _context(self) -> Any:
        if self._running is None:
            raise BrowserGone("the browser is gone")
        return self._running.context

    def _adopt(self, page: Page) -> Tab:
        self._count += 1
        name, check = f"t{self._count}", self._check_allowed
        tab = Tab(page, name, self._downloads, self._on_popup, check, self.logins)
        self._tabs.append(tab)
        return tab

    def _on_popup(self, page: Page) -> str | None:
        """Adopt a tab that one of our tabs opened, and return its id.

        If there are too many, it is closed and None is returned.
        """
        self._forget_closed()
        if len(self._tabs) < MAX_TABS:
            return self._adopt(page).id
        run_in_background(answer_or_none(page.close(), NEW_TAB_SECONDS))
        return None

    def _forget_closed(self) -> None:
        self._tabs = [tab for tab in self._tabs if not tab.events.closed]

    async def _restart(self, lost: RunningBrowser | None) -> None:
        """Replace a browser that has ended or is frozen; concurrent callers do this only once."""
        async with self._restarting:
            if self._running is not lost:
                return
            if lost:
                lost.give_up()
            self._tabs.clear()
            self._running = None
            with suppress(BrowserError):  # closing a dead browser may fail
                await self._stack.aclose()
            self._running = await self._stack.enter_async_context(self._start())


@asynccontextmanager
async def _attach(url: str) -> AsyncIterator[RunningBrowser]:
    """Connect to `http://127.0.0.1:9222`, a `ws://` address, or `chrome` / `msedge`.

    Raises AttachFailed, immediately if nothing is listening. When the block ends, only the
    connection is closed.
    """
    async with Relay.connect(url) as relay, driver() as playwright:
        try:
            async with within(CONNECT_SECONDS, f"attach to {url}"):
                browser = await playwright.chromium.connect_over_cdp(
                    relay.endpoint, no_defaults=True, timeout=CONNECT_SECONDS * 1000
                )
        except BrowserError as error:
            raise AttachFailed(f"no Chrome responds at {url} ({error})") from error
        try:
            yield RunningBrowser(browser.contexts[0], user_tabs=UsersTabs(relay))
        finally:
            with suppress(BrowserError):
                async with within(LEAVE_SECONDS, "detach from the browser"):
                    await browser.close()
