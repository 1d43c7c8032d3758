"""Row 14: a hostile page costs its deadline and little more; the next page works."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from browser.errors import BrowserError
from browser.session.session import Browser
from tests.browser.page.pages import Pages, patience, serve_pages
from tests.browser.session.hostile import PAGES, TABS_AT_MOST

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

DEADLINE = 2.0
LEAST_LOOK = 1.5
GRACE = 2.0


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    with serve_pages() as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def launched() -> AsyncIterator[Browser]:
    async with Browser.launch() as running:
        yield running


async def looked_at(launched: Browser, url: str, deadline: float) -> str:
    """What a page says, or the typed error that it ended in."""
    until = time.perf_counter() + deadline
    try:
        tab = await launched.open(url, deadline=deadline)
        left = until - time.perf_counter()
        return (await tab.snapshot(deadline=max(LEAST_LOOK, left))).text
    except BrowserError as error:
        return type(error).__name__


@pytest.mark.parametrize("how", PAGES)
async def test_a_hostile_page_costs_its_deadline_and_little_more(pages, launched, how):
    url = pages.base + pages.put(f"<!doctype html>{PAGES[how]}")
    begun = time.perf_counter()
    await looked_at(launched, url, DEADLINE)
    assert time.perf_counter() - begun < (DEADLINE + GRACE) * patience()
    assert len(await launched.tabs()) <= TABS_AT_MOST
    await asyncio.gather(*(launched.close(tab) for tab in list(launched._tabs)))
    calm = pages.base + pages.put("<p>calm again</p>")
    assert await looked_at(launched, calm, 10) == "calm again"
