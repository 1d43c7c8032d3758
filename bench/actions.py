"""Measures refs on clickable elements, time from a click to the next observation, and startup.

    python -m bench.actions

Prints the share of labelled elements with refs, then medians on a static page of 200 paragraphs
with links and a form of 40 fields.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from typing import TYPE_CHECKING

from bench.shelf import Targets
from browser.session.session import Browser
from tests.browser.page.labels import labels
from tests.browser.page.pages import ref, serve_pages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from browser.types import ActionOutcome
    from tests.browser.page.pages import Pages

ROUNDS = 15
STARTS = 3
PAGE = (
    "<!doctype html><title>Bench</title>"
    + "".join(
        f"<p>Paragraph {n} says this and <a href=#{n}>that</a> of it.</p>" for n in range(200)
    )
    + "".join(f"<label>Field {n} <input></label>" for n in range(40))
    + "<label><input type=checkbox>Box</label>"
    + "<button onclick=\"this.textContent='done'\">Do</button>"
)


async def timed(act: Callable[[], Awaitable[ActionOutcome]]) -> tuple[float, int]:
    """Return median milliseconds and tokens (characters / 4) of an action's result."""
    times, sizes = [], []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        outcome = await act()
        times.append((time.perf_counter() - begun) * 1000)
        sizes.append(len(outcome.action + outcome.changes) // 4)
    return statistics.median(times), int(statistics.median(sizes))


async def start_seconds(url: str) -> float:
    begun = time.perf_counter()
    async with Browser.launch() as browser:
        await browser.open(url)
        return time.perf_counter() - begun


async def share_with_refs(browser: Browser, pages: Pages) -> float:
    """Return the share of labelled elements that have a ref, page by page."""
    found = await labels(browser, pages)
    for page in found:
        print(f"{page.page:20} {page.labelled} labelled, without a ref: {page.missed or 'none'}")
    return 1 - sum(len(page.missed) for page in found) / sum(page.labelled for page in found)


async def main() -> int:
    targets = Targets()
    with serve_pages() as pages:
        url = pages.base + pages.put(PAGE)
        starts = [await start_seconds(url) for _ in range(STARTS)]
        print(f"start to first page: {statistics.median(starts):.2f} s")
        async with Browser.launch() as browser:
            share = await share_with_refs(browser, pages)
            targets.at_least("refs on what a click reaches", share, 0.97)
            tab = await browser.open(url)
            snapshot = await tab.snapshot(budget=None)
            box, field, button = (
                ref(snapshot, what) for what in ("checkbox Box", "textbox Field 20", "button Do")
            )
            for name, act in {
                "click a checkbox": lambda: tab.click(box),
                "fill a field": lambda: tab.type(field, "some text"),
                "click a button": lambda: tab.click(button),
            }.items():
                ms, tokens = await timed(act)
                targets.at_most(f"{name}: ms to the next observation", ms, 100)
                targets.at_most(f"{name}: tokens", tokens, 120)
    return targets.code


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
