"""One browser for all tests of pages, and a server for what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from browser.session.session import Browser
from tests.browser.page.pages import Pages, serve_pages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

    from browser.page.tab import Tab


@pytest.fixture(scope="session")
def pages() -> Iterator[Pages]:
    with serve_pages() as served:
        yield served


@pytest.fixture(scope="session")
def downloads_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(downloads_dir: Path) -> AsyncIterator[Browser]:
    async with Browser.launch(downloads_dir=downloads_dir) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def show(browser: Browser, pages: Pages) -> AsyncIterator[Callable[[str], Awaitable[Tab]]]:
    """Open a page made of a piece of HTML; its tab is closed after the test."""
    shown: list[Tab] = []

    async def opening(body: str) -> Tab:
        tab = await browser.open(
            pages.base + pages.put(f"<!doctype html><title>Test</title>{body}")
        )
        shown.append(tab)
        return tab

    yield opening
    for tab in shown:
        await browser.close(tab)
