"""Finds Chrome, Chromium or Edge on this machine, and starts it so that runs can attach to it.

`research chrome` starts it with a separate profile and a debugging port that listens on loopback.
"""

from __future__ import annotations

import asyncio
import json
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


EXECUTABLE_VARIABLES = ("RESEARCH_CHROME", "CHROME_PATH")
"""Environment variables that name the executable; the first one takes precedence."""

# Debian's `chromium` is a shell script that runs the first of these, which starts faster without
# it.
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


def find_chrome() -> Path:
    """Find the executable: the one named in the environment, an installed one, or Playwright's.

    Raises BrowserMissing if there is none, or if the one in the environment does not exist.
    """
    for variable in EXECUTABLE_VARIABLES:
        if named := os.environ.get(variable):
            path = Path(shutil.which(named) or named).expanduser()
            if path.is_file():
                return path
            raise BrowserMissing(f"no browser at {named}")
    for path in candidates():
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise BrowserMissing("no Chrome, Chromium or Edge found on this machine")


def candidates(platform: str = sys.platform) -> Iterator[Path]:
    """Yield the paths where a browser may be, best first."""
    home = Path.home()
    if platform == "darwin":
        cache = home / "Library" / "Caches"
        for folder in (Path("/Applications"), home / "Applications"):
            yield from (folder / f"{app}.app" / "Contents" / "MacOS" / app for app in _MAC_APPS)
    elif platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA", home))
        for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
            if root := os.environ.get(variable):
                yield from (Path(root) / path for path in _WINDOWS_PATHS)
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME", home / ".cache"))
        yield from map(Path, _LINUX_FILES)
        yield from (Path(found) for name in _LINUX_NAMES if (found := shutil.which(name)))
    playwrights = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or cache / "ms-playwright")
    for pattern in _PLAYWRIGHT_BINARIES:
        yield from sorted(playwrights.glob(pattern), reverse=True)  # newest first


def uses_sandbox() -> bool:
    """Whether to use Chromium's sandbox; False for root, where it fails, or if it is turned off."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return not root and not os.environ.get("RESEARCH_NO_SANDBOX")


START_SECONDS = 20.0  # for Chrome to start and write its port file
POLL_SECONDS = 0.03  # between checks for the port file
STOP_SECONDS = 5.0  # for Chrome to close when asked
_PORT_FILE = "DevToolsActivePort"
_LOCK_FILES = ("SingletonLock", "lockfile")  # Linux and macOS; Windows
_DETACHED_FLAGS = 0x00000008 | 0x00000200  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP


@dataclass(frozen=True, slots=True)
class StartedChrome:
    """A Chrome that outlives this process: its process id, debugging address and profile folder."""

    pid: int
    cdp_url: str
    profile: Path


async def start_chrome(
    profile: str | os.PathLike[str],
    *,
    port: int = 0,
    headless: bool = False,
) -> StartedChrome:
    """Start a Chrome with a separate profile and a debugging port that listens only on loopback.

    With port 0, the system chooses one. The browser outlives this process. Raises BrowserMissing,
    and LaunchFailed if the profile is in use or the port does not open.
    """
    binary = find_chrome()
    folder = _prepare_profile(Path(profile))
    process = _spawn(binary, folder, port, headless=headless)
    try:
        async with asyncio.timeout(START_SECONDS):
            chosen = await _port_of(folder, process, port)
    except TimeoutError as error:
        process.kill()
        process.wait()
        raise LaunchFailed(
            f"{binary} did not open a debugging port within {START_SECONDS:g} s"
        ) from error
    process.returncode = 0  # prevents Popen's warning: Chrome keeps running
    return StartedChrome(process.pid, f"http://127.0.0.1:{chosen}", folder)


async def stop_chrome(profile: str | os.PathLike[str]) -> bool:
    """Close the Chrome that `start_chrome` started with a profile; False if none is running."""
    from websockets.asyncio.client import connect  # noqa: PLC0415 - only here
    from websockets.exceptions import WebSocketException  # noqa: PLC0415 - as above

    address = debugging_address(Path(profile))
    if address is None:
        return False
    try:  # the address contains this browser's id, so no other browser is closed by mistake
        async with asyncio.timeout(STOP_SECONDS), connect(address, proxy=None) as socket:
            await socket.send(json.dumps({"id": 1, "method": "Browser.close"}))
            await socket.recv()
            await socket.wait_closed()  # the browser confirms before it closes
    except (OSError, TimeoutError, WebSocketException):
        return False
    # Chrome leaves the port file behind, and may listen for a moment longer.
    (Path(profile) / _PORT_FILE).unlink(missing_ok=True)
    return True


def debugging_address(profile: Path) -> str | None:
    """Return the debugging WebSocket of a profile's Chrome; None if none is listening."""
    port, path = _read_port_file(profile)
    return f"ws://127.0.0.1:{port}{path}" if port else None


