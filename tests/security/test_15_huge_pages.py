"""Row 15: 300,000 links, 20,000 levels, 1 GB: bounded in bytes (in time: `tests.bench.bounds`)."""

from __future__ import annotations

from contextlib import suppress

import pytest

from browser.errors import DeadlineExceeded
from browser.session.session import Browser
from tests.browser.page.pages import serve_pages
from tests.browser.session.huge import BYTES_AT_MOST, HUGE, endless

OPEN_SECONDS = 180.0  # a loaded machine builds 300,000 links slowly
ENDLESS_SECONDS = 4.0


@pytest.mark.parametrize("what", [*HUGE, "1 GB"])
async def test_a_huge_page_is_read_within_bounds(what):
    with serve_pages() as pages, endless() as endlessly:
        path = pages.put(f"<!doctype html>{HUGE.get(what)}")
        url = pages.base + path if what in HUGE else endlessly
        deadline = OPEN_SECONDS if what in HUGE else ENDLESS_SECONDS
        text = ""
        async with Browser.launch() as browser:
            with suppress(DeadlineExceeded):  # or that the page is too large to open
                tab = await browser.open(url, deadline=deadline)
                text = (await tab.snapshot(budget=None)).text
    assert len(text.encode()) <= BYTES_AT_MOST
    assert bool(text) or what == "1 GB"
