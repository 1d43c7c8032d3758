"""One browser for all page tests, and a server for their content."""

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
    """Tabs that tests have finished with: reusing one costs a quarter of opening another."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def show(
    launched: Browser, pages: Pages, spare_tabs: list[Tab]
) -> AsyncIterator[Callable[[str], Awaitable[Tab]]]:
    """Show a page made from a piece of HTML in an unused tab."""
    shown: list[Tab] = []

    async def showing(body: str) -> Tab:
        url = pages.base + pages.put(f"<!doctype html><title>Test</title>{body}")
        tab = await reuse_tab(spare_tabs.pop(), url, launched) if spare_tabs else None
        shown.append(tab or await launched.open(url))
        return shown[-1]

    yield showing
    for tab in shown:
        if not spare_tabs and not tab.events.crashed and len(await launched.tabs()) == 1:
            spare_tabs.append(tab)
        else:
            await launched.close(tab)


async def reuse_tab(tab: Tab, url: str, launched: Browser) -> Tab | None:
    """Reuse a tab; None if its page does not release it."""
    tab.driver.frames = Frames(tab.page)  # its refs begin at e1 again
    try:
        await tab.goto(url)
    except BrowserError:
        await launched.close(tab)
        return None
    return tab
