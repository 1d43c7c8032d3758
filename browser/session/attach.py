"""Attaching to a Chrome that is already open, leaving everything of its user as it was."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
from playwright.async_api import async_playwright

from browser.errors import AttachFailed, BrowserError
from browser.page.waiting import within
from browser.session.launch import Running
from browser.session.relay import Relay, UsersTabs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


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
