"""The session: one browser, launched or attached to, and the tabs that are ours in it."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
from playwright.async_api import async_playwright

from browser.errors import AttachFailed, BrowserError, BrowserGone
from browser.net.url import origin
from browser.page import injected
from browser.page.content import context_of, with_session
from browser.page.driver import OPEN_SECONDS
from browser.page.page_events import BYTES_LIMIT, Downloads
from browser.page.tab import Tab
from browser.page.waiting import within
from browser.session.launch import LaunchOptions, Running, kill, launched, scratch
from browser.session.relay import Relay, UsersTabs
from browser.text.words import clean
from browser.types import TabInfo

if TYPE_CHECKING:
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
ARRIVING = "arriving"
"""Where in the browser's own folder downloads are until they are kept."""


class Browser:
    """A browser under our hand. Made by `launch` or `attach`, both async context managers."""

    def __init__(
        self,
        begin: Callable[[], AbstractAsyncContextManager[Running]],
        downloads: Downloads,
        judge: Judge | None = None,
    ) -> None:
        self._judge = judge
        self._begin = begin
        self._stack = AsyncExitStack()
        self._running: Running | None = None
        self._downloads = downloads
        self._tabs: list[Tab] = []
        self._count = 0
        self._closing: set[asyncio.Task[None]] = set()
        self._renewing = asyncio.Lock()

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
        downloads_quota: int = BYTES_LIMIT,
    ) -> AsyncIterator[Browser]:
        """Start a browser of our own; `proxy` is a URL, with credentials where it needs them.

        Downloads go to `downloads_dir`, up to `downloads_quota` bytes in all.

        Raises BrowserMissing or LaunchFailed.
        """
        with scratch() as folder:
            target = Path(downloads_dir) if downloads_dir else None
            downloads = Downloads(target, folder / ARRIVING, downloads_quota)
            options = LaunchOptions(
                headless,
                executable,
                proxy,
                storage_state,
                user_data_dir,
                downloads.arriving,
                folder,
            )
            async with _running(cls(lambda: launched(options), downloads)) as browser:
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
            async with _running(cls(lambda: attach(url), downloads, judge)) as browser:
                yield browser

    @property
    def attached(self) -> bool:
        """Whether this is the user's own browser."""
        return self._running is not None and self._running.users is not None

    async def open(self, url: str, *, deadline: float = OPEN_SECONDS, session: Items = ()) -> Tab:
        """Open an address in a new tab of ours; `deadline` in seconds.

        Its site finds `session` in its session storage, as another tab of it had it. A browser that
        was killed, froze or lost its connection is replaced first. Raises DeadlineExceeded,
        ConnectFailed, PageCrashed, BrowserGone.
        """
        tab = await self._new_tab()
        try:
            async with with_session(tab.page, origin(url), session):
                await tab.goto(url, deadline)
        except BrowserError:
            await self.close(tab)
            raise
        return tab

    def tab(self, tab_id: str) -> Tab | None:
        """Find a tab of ours by its id, such as one that a page opened."""
        return next((tab for tab in self._tabs if tab.id == tab_id), None)

    async def answers(self, tab: Tab) -> bool:
        """Whether a tab of ours does: not one that crashed, hangs or went with its browser."""
        running = self._running
        lives = tab in self._tabs and running is not None and await running.alive(ALIVE_SECONDS)
        return lives and await tab.answers(ALIVE_SECONDS)

    async def close(self, tab: Tab) -> None:
        """Close a tab of ours; one that does not answer is forgotten."""
        if tab in self._tabs:
            self._tabs.remove(tab)
        with suppress(BrowserError):
            await tab.close()

    async def tabs(self) -> list[TabInfo]:
        """List our tabs, then the user's."""
        self._tabs = [tab for tab in self._tabs if not tab.events.closed]
        ours = [
            TabInfo(tab.id, tab.url, await self._title(tab), active=tab is self._tabs[-1])
            for tab in self._tabs
        ]
        users = self._running.users if self._running else None
        if users is None:
            return ours
        front = (await users.visible() or {}).get("target")
        return ours + [
            TabInfo(f"u{n}", tab["url"], clean(tab["title"]), tab["targetId"] == front, ours=False)
            for n, tab in enumerate(await users.all(), 1)
        ]

    async def visible_context(self) -> PageContext | None:
        """Give the context of the tab that the person sees; None when none answers.

        In a browser of our own that is the tab opened last.
        """
        users = self._running.users if self._running else None
        if users is None:
            return await self._tabs[-1].context() if self._tabs else None
        raw = await users.visible()
        if raw and (behind := await users.text_behind(raw["target"])):
            raw["visible_text"] += "\n" + behind
        return context_of(raw) if raw else None

    async def visible_html(self, url: str) -> str:
        """Give the DOM of the tab that the person sees, if it still shows `url`; else ''."""
        users = self._running.users if self._running else None
        if users is None:
            return await self._tabs[-1].html() if self._tabs and self._tabs[-1].url == url else ""
        raw = await users.visible()
        return await users.html(raw["target"]) if raw and raw["url"] == url else ""

    async def storage_state(self, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Give cookies and local storage, also written to `path`: they are secrets."""
        async with within(OPEN_SECONDS, "save the storage state"):
            state = await self._context().storage_state(path=str(path) if path else None)
        return dict(state)

    async def start(self) -> None:
        """Start or attach; `launch` and `attach` do it. Raises what they raise."""
        self._running = await self._stack.enter_async_context(self._begin())

    async def end(self) -> None:
        """Close our tabs, and the browser where it is ours."""
        await asyncio.gather(*(self.close(tab) for tab in list(self._tabs)))
        await self._stack.aclose()
        self._downloads.clear()

    def _context(self) -> Any:
        if self._running is None:
            raise BrowserGone("the browser is gone")
        return self._running.context

    async def _title(self, tab: Tab) -> str:
        try:
            async with within(TITLE_SECONDS, "ask for a title"):
                return clean(await tab.page.title())
        except BrowserError:
            return tab.title

    async def _new_tab(self) -> Tab:
        running = self._running
        if not (running and await running.alive(ALIVE_SECONDS)):
            await self._renew(running)
        return await self._page_of_ours()

    async def _page_of_ours(self) -> Tab:
        async with within(NEW_TAB_SECONDS, "open a tab"):
            page = await self._context().new_page()
            if self.attached:  # a context of ours has the script already
                await page.add_init_script(injected.SOURCE)
        return self._adopt(page)

    def _adopt(self, page: Page) -> Tab:
        self._count += 1
        tab = Tab(page, f"t{self._count}", self._downloads, self._popup)
        tab.judge = self._judge
        self._tabs.append(tab)
        return tab

    def _popup(self, page: Page) -> str | None:
        """Take a tab that one of ours opened; None where there are too many, and it is closed."""
        self._tabs = [tab for tab in self._tabs if not tab.events.closed]
        if len(self._tabs) < TABS_AT_MOST:
            return self._adopt(page).id
        task = asyncio.ensure_future(_close_quietly(page))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        return None

    async def _renew(self, lost: Running | None) -> None:
        """Replace a browser that is gone or frozen; of several that notice, the first does it."""
        async with self._renewing:
            if self._running is not lost:
                return
            if lost:
                kill(lost.pid)
            self._tabs.clear()
            self._running = None
            with suppress(BrowserError):
                await self._stack.aclose()
            await self.start()


@asynccontextmanager
async def _running(browser: Browser) -> AsyncIterator[Browser]:
    await browser.start()
    try:
        yield browser
    finally:
        await browser.end()


async def _close_quietly(page: Page) -> None:
    with suppress(BrowserError):
        async with within(NEW_TAB_SECONDS, "close a tab"):
            await page.close()


CONNECT_SECONDS = 10.0
LEAVE_SECONDS = 2.0


@asynccontextmanager
async def attach(url: str) -> AsyncIterator[Running]:
    """Connect to `http://127.0.0.1:9222`, a `ws://` address, or `chrome` / `msedge`.

    Raises AttachFailed, at once where nothing listens. Leaving drops the connection alone.
    """
    async with Relay.connect(await websocket_of(url)) as relay, async_playwright() as playwright:
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


PROBE_SECONDS = 3.0
_LINE_SUFFIX = {"": "", "beta": " Beta", "dev": " Dev", "canary": " Canary"}
_LINUX_LINE = {"": "", "beta": "-beta", "dev": "-unstable", "canary": "-canary"}


async def websocket_of(url: str) -> str:
    """Resolve `http://127.0.0.1:9222`, `ws://…`, a bare port, or `chrome` / `msedge`.

    Raises AttachFailed when nothing there speaks the DevTools protocol.
    """
    if url.startswith(("ws://", "wss://")):
        return url
    app, _, line = url.partition("-")
    if app in {"chrome", "msedge"} and line in _LINE_SUFFIX:
        return _from_port_file(user_data_dir(app, line))
    return await _from_http(f"http://127.0.0.1:{url}" if url.isdigit() else url)


def user_data_dir(app: str, line: str = "", platform: str = sys.platform) -> Path:
    """Find the profile folder that a person's own Chrome or Edge uses."""
    chrome = app == "chrome"
    if platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
        return base / (("Google/Chrome" if chrome else "Microsoft Edge") + _LINE_SUFFIX[line])
    if platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
        maker = "Google/Chrome" if chrome else "Microsoft/Edge"
        return base / f"{maker}{_LINE_SUFFIX[line].replace(' Canary', ' SxS')}" / "User Data"
    base = Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config"))
    return base / (("google-chrome" if chrome else "microsoft-edge") + _LINUX_LINE[line])


def _from_port_file(folder: Path) -> str:
    """Chrome 144 and newer write the port there once debugging is allowed."""
    try:
        port, path = (folder / "DevToolsActivePort").read_text("utf-8").split()[:2]
    except (OSError, ValueError) as error:
        raise AttachFailed(f"no Chrome allows debugging in {folder}") from error
    return f"ws://127.0.0.1:{port}{path}"


async def _from_http(url: str) -> str:
    address = url.rstrip("/") + "/json/version"
    try:
        async with httpx2.AsyncClient(timeout=PROBE_SECONDS, trust_env=False) as http:
            answer = (await http.get(address)).raise_for_status().json()
        return str(answer["webSocketDebuggerUrl"])
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError) as error:
        raise AttachFailed(f"no Chrome answers at {url}: {_why(error)}") from error


def _why(error: Exception) -> str:
    if isinstance(error, httpx2.ConnectError):
        return "nothing listens there"
    if isinstance(error, httpx2.TimeoutException):
        return f"no answer within {PROBE_SECONDS:g} s"
    return "what listens there is not a browser's debugging port"
