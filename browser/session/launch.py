"""Launches our own browsers: fast, quiet on the network, shared by the runs of an event loop.

All files of a process (profile, sockets, incoming downloads) are in one scratch folder, which is
removed when the browser has ended. If our process is killed, the folder remains without a lock, and
the next start removes it; a locked folder is in use.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from weakref import WeakKeyDictionary

from filelock import FileLock, Timeout
from platformdirs import user_cache_path
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from browser.errors import BrowserError, LaunchFailed
from browser.net.egress import CHROMIUM_FEATURES_OFF, CHROMIUM_FLAGS
from browser.page import injected
from browser.page.waiting import first_line, within
from browser.session.chrome import find_chrome, uses_sandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import (
        BrowserContext,
        CDPSession,
        Playwright,
        ProxySettings,
        ViewportSize,
    )

    from browser.session.relay import UsersTabs

StorageState = dict[str, Any]
"""A browser's cookies and storage, in Playwright's form."""

START_SECONDS = 20.0
CLOSE_SECONDS = 2.0  # for closing a context, and for a killed browser to end
RECORDED_CLOSE_SECONDS = 30.0  # closing writes the video or request log
STOP_SECONDS = 10.0
"""How long to wait for the driver to stop, which takes 0.1 s, or several seconds on a busy machine.
After this time, only its input is closed, and the driver ends when it notices."""
CONTEXT_SECONDS = 10.0  # a context takes 50 ms, or longer if twenty runs share two CPUs
MAX_RUNS_AT_ONCE = 20
"""Maximum number of concurrent runs in one browser process. Further runs get a second process, so
that a crash interrupts only a limited number of runs."""
MAX_RUNS_PER_PROCESS = 200
"""After this many runs, a browser process is replaced: each run leaves some memory in use."""
MAX_IDLE_SECONDS = 60.0
"""How long an idle browser waits for the next run; it uses 150 MB."""
DUMMY_PROXY = "http://127.0.0.1:9"
"""The address of a proxy that does not exist: nothing listens on the discard port."""
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}
INCOMING_FOLDER = "arriving"
"""The scratch subfolder for downloads until they are saved or their context is closed."""
QUIET_FLAGS = (
    # No requests to Google: no updates, models, lists, statistics or sign-in.
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--no-pings",
    "--safebrowsing-disable-auto-update",
    "--disable-gpu",  # without a GPU, Chromium would search for one at every start
)
PLAYWRIGHT_FEATURES_OFF = (
    # The features that Playwright 1.65 turns off (chromiumSwitches); our flag replaces
    # Playwright's, so it must repeat them.
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"),
    *("TcpPortRandomizationWin", "AimEnabled", "PreconnectToSearch", "msForceBrowserSignIn"),
    *("msEdgeUpdateLaunchServicesPreferredVersion", "Translate"),
)

WINDOW_FEATURES_OFF = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup")
"""Features that load two of Chromium's own pages in every window, for the suggestions below the
address bar; pages cannot detect them. They take .8 s of CPU time per run (Chromium 156)."""

_ENVIRONMENT_LOCK = threading.Lock()
"""Held while the process's environment is changed for a browser that is starting."""
_LOCK_POLL_SECONDS = 0.02
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_MAX_TEMP_PATH_CHARS = 40
"""Maximum length of a temporary folder's path with which Chromium can create its socket: Linux
allows 107, and our folder name with `/org.chromium.Chromium.123456/SingletonSocket` takes 68."""


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """How to start a browser, and restart it after a crash."""

    headless: bool = True
    proxy: str | None = None
    storage_state: str | os.PathLike[str] | StorageState | None = None
    record: tuple[Path, ...] = ()


@dataclass(slots=True)
class RunningBrowser:
    """A running browser.

    A launched browser has a `process`; an attached one has `user_tabs`, the user's own tabs.
    """

    context: BrowserContext
    process: BrowserProcess | None = None
    user_tabs: UsersTabs | None = None

    async def alive(self, seconds: float) -> bool:
        """Whether the browser process (not a page) answers within `seconds`."""
        try:
            async with within(seconds, "ask the browser"):
                if self.process:
                    await self.process.control.send("Browser.getVersion")
                elif self.user_tabs:
                    await self.user_tabs.all()
        except BrowserError:
            return False
        return True

    def give_up(self) -> None:
        """Stop using a browser that does not answer; kill it if no other run uses it."""
        if self.process:
            self.process.retired = True
            if self.process.leases <= 1:
                self.process.kill()


