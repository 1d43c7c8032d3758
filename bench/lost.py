"""Measures how soon a lost browser is noticed, and how soon the next page is ready.

python -m bench.lost
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bench.shelf import Targets
from browser.errors import BrowserError
from browser.session.chrome import start_chrome
from browser.session.session import Browser
from tests.browser.page.pages import serve_pages
from tests.browser.session.hostile import kill, stop, wire_to

if TYPE_CHECKING:
    from browser.page.tab import Tab

ROUNDS = 5
DEADLINE = 2.0
NOTICED, NEXT = 1.0, 3.0

Lose = Callable[[], Awaitable[None]]


async def measure(browser: Browser, tab: Tab, lose: Lose, url: str) -> tuple[float, float]:
    """Return the seconds until the loss is noticed, and then until the next page is read."""
    begun = time.perf_counter()
    await lose()
    try:
        await tab.snapshot(deadline=DEADLINE)
    except BrowserError:
        noticed = time.perf_counter()
    else:
        raise AssertionError("the loss was not noticed")
    following = await browser.open(url)
    assert "still here" in (await following.snapshot()).text
    return noticed - begun, time.perf_counter() - noticed


@asynccontextmanager
async def killed(url: str) -> AsyncIterator[tuple[Browser, Tab, Lose]]:
    async with Browser.launch() as browser:
        tab = await browser.open(url)
        yield browser, tab, lambda: asyncio.to_thread(kill, browser._running.process.pid)


@asynccontextmanager
async def stopped(url: str) -> AsyncIterator[tuple[Browser, Tab, Lose]]:
    async with Browser.launch() as browser:
        tab = await browser.open(url)
        yield browser, tab, lambda: asyncio.to_thread(stop, browser._running.process.pid)


@asynccontextmanager
async def crashed(url: str) -> AsyncIterator[tuple[Browser, Tab, Lose]]:
    async with Browser.launch() as browser:
        tab = await browser.open(url)
        session = await tab.page.context.new_cdp_session(tab.page)

        async def crash() -> None:
            async with tab.page.expect_event("crash"):
                sent = asyncio.ensure_future(session.send("Page.crash"))
                sent.add_done_callback(lambda done: done.exception())

        yield browser, tab, crash


@asynccontextmanager
async def dropped(url: str) -> AsyncIterator[tuple[Browser, Tab, Lose]]:
    with tempfile.TemporaryDirectory() as profile:
        chrome = await start_chrome(profile, headless=True)
        try:
            port = int(chrome.cdp_url.rpartition(":")[2])
            async with wire_to(port) as wire:
                address = f"http://127.0.0.1:{wire.port}"
                async with Browser.attach(address) as browser:
                    tab = await browser.open(url)
                    yield browser, tab, lambda: asyncio.to_thread(wire.cut)
        finally:
            os.killpg(chrome.pid, signal.SIGKILL)


WAYS = {
    "killed": (killed, NOTICED),
    "stopped": (stopped, DEADLINE + 0.5),
    "renderer crashed": (crashed, NOTICED),
    "CDP socket dropped": (dropped, NOTICED),
}


async def main() -> int:
    targets = Targets()
    with serve_pages() as pages:
        url = pages.base + pages.put("<p>still here</p>")
        for name, (way, at_most) in WAYS.items():
            found = []
            for _ in range(ROUNDS):
                async with way(url) as (browser, tab, lose):
                    found.append(await measure(browser, tab, lose, url))
            noticed, following = zip(*found, strict=True)
            middle = statistics.median(noticed), statistics.median(following)
            print(f"{name}: medians {middle[0]:.3f} s, {middle[1]:.2f} s")
            targets.at_most(f"{name}: noticed, slowest, s", max(noticed), at_most)
            targets.at_most(f"{name}: next page, slowest, s", max(following), NEXT)
    return targets.code


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
