"""Chrome, Chromium or Edge on this machine: found, and started for a person to attach to.

`research chrome` starts one with a profile of its own whose debugging port listens on loopback.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from browser.errors import BrowserMissing, LaunchFailed

if TYPE_CHECKING:
    from collections.abc import Iterator


OVERRIDES = ("RESEARCH_CHROME", "CHROME_PATH")
"""Environment variables that name the executable, first one first."""

# Debian's `chromium` is a shell script around this; it starts quicker without.
_LINUX_FILES = ("/usr/lib/chromium/chromium", "/opt/google/chrome/chrome", "/snap/bin/chromium")
_LINUX_NAMES = (
    "google-chrome",
    "google-chrome-stable",
    "chromium",
    "chromium-browser",
    "microsoft-edge",
    "microsoft-edge-stable",
    "brave-browser",
    "google-chrome-beta",
)
_MAC_APPS = ("Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser", "Google Chrome Canary")
_WINDOWS_PATHS = (
    r"Google\Chrome\Application\chrome.exe",
    r"Chromium\Application\chrome.exe",
    r"Microsoft\Edge\Application\msedge.exe",
    r"BraveSoftware\Brave-Browser\Application\brave.exe",
)
_PLAYWRIGHT_BINARIES = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    "chromium-*/chrome-win*/chrome.exe",
    "chromium_headless_shell-*/chrome-*/*headless_shell*",
)


def find_chrome(executable: str | os.PathLike[str] | None = None) -> Path:
    """Find the executable: the one given, the environment's, an installed one, Playwright's.

    Raises BrowserMissing when there is none, or when the one named is not there.
    """
    named = executable or next(
        (os.environ[name] for name in OVERRIDES if os.environ.get(name)), None
    )
    if named:
        path = Path(shutil.which(named) or named).expanduser()
        if path.is_file():
            return path
        raise BrowserMissing(f"no browser at {named}")
    for path in candidates():
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise BrowserMissing("no Chrome, Chromium or Edge found on this machine")


def candidates(platform: str = sys.platform) -> Iterator[Path]:
    """List the places where a browser may be, best first."""
    if platform == "darwin":
        yield from _mac()
    elif platform == "win32":
        yield from _windows()
    else:
        yield from _linux()
    yield from _playwright(platform)


def _linux() -> Iterator[Path]:
    yield from (Path(path) for path in _LINUX_FILES)
    yield from (Path(found) for name in _LINUX_NAMES if (found := shutil.which(name)))


def _mac() -> Iterator[Path]:
    for folder in (Path("/Applications"), Path.home() / "Applications"):
        for app in _MAC_APPS:
            yield folder / f"{app}.app" / "Contents" / "MacOS" / app


def _windows() -> Iterator[Path]:
    for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
        if folder := os.environ.get(variable):
            yield from (Path(folder) / path for path in _WINDOWS_PATHS)


def _playwright(platform: str) -> Iterator[Path]:
    """Browsers that `playwright install` put into its cache, newest first."""
    default = {
        "darwin": Path.home() / "Library" / "Caches",
        "win32": Path(os.environ.get("LOCALAPPDATA", Path.home())),
    }.get(platform, Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")))
    folder = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or default / "ms-playwright")
    for pattern in _PLAYWRIGHT_BINARIES:
        yield from sorted(folder.glob(pattern), reverse=True)


def sandboxed() -> bool:
    """Whether Chromium can have its sandbox: not as root, and not where the user turned it off."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return not root and not os.environ.get("RESEARCH_NO_SANDBOX")


START_SECONDS = 20.0
POLL_SECONDS = 0.03  # between two looks for the port file: nothing tells when it comes
_PORT_FILE = "DevToolsActivePort"  # Chrome writes port and path there once it listens
# Python warns of a process that is forgotten while it runs; these are meant to run on.
_STARTED: list[subprocess.Popen[bytes]] = []
_LOCKS = ("SingletonLock", "lockfile")  # Linux and macOS; Windows


@dataclass(frozen=True, slots=True)
class StartedChrome:
    """A Chrome that runs on its own: process id, address to attach to, profile folder."""

    pid: int
    cdp_url: str
    profile: Path


