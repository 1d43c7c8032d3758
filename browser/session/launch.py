"""Starting a browser of our own: fast, quiet on the network, with a profile of its own.

All its files (profile, sockets, incoming downloads) are in one scratch folder, which is removed
when the browser has ended. If our process is killed, the folder stays behind without its lock, and
the next start removes it; a folder that is locked is in use.
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
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from filelock import FileLock, Timeout
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from browser.errors import BrowserError, LaunchFailed
from browser.net.egress import CHROMIUM_FEATURES_OFF, CHROMIUM_FLAGS
from browser.page import injected
from browser.page.waiting import first_line, within
from browser.session.chrome import find_chrome, sandboxed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from playwright.async_api import (
        BrowserContext,
        CDPSession,
        Playwright,
        ProxySettings,
        ViewportSize,
    )

    from browser.session.relay import UsersTabs


START_SECONDS = 20.0
CLOSE_SECONDS = 2.0  # a browser that has not closed by then is killed
STOP_SECONDS = 3.0
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}
ARRIVING = "arriving"
"""The folder in the scratch folder for downloads until they are saved."""
QUIET_FLAGS = (
    # No requests to Google: no updates, models, lists, statistics or sign-in.
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--no-pings",
    "--safebrowsing-disable-auto-update",
    "--disable-gpu",  # a machine without one looks for it at every start
)
PLAYWRIGHT_FEATURES_OFF = (
    # What Playwright 1.65 turns off (chromiumSwitches): our flag of the same name replaces its own.
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"),
    *("TcpPortRandomizationWin", "AimEnabled", "PreconnectToSearch", "msForceBrowserSignIn"),
    *("msEdgeUpdateLaunchServicesPreferredVersion", "Translate"),
)

_ENVIRONMENT = threading.Lock()
"""Held while the environment of the process is changed for one that starts."""
_LOOK_AGAIN_SECONDS = 0.02
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_LONGEST_TEMP_PATH = 40
"""Characters of a temporary folder in which Chromium can still make its socket: Linux allows 107,
and our folder's name with `/org.chromium.Chromium.123456/SingletonSocket` takes 68."""


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """How to start a browser, also after a crash; its files go to the folder `scratch`."""

    scratch: Path
    headless: bool = True
    proxy: str | None = None
    storage_state: str | os.PathLike[str] | None = None


@dataclass(slots=True)
class Running:
    """A running browser.

    A launched one has a `control` session of the browser process and its `pid`; an attached one has
    `users`, the person's own tabs.
    """

    context: BrowserContext
    control: CDPSession | None = None
    pid: int | None = None
    users: UsersTabs | None = None

    async def alive(self, seconds: float) -> bool:
        """Whether the browser process (not a page) answers within `seconds`."""
        try:
            async with within(seconds, "ask the browser"):
                if self.control:
                    await self.control.send("Browser.getVersion")
                elif self.users:
                    await self.users.all()
        except BrowserError:
            return False
        return True

    def kill(self) -> None:
        """Kill a browser of our own that does not answer."""
        if self.pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, getattr(signal, "SIGKILL", signal.SIGTERM))


@asynccontextmanager
async def launched(options: LaunchOptions) -> AsyncIterator[Running]:
    """Start a browser with our script in every document; leaving the block ends it.

    Raises BrowserMissing or LaunchFailed.
    """
    executable = find_chrome()
    manager = async_playwright()
    async with _temporary_files_in(options.scratch):
        playwright = await manager.start()
    try:
        running = await _start(playwright, executable, options)
        try:
            yield running
        finally:
            await _end(running)
    finally:
        with suppress(BrowserError):
            async with within(STOP_SECONDS, "stop Playwright"):
                await playwright.stop()


async def _start(playwright: Playwright, executable: Path, options: LaunchOptions) -> Running:
    state = Path(options.storage_state) if options.storage_state else None
    try:
        browser = await playwright.chromium.launch(
            executable_path=executable,
            downloads_path=options.scratch / ARRIVING,
            headless=options.headless,
            args=launch_flags(),
            proxy=proxy_settings(options.proxy),
            chromium_sandbox=sandboxed(),
            timeout=START_SECONDS * 1000,
            handle_sigint=False,  # Ctrl-C is the run's to handle
        )
        context = await browser.new_context(viewport=VIEWPORT, storage_state=state)
        await context.add_init_script(injected.SOURCE)
        control = await browser.new_browser_cdp_session()
        processes = (await control.send("SystemInfo.getProcessInfo"))["processInfo"]
    except PlaywrightError as error:
        if not options.headless and sys.platform == "linux" and not any(map(os.getenv, _DISPLAYS)):
            message = "--headed needs a display, and there is none: leave it out, or use xvfb-run"
            raise LaunchFailed(message) from error
        raise LaunchFailed(f"{executable} did not start: {_reason(error)}") from error
    # A frozen browser answers no command: it can only be killed by its process id.
    pid = next((int(p["id"]) for p in processes if p["type"] == "browser"), None)
    return Running(context, control, pid)


def _reason(error: PlaywrightError) -> str:
    """The error that the browser printed; if it printed none, Playwright's message."""
    for text in error.message.splitlines():
        if "ERROR:" in text or "error while loading" in text or "Failed to" in text:
            return text.strip()[:300]
    return first_line(error)[:300]


async def _end(running: Running) -> None:
    try:
        async with within(CLOSE_SECONDS, "close the browser"):
            await running.context.close()
            if running.context.browser:
                await running.context.browser.close()
    except BrowserError:
        running.kill()


def launch_flags() -> list[str]:
    """All command line flags; Chromium reads only the last `--disable-features`."""
    features_off = ",".join([*CHROMIUM_FEATURES_OFF, *PLAYWRIGHT_FEATURES_OFF])
    return [*CHROMIUM_FLAGS, *QUIET_FLAGS, f"--disable-features={features_off}"]


def proxy_settings(url: str | None) -> ProxySettings | None:
    """Split a proxy URL and its credentials into Playwright's form; loopback is not exempt."""
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
LOCK = "in-use"
YOUNG = 60.0
"""Seconds; a folder younger than this may be about to be locked."""


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a locked scratch folder, which is removed when the block ends."""
    parent = Path(tempfile.gettempdir())
    if sys.platform == "linux" and len(str(parent)) >= _LONGEST_TEMP_PATH:
        parent = Path("/tmp")  # noqa: S108 - a folder of its own is made there
    _remove_abandoned(parent)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    lock = FileLock(folder / LOCK, thread_local=False)
    lock.acquire()
    try:
        yield folder
    finally:
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    """Remove scratch folders of this user's processes that were killed."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError, Timeout):
            status = folder.lstat()
            mine = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
            old = time.time() - status.st_mtime > YOUNG
            if mine and old and folder.is_dir() and not folder.is_symlink():
                with FileLock(folder / LOCK, blocking=False):
                    pass  # no process holds the lock
                shutil.rmtree(folder)


@asynccontextmanager
async def _temporary_files_in(folder: Path) -> AsyncIterator[None]:
    """Set TMPDIR for processes started in this block; our own temporary files stay where they are.

    Only on Linux: elsewhere the folder would make the paths of sockets too long.
    """
    if sys.platform != "linux":
        yield
        return
    tempfile.gettempdir()  # the result is cached, so that our own is not changed
    # The environment belongs to the whole process: browsers start one after the other, also those
    # of other threads, which have event loops of their own.
    while not _ENVIRONMENT.acquire(blocking=False):  # noqa: ASYNC110 - of all event loops
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before
        _ENVIRONMENT.release()
