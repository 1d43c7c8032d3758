"""One browser for all tests of pages, and a server for what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from browser.errors import BrowserError
from browser.page.view import Frames
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
async def launched(downloads_dir: Path) -> AsyncIterator[Browser]:
    async with Browser.launch(downloads_dir=downloads_dir) as running:
        yield running


@pytest.fixture(scope="session")
def spare_tabs() -> list[Tab]:
    """Tabs that tests have done with: to go on in one costs a quarter of opening another."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def show(
    launched: Browser, pages: Pages, spare_tabs: list[Tab]
) -> AsyncIterator[Callable[[str], Awaitable[Tab]]]:
    """Show a page made of a piece of HTML in a tab that no test is at."""
    shown: list[Tab] = []

    async def showing(body: str) -> Tab:
        url = pages.base + pages.put(f"<!doctype html><title>Test</title>{body}")
        if spare_tabs:
            shown.append(spare_tabs.pop())
            shown[-1].frames = Frames()  # its refs begin at e1 again
            await shown[-1].goto(url)
        else:
            shown.append(await launched.open(url))
        return shown[-1]

    yield showing
    for tab in shown:
        if not spare_tabs and await is_as_new(tab, launched):
            spare_tabs.append(tab)
        else:
            await launched.close(tab)


async def is_as_new(tab: Tab, launched: Browser) -> bool:
    """Leave the page in a tab; false where something of a test would stay behind."""
    try:
        await tab.goto("about:blank")
    except BrowserError:
        return False
    return len(await launched.tabs()) == 1
