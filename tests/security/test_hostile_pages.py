"""A hostile page is abandoned at its deadline, and the next page works.

`bench.hostile` measures its cost beyond the deadline.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from browser.errors import BrowserError
from browser.session.session import Browser
from tests.browser.page.pages import Pages, serve_pages
from tests.browser.session.hostile import PAGES, TABS_AT_MOST

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytestmark = pytest.mark.row(n=14)

DEADLINE = 0.5
"""Seconds for opening and reading: an endless page occupies a processor for this long."""
HANGS = 120.0
"""Seconds until a page counts as never given up; the deadline ends it long before."""


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    with serve_pages() as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def launched() -> AsyncIterator[Browser]:
    async with Browser.launch() as running:
        yield running


async def page_text_or_error(launched: Browser, url: str, deadline: float) -> str:
    """Return what a page says, or the typed error that it ended with."""
    try:
        tab = await launched.open(url, deadline=deadline)
        return (await tab.snapshot(deadline=deadline)).text
    except BrowserError as error:
        return type(error).__name__


@pytest.mark.parametrize("how", PAGES)
@pytest.mark.sample(6)
async def test_browser_recovers_after_hostile_page(pages, launched, how):
    url = pages.base + pages.put(f"<!doctype html>{PAGES[how]}")
    async with asyncio.timeout(HANGS):
        await page_text_or_error(launched, url, DEADLINE)
        assert len(await launched.tabs()) <= TABS_AT_MOST
        await asyncio.gather(*(launched.close(tab) for tab in list(launched._tabs)))
    calm = pages.base + pages.put("<p>calm again</p>")
    assert await page_text_or_error(launched, calm, HANGS) == "calm again"
