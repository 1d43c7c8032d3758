"""`research doctor --fix`: a browser where there is none."""

from __future__ import annotations

import os
import subprocess
import sys

from agent.cli.terminal import complain
from browser.errors import BrowserMissing
from browser.session.chrome import OVERRIDES, find_chrome

_PACKAGES = {
    "linux": "sudo apt install chromium (Debian, Ubuntu), sudo dnf install chromium (Fedora)",
    "darwin": "brew install --cask google-chrome",
    "win32": "winget install Google.Chrome",
}


def fetch_browser() -> bool:
    """Fetch Playwright's Chromium where no browser is found; says what is left to the person.

    Gives whether there is a browser now.
    """
    if _has_browser():
        return True
    named = next((name for name in OVERRIDES if os.environ.get(name)), None)
    if named:
        complain(f"{named} names no browser", f"Set it right, or `unset {named}`.")
        return False
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    print("fetching Chromium: playwright install chromium", file=sys.stderr, flush=True)
    done = subprocess.run(command, check=False, stdout=sys.stderr)  # noqa: S603 - our own words
    if done.returncode or not _has_browser():
        package = _PACKAGES.get(sys.platform, "install Google Chrome or Chromium")
        complain("Chromium could not be fetched", f"Install one from the system: {package}.")
    return _has_browser()


def _has_browser() -> bool:
    try:
        find_chrome()
    except BrowserMissing:
        return False
    return True