def _read_port_file(profile: Path) -> tuple[int, str]:
    """Read port and path, which Chrome stores in its profile once it listens; 0 before that."""
    try:
        port, path = (profile / _PORT_FILE).read_text("utf-8").split()[:2]
        return int(port), path
    except (OSError, ValueError):
        return 0, ""


def _prepare_profile(profile: Path) -> Path:
    """Create a profile folder and remove old locks; raises LaunchFailed if Chrome is using it.

    A second Chrome with the same profile would only open a window in the first one and then exit.
    """
    folder = profile.expanduser().absolute()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in _LOCK_FILES:
        lock = folder / name
        if lock.is_symlink():  # a link to `host-pid`, which a crashed Chrome leaves behind
            pid = str(lock.readlink()).rpartition("-")[2]
            in_use = not pid.isdigit() or _process_exists(int(pid))
        else:
            in_use = lock.exists() and not _remove_lock(lock)
        if in_use:
            raise LaunchFailed(
                f"the profile {folder} is in use by another Chrome",
                hint="Close the running Chrome, attach to it, or use another profile folder.",
            )
    (folder / _PORT_FILE).unlink(missing_ok=True)
    return folder


def _process_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _remove_lock(lock: Path) -> bool:
    """Remove a lock file; on Windows, this fails while a Chrome has it open."""
    try:
        lock.unlink()
    except PermissionError:
        return False
    return True


def _spawn(binary: Path, folder: Path, port: int, *, headless: bool) -> subprocess.Popen[bytes]:
    """Start Chrome so that it outlives this process: in a new session, or detached on Windows."""
    command = [
        str(binary),
        f"--user-data-dir={folder}",
        f"--remote-debugging-port={port}",
        "--remote-debugging-address=127.0.0.1",
        "--no-first-run",
        "--no-default-browser-check",
    ]
    if headless:
        # The default headless window is 780 by 493, in which pages show their mobile layout.
        command += ["--headless=new", "--window-size=1280,800"]
    if sys.platform == "linux" and not uses_sandbox():
        command.append("--no-sandbox")
    with _log_of(folder).open("wb") as output:
        return subprocess.Popen(  # noqa: S603 - the browser found by find_chrome
            [*command, "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=os.name == "posix",
            creationflags=_DETACHED_FLAGS if os.name == "nt" else 0,
        )


def _log_of(folder: Path) -> Path:
    return folder / "chrome-start.log"


async def _port_of(folder: Path, process: subprocess.Popen[bytes], wanted: int) -> int:
    """Wait for the debugging port; raises LaunchFailed with the log's last line if Chrome exits."""
    while process.poll() is None:
        if port := _read_port_file(folder)[0]:
            return port
        if wanted and await _listens(wanted):
            return wanted
        await asyncio.sleep(POLL_SECONDS)
    lines = _log_of(folder).read_text("utf-8", "replace").strip().splitlines()
    reason = lines[-1][:300] if lines else "it gave no reason"
    raise LaunchFailed(f"Chrome exited immediately: {reason}")


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
