"""Measures how long a snapshot of a far too large page takes, and how large it is.

python -m bench.bounds
"""

from __future__ import annotations

import asyncio
import sys
import time

from bench.shelf import Targets
from browser.errors import BrowserError
from browser.session.session import Browser
from tests.browser.page.pages import serve_pages
from tests.browser.session.huge import BYTES_AT_MOST, HUGE, SECONDS_AT_MOST, endless

OPEN_SECONDS = 20.0


async def measure(url: str) -> tuple[int, float]:
    """Return the bytes and seconds of one snapshot without a budget; a typed error has no bytes."""
    async with Browser.launch() as browser:
        begun = time.perf_counter()
        try:
            tab = await browser.open(url, deadline=OPEN_SECONDS)
            begun = time.perf_counter()
            text = (await tab.snapshot(budget=None)).text
        except BrowserError as error:
            print(f"  {type(error).__name__}: {error}")
            return 0, time.perf_counter() - begun
    return len(text.encode()), time.perf_counter() - begun


async def main() -> int:
    targets = Targets()
    with serve_pages() as pages, endless() as huge:
        urls = {name: pages.base + pages.put(f"<!doctype html>{t}") for name, t in HUGE.items()}
        for name, url in {**urls, "1 GB": huge}.items():
            size, seconds = await measure(url)
            targets.at_most(f"{name}: bytes", size, BYTES_AT_MOST)
            targets.at_most(f"{name}: seconds", seconds, SECONDS_AT_MOST)
    return targets.code


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
