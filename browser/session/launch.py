"""Starting a browser of our own: quick, quiet on the network, alone with its profile."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from playwright.async_api import Error as PlaywrightError

from browser.errors import LaunchFailed
from browser.net.egress import CHROMIUM_FLAGS
from browser.page import library
from browser.page.deadline import first_line
from browser.session.chrome import find_chrome

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import BrowserContext, Playwright, ProxySettings, ViewportSize

START_SECONDS = 20.0
QUIET_FLAGS = (
    # Chromium asks its makers for nothing: no updates, models, lists, statistics or sign-in.
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--no-pings",
    "--safebrowsing-disable-auto-update",
    "--disable-gpu",  # a machine without one spends its start looking for it
)
PLAYWRIGHT_FEATURES_OFF = (
    # What Playwright 1.65 turns off itself (chromiumSwitches); our flag replaces its own.
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"),
    *("TcpPortRandomizationWin", "AimEnabled", "PreconnectToSearch", "msForceBrowserSignIn"),
    *("msEdgeUpdateLaunchServicesPreferredVersion", "Translate"),
)
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """How to start a browser; kept, so that a lost one can be started again."""

    headless: bool = True
    executable: str | os.PathLike[str] | None = None
    proxy: str | None = None
    storage_state: str | os.PathLike[str] | None = None
    user_data_dir: str | os.PathLike[str] | None = None
    downloads_dir: Path | None = None


@dataclass(slots=True)
class Running:
    """A running browser: with a profile of its own there is a context but no browser object."""

    context: BrowserContext
    browser: PlaywrightBrowser | None = None
    pid: int | None = None


async def launch(playwright: Playwright, options: LaunchOptions) -> Running:
    """Start the browser and give its context, with our script in every document.

    Raises BrowserMissing or LaunchFailed.
    """
    executable = find_chrome(options.executable)
    try:
        running = await _start(playwright, executable, options)
    except PlaywrightError as error:
        raise LaunchFailed(f"{executable} did not start: {_reason(error)}") from error
    await running.context.add_init_script(library.SOURCE)
    return running


async def _start(playwright: Playwright, executable: Path, options: LaunchOptions) -> Running:
    """Start with a profile of its own, or with none that outlives the session."""
    chromium, flags = playwright.chromium, launch_flags()
    timeout, proxy = START_SECONDS * 1000, proxy_settings(options.proxy)
    if options.user_data_dir:
        context = await chromium.launch_persistent_context(
            Path(options.user_data_dir),
            executable_path=executable,
            headless=options.headless,
            args=flags,
            proxy=proxy,
            chromium_sandbox=sandboxed(),
            timeout=timeout,
            handle_sigint=False,
            viewport=VIEWPORT,
        )
        return Running(context, context.browser)
    browser = await chromium.launch(
        executable_path=executable,
        headless=options.headless,
        args=flags,
        proxy=proxy,
        chromium_sandbox=sandboxed(),
        timeout=timeout,
        handle_sigint=False,  # Ctrl-C is the run's to handle
    )
    state = Path(options.storage_state) if options.storage_state else None
    return Running(await browser.new_context(viewport=VIEWPORT, storage_state=state), browser)


def launch_flags() -> list[str]:
    """All flags, with the features to turn off in one: of two such flags Chromium reads the last."""
    prefix = "--disable-features="
    flags = [flag for flag in CHROMIUM_FLAGS if not flag.startswith(prefix)]
    asked = [flag.removeprefix(prefix) for flag in CHROMIUM_FLAGS if flag.startswith(prefix)]
    return [*flags, *QUIET_FLAGS, prefix + ",".join([*asked, *PLAYWRIGHT_FEATURES_OFF])]


def sandboxed() -> bool:
    """Whether Chromium can have its sandbox: not as root, and not where the user turned it off."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return not root and not os.environ.get("RESEARCH_NO_SANDBOX")


def proxy_settings(url: str | None) -> ProxySettings | None:
    """Split a proxy URL with its credentials; loopback goes through it like all else."""
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


def _reason(error: PlaywrightError) -> str:
    """What the browser itself printed is the better reason, where it printed any."""
    for text in error.message.splitlines():
        if "ERROR:" in text or "error while loading" in text or "Failed to" in text:
            return text.strip()[:300]
    return first_line(error)[:300]