@dataclass(slots=True)
class BrowserProcess:
    """One of our browser processes with its driver; `control` is a DevTools session with it.

    `kind` says whether it is headless and whether it uses a proxy. `leases` is the number of runs
    that use it now, `served` the number of all its runs. A `retired` process gets no further runs.
    """

    browser: PlaywrightBrowser
    control: CDPSession
    pid: int | None
    kind: tuple[bool, bool]
    stack: AsyncExitStack
    leases: int = 0
    served: int = 0
    retired: bool = False

    @property
    def is_usable(self) -> bool:
        """Whether the process may take another run."""
        return not self.retired and self.browser.is_connected()

    def kill(self) -> None:
        """Kill the process."""
        if self.pid is not None:
            with suppress(OSError):  # it has ended already; Windows has no specific error for this
                os.kill(self.pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    async def new_context(
        self, options: LaunchOptions, recording: dict[str, Any]
    ) -> BrowserContext:
        """Create a context with its own cookies, storage, cache and proxy, and with our script."""
        given: Any = options.storage_state or None
        state: Any = given if given is None or isinstance(given, dict) else Path(given)
        proxy = proxy_settings(options.proxy)
        async with within(CONTEXT_SECONDS, "start a browser context"):
            context = await self.browser.new_context(
                viewport=VIEWPORT, storage_state=state, proxy=proxy, **recording
            )
            await context.add_init_script(injected.SOURCE)
        return context


class Processes:
    """An event loop's browser processes, shared by its runs; each run has its own context.

    A process is started when a run needs one. It ends with its last run or, inside `keep_browsers`,
    when it has been idle for too long.
    """

    def __init__(self) -> None:
        self.keepers = 0
        self._running: list[BrowserProcess] = []
        # Tasks that end processes that were idle for too long.
        self._ending: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def launched(self, options: LaunchOptions) -> AsyncIterator[RunningBrowser]:
        """Create a context in a running or new browser; it is closed when the block ends.

        Raises BrowserMissing or LaunchFailed.
        """
        with _recording_settings(options.record) as recording:
            process, context = await self._new_context(options, recording)
            try:
                yield RunningBrowser(context, process)
            finally:
                seconds = RECORDED_CLOSE_SECONDS if recording else CLOSE_SECONDS
                try:
                    async with within(seconds, "close the browser context"):
                        await context.close()
                except BrowserError:
                    process.retired = True
                await self._return_process(process)

    async def close_idle(self) -> None:
        """End the processes without a run, and wait for those already ending."""
        for process in [process for process in self._running if not process.leases]:
            self._running.remove(process)
            await process.stack.aclose()
        await asyncio.gather(*self._ending)

    async def _new_context(
        self, options: LaunchOptions, recording: dict[str, Any]
    ) -> tuple[BrowserProcess, BrowserContext]:
        process = await self._lease_process(options)
        try:
            return process, await process.new_context(options, recording)
        except BrowserError:
            # The process has crashed or hangs, but this was not noticed before: use a new one.
            is_new = process.served == 1
            process.retired = True
            await self._return_process(process)
            if is_new:
                raise
        except BaseException:
            await self._return_process(process)
            raise
        return await self._new_context(options, recording)

    async def _lease_process(self, options: LaunchOptions) -> BrowserProcess:
        kind = options.headless, options.proxy is not None
        async with self._lock:
            for process in self._running:
                if (
                    process.is_usable
                    and process.kind == kind
                    and process.leases < MAX_RUNS_AT_ONCE
                    and process.served < MAX_RUNS_PER_PROCESS
                ):
                    break
            else:
                process = await _start(kind)
                self._running.append(process)
            process.leases += 1
            process.served += 1
        return process

    async def _return_process(self, process: BrowserProcess) -> None:
        process.leases -= 1
        if process.leases or process not in self._running:
            return
        if self.keepers and process.is_usable and process.served < MAX_RUNS_PER_PROCESS:
            loop = asyncio.get_running_loop()
            loop.call_later(MAX_IDLE_SECONDS, self._end_idle, process, process.served)
            return
        self._running.remove(process)
        await process.stack.aclose()

    def _end_idle(self, process: BrowserProcess, served: int) -> None:
        """End a process that has had no run in the meantime."""
        if process in self._running and not process.leases and process.served == served:
            self._running.remove(process)
            ending = asyncio.create_task(process.stack.aclose())
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)


