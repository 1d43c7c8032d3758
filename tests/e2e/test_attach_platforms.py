"""A platform's page in a user's Chrome, behind a login or not, is read by its parser."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import pytest

from browser.read.reader import read_rendered
from browser.session.session import Browser
from tests.users_chrome import driven_chrome

ITEM = "https://news.ycombinator.com/item?id=7"
STORY = """<title>Boats | Hacker News</title><table class=fatitem><tr class=athing id=7><td class=title><span class=titleline>
<a href="https://e.example/boats">The boats of Port Elm</a></span><tr><td class=subtext><span class=score>12 points</span>
<a class=hnuser href="user?id=ann">ann</a> <span class=age title="2024-05-03T08:00:00 1714723200">2 hours ago</span></table>
<table class=comment-tree><tr class="athing comtr" id=8><td class=ind indent=0><td><a class=hnuser>bo</a>
<div class=commtext>The oldest of them was built in 1829.</div></table>"""
STATE = """<title>Watch</title><p>Loading the player.</p><script>var ytInitialPlayerResponse =
{"videoDetails": {"videoId": "v1", "title": "How boats are built", "author": "Ann", "viewCount": "1200"}};</script>"""
WATCH = "https://www.youtube.com/watch?v=v1"


@pytest.fixture
async def front(chrome_in_use, playwright):
    """A user's Chrome; returns its address and front tab, whose sites are served by the test."""
    address = chrome_in_use.cdp_url
    async with driven_chrome(playwright, address) as context:
        tab = context.pages[0]
        for url, page in ((ITEM, STORY), (WATCH, STATE)):
            await tab.route(url, answering(page))
        await tab.bring_to_front()
        yield address, tab


def answering(page):
    async def fulfil(route):
        await route.fulfill(body=page, content_type="text/html; charset=utf-8")

    return fulfil


async def test_visible_page_is_cited_from_its_site_record(ask, script, front):
    chrome, tab = front
    await tab.goto(ITEM)
    results = []
    model = script(
        "<<TOOL:PAGE_CONTEXT>>", "<<TOOL:READ>>", "The oldest of them was built in 1829. [S1]"
    )
    report = await ask(
        "When was the oldest of the boats built?",
        model=model,
        cdp=chrome,
        on_event=lambda e: results.append(e.data) if e.type == "tool.result" else None,
    )
    assert results[0]["data"]["title"] == "Boats | Hacker News"
    for fact in ("- kind: hackernews story", "- author: ann", "- points: 12"):
        assert fact in results[1]["web"]
    assert report.sources[0].url == ITEM
    assert report.sentences[0].verdict == "supported"


async def test_script_state_of_tab_is_read(front):
    chrome, tab = front
    await tab.goto(WATCH)
    async with Browser.attach(chrome) as browser:
        context, html = await browser.visible_page()
        assert context.url == WATCH
        assert '"How boats are built"' in html


async def test_live_page_is_completed_from_its_site_record():
    async with Browser.launch() as browser:
        tab = await browser.open("about:blank")
        await tab.page.route(WATCH, answering(STATE))
        await tab.goto(WATCH)
        document = (await read_rendered(tab)).document
    assert document is not None
    assert document.title == "How boats are built"
    assert "- views: 1200" in document.text
