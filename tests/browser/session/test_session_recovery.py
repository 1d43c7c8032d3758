"""Killed, frozen, cut off, overwhelmed: noticed, typed, and the next page works."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress

import pytest

from browser.errors import BrowserError, BrowserGone, DeadlineExceeded
from browser.session import Browser
from tests.browser.page.pages import patience

HOSTILE = {
    "alert loop": "<script>for (;;) alert('again')</script>",
    "busy loop": "<script>for (;;);</script>",
    "busy later": "<p>x</p><script>setTimeout(() => { for (;;); }, 50)</script>",
    "popups": "<script>for (let i = 0; i < 40; i++) open('about:blank')</script>",
    "growing": "<script>setInterval(() => { for (let i = 0; i < 2000; i++) document.body.append('grow ') }, 1)</script>",
    "self reload": "<script>setTimeout(() => location.reload(), 30)</script>",
    "redirect between two": "<script>location.hash = Math.random(); setInterval(() => { location.hash = Math.random() }, 5)</script>",
    "history flood": "<script>setInterval(() => history.pushState(1, '', '#' + Math.random()), 1)</script>",
    "print": "<script>setInterval(() => print(), 20)</script>",
    "prompt loop": "<script>setInterval(() => prompt('more?'), 1)</script>",
    "beforeunload": "<script>onbeforeunload = e => { e.preventDefault(); return 'stay' }</script><p>x</p>",
    "mutating": "<p id=p></p><script>setInterval(() => { p.textContent = Math.random() }, 1)</script>",
    "very deep": "<script>let e = document.body; for (let i = 0; i < 20000; i++) { const d = document.createElement('div'); e.append(d); e = d } e.append('bottom')</script>",
    "broken builtins": "<script>JSON.stringify = Array.prototype.map = Map = undefined; Element.prototype.getBoundingClientRect = () => { throw 1 }</script><p>x</p>",
}


@pytest.mark.parametrize("how", HOSTILE)
async def test_a_hostile_page_costs_its_deadline_and_no_more(pages, hostile_browser, how):
    path = pages.put(f"<!doctype html>{HOSTILE[how]}")
    begun = time.perf_counter()
    with suppress(BrowserError):  # a typed error, or a page that could be read after all
        tab = await hostile_browser.open(pages.base + path, deadline=4)
        await tab.snapshot()
    assert time.perf_counter() - begun < (4 + 6 + 2) * patience()
    assert len(await hostile_browser.tabs()) <= 5
    for tab in list(hostile_browser._tabs):
        await hostile_browser.close(tab)
    calm = await hostile_browser.open(pages.base + pages.put("<p>calm again</p>"))
    assert "calm again" in (await calm.snapshot()).text
    await hostile_browser.close(calm)


async def test_three_hundred_thousand_links_are_read_within_bounds(pages, hostile_browser):
    path = pages.put(
        """<script>document.write(Array.from({length: 300000}, (_, i) => `<a href=/${i}>link number ${i}</a>`).join(' '))</script>"""
    )
    tab = await hostile_browser.open(pages.base + path, deadline=30)
    begun = time.perf_counter()
    snapshot = await tab.snapshot(budget=None)
    assert time.perf_counter() - begun < 5 * patience()
    assert len(snapshot.text.encode()) <= 200_000
    assert snapshot.truncated
    await hostile_browser.close(tab)


async def test_a_killed_browser_is_noticed_at_once_and_replaced(pages):
    path = pages.put("<p>still here</p>")
    async with Browser.launch() as browser:
        tab = await browser.open(pages.base + path)
        os.kill(browser._running.pid, signal.SIGKILL)
        begun = time.perf_counter()
        with pytest.raises(BrowserGone):
            await tab.snapshot()
        assert time.perf_counter() - begun < 1 * patience()
        again = await browser.open(pages.base + path)
        assert time.perf_counter() - begun < 4 * patience()
        assert "still here" in (await again.snapshot()).text


async def test_a_stopped_browser_is_noticed_at_the_deadline_and_replaced(pages):
    path = pages.put("<p>still here</p>")
    async with Browser.launch() as browser:
        tab = await browser.open(pages.base + path)
        os.kill(browser._running.pid, signal.SIGSTOP)
        with pytest.raises(DeadlineExceeded):
            await tab.goto(pages.base + path, deadline=1)
        begun = time.perf_counter()
        again = await browser.open(pages.base + path)
        assert time.perf_counter() - begun < 3 * patience()
        assert "still here" in (await again.snapshot()).text


async def test_leaving_with_a_stopped_browser_does_not_hang(pages):
    begun = None
    async with Browser.launch() as browser:
        await browser.open(pages.base + pages.put("<p>x</p>"))
        pid = browser._running.pid
        os.kill(pid, signal.SIGSTOP)
        begun = time.perf_counter()
    assert time.perf_counter() - begun < 8 * patience()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_an_attached_browser_that_ends_is_a_typed_error(chrome, pages):
    path = pages.base + pages.put("<p>x</p>")
    async with Browser.attach(chrome.cdp_url) as browser:
        tab = await browser.open(path)
        os.killpg(chrome.pid, signal.SIGKILL)
        begun = time.perf_counter()
        with pytest.raises(BrowserGone):
            await tab.snapshot()
        assert time.perf_counter() - begun < 1 * patience()
        with pytest.raises(BrowserError):
            await browser.open(path)


async def test_pages_can_be_read_in_parallel(pages):
    paths = [pages.put(f"<p>page number {n}</p>") for n in range(6)]
    async with Browser.launch() as browser:
        tabs = await asyncio.gather(*(browser.open(pages.base + path) for path in paths))
        texts = await asyncio.gather(*(tab.snapshot() for tab in tabs))
    assert [text.text for text in texts] == [f"page number {n}" for n in range(6)]