_PROCESSES: WeakKeyDictionary[asyncio.AbstractEventLoop, Processes] = WeakKeyDictionary()
"""Keyed by event loop, because Playwright's objects belong to one."""


def processes() -> Processes:
    """Return the browser processes of this event loop."""
    return _PROCESSES.setdefault(asyncio.get_running_loop(), Processes())


@asynccontextmanager
async def keep_browsers() -> AsyncIterator[None]:
    """Keep browsers alive between this event loop's runs, until they are idle for too long."""
    shared = processes()
    shared.keepers += 1
    try:
        yield
    finally:
        shared.keepers -= 1
        if not shared.keepers:
            await shared.close_idle()


async def _start(kind: tuple[bool, bool]) -> BrowserProcess:
    """Start a browser process; raises BrowserMissing or LaunchFailed."""
    headless, proxied = kind
    executable = find_chrome()
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(scratch())
        async with _temporary_files_in(folder):
            playwright = await stack.enter_async_context(driver())
        try:
            browser = await playwright.chromium.launch(
                executable_path=executable,
                downloads_path=folder / INCOMING_FOLDER,
                headless=headless,
                args=launch_flags(),
                # Each context has its own proxy; requests from outside a context must fail.
                proxy=proxy_settings(DUMMY_PROXY if proxied else None),
                chromium_sandbox=uses_sandbox(),
                timeout=START_SECONDS * 1000,
                handle_sigint=False,  # the run handles Ctrl-C
            )
            control = await browser.new_browser_cdp_session()
            infos = (await control.send("SystemInfo.getProcessInfo"))["processInfo"]
        except PlaywrightError as error:
            if not headless and sys.platform == "linux" and not any(map(os.getenv, _DISPLAYS)):
                message = "--headed needs a display, but there is none: omit it or use xvfb-run"
                raise LaunchFailed(message) from error
            raise LaunchFailed(f"{executable} did not start: {_reason(error)}") from error
        # A frozen browser does not answer commands; it can only be killed by its process id.
        pid = next((int(info["id"]) for info in infos if info["type"] == "browser"), None)
        process = BrowserProcess(browser, control, pid, kind, AsyncExitStack())
        stack.push_async_callback(_close_browser, process)
        process.stack = stack.pop_all()
        return process


@asynccontextmanager
async def driver() -> AsyncIterator[Playwright]:
    """Run Playwright's driver; it is also stopped if the task is cancelled while it starts.

    Node keeps the compiled driver in the user's cache, which halves the time of later starts.
    """
    os.environ.setdefault("NODE_COMPILE_CACHE", str(user_cache_path("urchin-research") / "node"))
    starting = asyncio.ensure_future(async_playwright().start())
    try:
        playwright = await asyncio.shield(starting)
    except asyncio.CancelledError:
        await _stop(await starting)
        raise
    try:
        yield playwright
    finally:
        await _stop(playwright)


async def _stop(playwright: Playwright) -> None:
    with suppress(BrowserError):
        async with within(STOP_SECONDS, "stop Playwright"):
            await playwright.stop()


def _reason(error: PlaywrightError) -> str:
    """Return the error that the browser printed or, if there is none, Playwright's message."""
    for text in error.message.splitlines():
        if "ERROR:" in text or "error while loading" in text or "Failed to" in text:
            return text.strip()[:300]
    return first_line(error)[:300]


