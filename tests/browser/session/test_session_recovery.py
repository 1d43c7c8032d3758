"""Killed, frozen, cut off, overwhelmed: detected with a typed error, and the next page works."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from browser.errors import BrowserError, BrowserGone, DeadlineExceeded
from browser.session.session import Browser

HANGS = 120.0  # seconds; a working timeout ends far earlier


async def test_killed_browser_is_detected_and_replaced(pages):
    path = pages.put("<p>still here</p>")
    async with Browser.launch() as browser:
        tab = await browser.open(pages.base + path)
        os.kill(browser._running.process.pid, signal.SIGKILL)
        with pytest.raises(BrowserGone):
            await tab.snapshot()
        again = await browser.open(pages.base + path)
        assert "still here" in (await again.snapshot()).text


async def test_frozen_browser_is_detected_at_deadline_and_replaced(pages):
    path = pages.put("<p>still here</p>")
    async with Browser.launch() as browser:
        tab = await browser.open(pages.base + path)
        os.kill(browser._running.process.pid, signal.SIGSTOP)
        with pytest.raises(DeadlineExceeded):
            await tab.goto(pages.base + path, deadline=0.3)
        again = await browser.open(pages.base + path)
        assert "still here" in (await again.snapshot()).text


async def test_closing_a_frozen_browser_does_not_hang(pages, monkeypatch):
    monkeypatch.setattr("browser.session.launch.CLOSE_SECONDS", 0.5)

    async def leave() -> int:
        async with asyncio.timeout(HANGS), Browser.launch() as browser:
            await browser.open(pages.base + pages.put("<p>x</p>"))
            pid = browser._running.process.pid
            os.kill(pid, signal.SIGSTOP)
        return pid

    pid = await asyncio.to_thread(asyncio.run, leave())  # where no other run shares it
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_exit_of_attached_browser_raises_browser_gone(chrome, pages):
    path = pages.base + pages.put("<p>x</p>")
    async with Browser.attach(chrome.cdp_url) as browser:
        tab = await browser.open(path)
        os.killpg(chrome.pid, signal.SIGKILL)
        with pytest.raises(BrowserGone):
            await tab.snapshot()
        with pytest.raises(BrowserError):
            await browser.open(path)


async def test_pages_are_read_in_parallel(pages):
    paths = [pages.put(f"<p>page number {n}</p>") for n in range(6)]
    async with Browser.launch() as browser:
        opening = (browser.open(pages.base + path, deadline=HANGS) for path in paths)
        tabs = await asyncio.gather(*opening)
        texts = await asyncio.gather(*(tab.snapshot(deadline=HANGS) for tab in tabs))
    assert [text.text for text in texts] == [f"page number {n}" for n in range(6)]
