"""Tens of thousands of links, 20,000 levels, 1 GB: the size of a snapshot stays limited.

`bench.bounds` has 300,000 links, and measures the time.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from browser.errors import DeadlineExceeded
from browser.session.session import Browser
from tests.browser.page.pages import serve_pages
from tests.browser.session.huge import BYTES_AT_MOST, HUGE, endless, links

pytestmark = pytest.mark.row(n=15)

SECONDS = 180.0  # a loaded machine builds and reads such a page slowly
ENDLESS_SECONDS = 1.0
PAGES = {"50,000 links": links(50_000), "20,000 levels": HUGE["20,000 levels"]}


@pytest.fixture(scope="module")
async def launched():
    async with Browser.launch() as browser:
        yield browser


@pytest.mark.parametrize("what", PAGES)
@pytest.mark.sample(1)
@pytest.mark.soak
async def test_huge_page_is_read_partially(launched, what):
    with serve_pages() as pages:
        path = pages.put(f"<!doctype html>{PAGES[what]}")
        tab = await launched.open(pages.base + path, deadline=SECONDS)
        text = (await tab.snapshot(budget=None, deadline=SECONDS)).text
        await launched.close(tab)
    assert 0 < len(text.encode()) <= BYTES_AT_MOST


async def test_endless_page_times_out_or_is_read_partially(launched):
    text = ""
    with endless() as url:
        with suppress(DeadlineExceeded):
            tab = await launched.open(url, deadline=ENDLESS_SECONDS)
            text = (await tab.snapshot(budget=None)).text
        for tab in list(launched._tabs):
            await launched.close(tab)
    assert len(text.encode()) <= BYTES_AT_MOST