async def _close_browser(process: BrowserProcess) -> None:
    """Kill the browser and wait until it has ended, which is faster than closing it.

    Nothing is lost: recordings are written when a context is closed, and the profile is removed.
    """
    if process.browser.is_connected():  # otherwise it has ended, and its number may be another's
        process.kill()
    with suppress(BrowserError):
        async with within(CLOSE_SECONDS, "close the browser"):
            await process.browser.close()


@contextmanager
def _recording_settings(files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Yield the settings of a recorded context; its videos are moved after it is closed.

    They are moved to FILE.webm, FILE-2.webm, …, in the order of the tabs.
    """
    has_video = any(file.suffix == ".webm" for file in files)
    with scratch() if has_video else nullcontext() as videos:
        settings: dict[str, Any] = {}
        for file in files:
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".har":
                file.touch(mode=0o600)  # it will contain cookies and sent data
                settings["record_har_path"] = file
            else:
                settings |= {"record_video_dir": videos, "record_video_size": VIEWPORT}
        yield settings
        if videos is None:
            return
        made = sorted(videos.glob("*.webm"), key=lambda video: video.stat().st_mtime)
        for target in (file for file in files if file.suffix == ".webm"):
            for number, video in enumerate(made, 1):
                name = target if number == 1 else target.with_stem(f"{target.stem}-{number}")
                shutil.move(video, name)


def launch_flags() -> list[str]:
    """Return all command-line flags; Chromium uses only the last `--disable-features`."""
    features_off = (*CHROMIUM_FEATURES_OFF, *PLAYWRIGHT_FEATURES_OFF, *WINDOW_FEATURES_OFF)
    return [*CHROMIUM_FLAGS, *QUIET_FLAGS, f"--disable-features={','.join(features_off)}"]


def proxy_settings(url: str | None) -> ProxySettings | None:
    """Convert a proxy URL with credentials to Playwright's format; loopback is not exempt."""
    if not url:
        return None
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    settings: ProxySettings = {
        "server": f"{parts.scheme}://{parts.hostname}{port}",
        "bypass": "<-loopback>",
    }
    if parts.username:
        settings["username"] = unquote(parts.username)
        settings["password"] = unquote(parts.password or "")
    return settings


PREFIX = "urchin-browser-"
LOCK_FILE_NAME = "in-use"
MIN_SCRATCH_AGE = 60.0
"""In seconds; a folder younger than this may be about to be locked."""


@contextmanager
def scratch() -> Iterator[Path]:
    """Create a locked scratch folder that is removed when the block ends."""
    parent = Path(tempfile.gettempdir())
    if sys.platform == "linux" and len(str(parent)) >= _MAX_TEMP_PATH_CHARS:
        parent = Path("/tmp")  # noqa: S108 - a new folder is created in it
    _remove_abandoned(parent)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    lock = FileLock(folder / LOCK_FILE_NAME, thread_local=False)
    lock.acquire()
    try:
        yield folder
    finally:
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    """Remove scratch folders that this user's killed processes left behind."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError, Timeout):
            status = folder.lstat()
            mine = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
            old = time.time() - status.st_mtime > MIN_SCRATCH_AGE
            if mine and old and folder.is_dir() and not folder.is_symlink():
                with FileLock(folder / LOCK_FILE_NAME, blocking=False):
                    pass  # no process has the lock
                shutil.rmtree(folder)


@asynccontextmanager
async def _temporary_files_in(folder: Path) -> AsyncIterator[None]:
    """Set TMPDIR for processes started in this block, without affecting our own temporary files.

    This is done only on Linux: elsewhere, the folder would make socket paths too long.
    """
    if sys.platform != "linux":
        yield
        return
    tempfile.gettempdir()  # caches the result, so that our own temporary folder does not change
    # The environment is shared by the entire process, so browsers are started one at a time,
    # including those of other threads, which have their own event loops.
    while not _ENVIRONMENT_LOCK.acquire(blocking=False):  # noqa: ASYNC110 - shared by event loops
        await asyncio.sleep(_LOCK_POLL_SECONDS)
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before
        _ENVIRONMENT_LOCK.release()
