"""A block page that only a user can clear: they are asked, and the run continues behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.page.pages import Pages, serve_pages
from tests.users_chrome import driven_chrome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from playwright.async_api import Playwright

    from browser.session.chrome import StartedChrome

WALL = """<!doctype html><title>Check</title><p>Please complete the captcha below</p>
  <div class=g-recaptcha></div><script>
  const look = async () => { const answer = await fetch('/solved');
    if (answer.ok) document.body.textContent = await answer.text(); else setTimeout(look, 30) };
  look();</script>"""
BEHIND = "The lamp room opens at nine."


@pytest.fixture
def pages() -> Iterator[Pages]:
    with serve_pages() as served:
        served.put(WALL, "/wall")
        served.put("<title>Before</title><p>What the person was reading.</p>", "/before")
        yield served


@pytest.fixture
async def chrome(
    chrome_in_use: StartedChrome, pages: Pages, playwright: Playwright
) -> AsyncIterator[str]:
    """A Chrome that is already open, with a page in front."""
    address = chrome_in_use.cdp_url
    async with driven_chrome(playwright, address) as context:
        await context.pages[0].goto(f"{pages.base}/before")
        yield address


async def test_user_solves_captcha_and_run_continues(ask, script, events, chrome, pages):
    asked: list[str] = []

    async def solve(what: str) -> bool:
        asked.append(what)
        pages.put(BEHIND, "/solved")
        return True

    model = script(f"<<TOOL:OPEN:{pages.base}/wall>>", "<<TOOL:WAIT:lamp room>>", "NOT_FOUND")
    report = await ask(
        f"What opens at {pages.base}/wall ?",
        model=model,
        cdp=chrome,
        approve=solve,
        allow_private=["127.0.0.1"],
    )
    results = [e.data for e in events(report) if e.type == "tool.result"]
    assert asked == [
        f"continue at {pages.base}/wall once you have solved its captcha in the browser window"
    ]
    assert "lamp room" in results[-1]["web"] or "lamp room" in results[0]["web"]


async def test_block_page_is_named_if_nobody_can_be_asked(ask, script, events, chrome, pages):
    model = script(f"<<TOOL:OPEN:{pages.base}/wall>>", "NOT_FOUND")
    report = await ask(
        f"What opens at {pages.base}/wall ?", model=model, cdp=chrome, allow_private=["127.0.0.1"]
    )
    opened = next(e.data for e in events(report) if e.type == "tool.result")
    assert "captcha" in opened["web"]
