"""Finding a Chrome, Chromium or Edge on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from browser.errors import BrowserMissing

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