async def start_chrome(
    profile: str | os.PathLike[str],
    *,
    port: int = 0,
    headless: bool = False,
) -> StartedChrome:
    """Start a Chrome with its own profile whose debugging port listens on loopback alone.

    Port 0 lets the system choose. The browser outlives this process. Raises BrowserMissing, and
    LaunchFailed when the profile is in use or the port does not open.
    """
    binary = find_chrome()
    folder = _prepared(profile)
    log = folder / "chrome-start.log"
    process = _spawn([str(binary), *_flags(folder, port, headless=headless)], log)
    try:
        async with asyncio.timeout(START_SECONDS):
            chosen = await _port_of(folder, process, log, port)
    except TimeoutError as error:
        process.kill()
        raise LaunchFailed(f"{binary} opened no debugging port in {START_SECONDS:g} s") from error
    process.returncode = 0  # it lives on without us: nobody waits for it, and Python need not warn
    return StartedChrome(process.pid, f"http://127.0.0.1:{chosen}", folder)


async def stop_chrome(profile: str | os.PathLike[str]) -> bool:
    """Close the Chrome that `start_chrome` started on a profile; False where none runs there."""
    try:
        lines = (Path(profile) / _PORT_FILE).read_text(encoding="utf-8").split()
    except FileNotFoundError:
        return False
    if len(lines) != 2 or not lines[0].isdigit() or not await _listens(int(lines[0])):
        return False
    from playwright.async_api import Error, async_playwright  # noqa: PLC0415 - only here

    try:
        async with async_playwright() as playwright:  # the path names this very browser
            address = f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            browser = await playwright.chromium.connect_over_cdp(address)
            session = await browser.new_browser_cdp_session()
            await session.send("Browser.close")
    except Error:
        return False
    return True


def _prepared(profile: str | os.PathLike[str]) -> Path:
    folder = Path(profile).expanduser().absolute()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _refuse_if_used(folder)
    (folder / _PORT_FILE).unlink(missing_ok=True)
    return folder


def _flags(folder: Path, port: int, *, headless: bool) -> list[str]:
    flags = [
        f"--user-data-dir={folder}",
        f"--remote-debugging-port={port}",
        "--remote-debugging-address=127.0.0.1",
        "--no-first-run",
        "--no-default-browser-check",
    ]
    if headless:
        flags.append("--headless=new")
    if sys.platform == "linux" and not sandboxed():
        flags.append("--no-sandbox")
    return [*flags, "about:blank"]


def _refuse_if_used(folder: Path) -> None:
    """A second Chrome on one profile would only open a window in the first, and then end."""
    for name in _LOCKS:
        lock = folder / name
        if lock.is_symlink() and not _holder_lives(str(lock.readlink())):
            continue
        if lock.is_symlink() or (lock.exists() and not _removable(lock)):
            raise LaunchFailed(
                f"the profile {folder} is in use by another Chrome",
                hint="Close that Chrome, attach to it, or name another profile folder.",
            )


def _holder_lives(target: str) -> bool:
    """The lock points at `host-pid`; a crashed Chrome leaves it behind."""
    pid = target.rpartition("-")[2]
    if not pid.isdigit():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _removable(lock: Path) -> bool:
    """On Windows Chrome holds the file open for as long as it runs."""
    try:
        lock.unlink()
    except PermissionError:
        return False
    return True


def _spawn(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    """Start it so that it outlives us: in a session of its own, or detached on Windows."""
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - the browser found by find_chrome
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=os.name == "posix",
            creationflags=_DETACHED if os.name == "nt" else 0,
        )
    _STARTED.append(process)
    return process


_DETACHED = 0x00000008 | 0x00000200  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP


async def _port_of(folder: Path, process: subprocess.Popen[bytes], log: Path, wanted: int) -> int:
    """Wait for the port; a process that ends before says why in its log.

    Chrome writes the port file only where it chose the port itself.
    """
    while process.poll() is None:
        if port := _port_in(folder / _PORT_FILE):
            return port
        if wanted and await _listens(wanted):
            return wanted
        await asyncio.sleep(POLL_SECONDS)
    raise LaunchFailed(f"Chrome ended at once: {_last_line(log)}")


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def _port_in(file: Path) -> int | None:
    text = file.read_text("utf-8").split() if file.is_file() else []
    return int(text[0]) if text else None


def _last_line(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else "it gave no reason"
