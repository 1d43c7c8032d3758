"""Measures hostile pages: time beyond the deadline, leftover tabs, and the page after it.

python -m bench.hostile
"""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass

from bench.shelf import Targets
from browser.errors import BrowserError
from browser.session.session import Browser
from tests.browser.page.pages import serve_pages
from tests.browser.session.hostile import PAGES, TABS_AT_MOST

DEADLINE = 4.0  # seconds for opening and examining a page
GRACE = 2.0  # seconds it may take beyond that
LEAST_LOOK = 1.5


@dataclass(frozen=True)
class Cost:
    """The cost of one page: seconds, tabs, seconds for the harmless page after it, and its end."""

    seconds: float
    tabs: int
    following: float
    ended: str


async def cost(browser: Browser, hostile: str, calm: str) -> Cost:
    begun = time.perf_counter()
    ended = "read"
    try:
        tab = await browser.open(hostile, deadline=DEADLINE)
        left = begun + DEADLINE - time.perf_counter()
        await tab.snapshot(deadline=max(LEAST_LOOK, left))
    except BrowserError as error:
        ended = type(error).__name__
    seconds = time.perf_counter() - begun
    tabs = len(await browser.tabs())
    await asyncio.gather(*(browser.close(tab) for tab in list(browser._tabs)))
    begun = time.perf_counter()
    following = await browser.open(calm)
    assert "calm" in (await following.snapshot()).text
    after = time.perf_counter() - begun
    await browser.close(following)
    return Cost(seconds, tabs, after, ended)


async def main() -> int:
    targets = Targets()
    costs: dict[str, Cost] = {}
    with serve_pages() as pages:
        calm = pages.base + pages.put("<p>calm</p>")
        async with Browser.launch() as browser:
            for how, body in PAGES.items():
                url = pages.base + pages.put(f"<!doctype html>{body}")
                costs[how] = found = await cost(browser, url, calm)
                print(
                    f"{how:22}{found.seconds:6.2f} s  {found.tabs} tabs  "
                    f"then {found.following:.2f} s  {found.ended}",
                    flush=True,
                )
    worst = max(costs.values(), key=lambda found: found.seconds)
    targets.at_most("slowest hostile page: seconds", worst.seconds, DEADLINE + GRACE)
    targets.at_most("tabs left by one", max(c.tabs for c in costs.values()), TABS_AT_MOST)
    targets.at_most("the page after it: seconds", max(c.following for c in costs.values()), 3)
    return targets.code


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
