"""Runs share a browser process: each keeps its own state, and none is harmed by another's loss."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.errors import BrowserError, BrowserGone
from browser.net.egress import Egress, EgressPolicy
from browser.session import launch
from browser.session.chrome import EXECUTABLE_VARIABLES
from browser.session.launch import keep_browsers
from browser.session.session import Browser

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

STORE = """<p id=p></p><script>
p.textContent = [document.cookie, localStorage.a, sessionStorage.b].join();
document.cookie = 'c=1; path=/'; localStorage.a = '2'; sessionStorage.b = '3';
</script>"""


def children() -> set[int]:
    return {
        int(pid)
        for file in Path("/proc/self/task").glob("*/children")
        for pid in file.read_text().split()
    }


@pytest.fixture
async def two_browsers() -> AsyncIterator[tuple[Browser, Browser]]:
    async with Browser.launch() as one, Browser.launch() as other:
        assert pid(one) == pid(other)
        yield one, other


def pid(browser: Browser) -> int:
    return browser._running.process.pid


async def page_text_at(browser: Browser, url: str) -> str:
    tab = await browser.open(url)
    return (await tab.snapshot()).text


async def test_cookies_and_storage_are_isolated_per_run(two_browsers, pages):
    one, other = two_browsers
    url = pages.base + pages.put(STORE)
    assert await page_text_at(one, url) == ",,"
    assert await page_text_at(one, url) == "c=1,2,"
    assert await page_text_at(other, url) == ",,"


async def test_storage_state_is_loaded_for_one_run_only(pages, tmp_path):
    state = tmp_path / "state.json"
    where = {"domain": "127.0.0.1", "path": "/", "expires": -1, "sameSite": "Lax"}
    cookie = {"name": "in", "value": "1", "httpOnly": False, "secure": False, **where}
    state.write_text(json.dumps({"cookies": [cookie], "origins": []}))
    url = pages.base + pages.put(
        "<p id=p></p><script>p.textContent = `(${document.cookie})`</script>"
    )
    async with Browser.launch(storage_state=state) as known, Browser.launch() as unknown:
        assert pid(known) == pid(unknown)
        assert await page_text_at(known, url) == "(in=1)"
        assert await page_text_at(unknown, url) == "()"


async def test_each_run_uses_its_own_proxy(pages):
    url = pages.base + pages.put("<p>inside</p>")
    async with AsyncExitStack() as stack:
        browsers = []
        for allowed in ((f"127.0.0.1:{pages.port}",), ()):
            egress = await stack.enter_async_context(Egress(EgressPolicy(allow_private=allowed)))
            opened = Browser.launch(proxy=egress.proxy_url)
            browsers.append(await stack.enter_async_context(opened))
        may, may_not = browsers
        assert pid(may) == pid(may_not)
        assert await page_text_at(may, url) == "inside"
        try:
            refused = await page_text_at(may_not, url)
        except BrowserError as error:
            refused = str(error)
        assert "inside" not in refused


async def test_downloads_use_folder_and_quota_of_their_run(pages, tmp_path):
    path = pages.put("x" * 600, content_disposition="attachment; filename=t.txt")
    url = pages.base + pages.put(f"<a href='{path}'>file</a>")
    folders = [tmp_path / "one", tmp_path / "other"]

    async def kept(folder):
        async with Browser.launch(downloads_dir=folder, downloads_quota=1000) as browser:
            tab = await browser.open(url)
            (link,) = (await tab.snapshot()).refs
            return await tab.download(link)

    files = await asyncio.gather(*map(kept, folders))
    assert [file.path for file in files] == [folder / "t.txt" for folder in folders]


async def test_browser_loads_no_pages_of_its_own(pages, monkeypatch):
    monkeypatch.delenv(EXECUTABLE_VARIABLES[0], raising=False)  # a Chrome with windows
    url = pages.base + pages.put("<p>ours</p>")

    async def targets() -> list[str]:
        async with Browser.launch() as browser:
            await page_text_at(browser, url)
            everything = {"filter": [{}]}
            found = await browser._running.process.control.send("Target.getTargets", everything)
        return [target["url"] for target in found["targetInfos"]]

    assert set(await asyncio.to_thread(asyncio.run, targets())) == {url}


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.sample(1)
async def test_all_runs_continue_after_shared_browser_is_lost(two_browsers, pages, how):
    one, other = two_browsers
    url = pages.base + pages.put("<p>here</p>")
    tabs = [await browser.open(url) for browser in two_browsers]
    lost = pid(one)
    os.kill(lost, how)
    if how == signal.SIGKILL:
        for tab in tabs:
            with pytest.raises(BrowserGone):
                await tab.snapshot()
    assert [await page_text_at(browser, url) for browser in two_browsers] == ["here", "here"]
    assert pid(one) == pid(other) != lost


async def test_page_in_endless_loop_does_not_block_other_runs(two_browsers, pages):
    one, other = two_browsers
    busy = pages.base + pages.put("<script>for (;;);</script>")
    calm = pages.base + pages.put("<p>calm</p>")
    with pytest.raises(BrowserError):
        await one.open(busy, deadline=0.5)
    assert await page_text_at(other, calm) == "calm"


async def test_browser_is_reused_between_runs_and_replaced_after_limit(pages, monkeypatch):
    monkeypatch.setattr(launch, "MAX_RUNS_PER_PROCESS", 2)

    async def three_runs() -> list[int]:
        pids = []
        async with keep_browsers():
            for _ in range(3):
                async with Browser.launch() as browser:
                    pids.append(pid(browser))
        return pids

    first, second, third = await asyncio.to_thread(asyncio.run, three_runs())
    assert first == second != third
    for ended in (first, third):
        with pytest.raises(ProcessLookupError):
            os.kill(ended, 0)


async def test_browser_process_limits_concurrent_runs(monkeypatch):
    monkeypatch.setattr(launch, "MAX_RUNS_AT_ONCE", 2)

    async def at_once() -> list[int]:
        async with AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(Browser.launch()) for _ in range(3)]
            return [pid(browser) for browser in opened]

    first, second, third = await asyncio.to_thread(asyncio.run, at_once())
    assert first == second != third


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
async def test_idle_browser_exits(monkeypatch):
    monkeypatch.setattr(launch, "MAX_IDLE_SECONDS", 0.01)

    async def idle() -> bool:
        async with keep_browsers():
            async with Browser.launch() as browser:
                ended = asyncio.Event()
                browser._running.process.browser.on("disconnected", lambda _: ended.set())
            await ended.wait()
        return True

    before = children()
    assert await asyncio.to_thread(asyncio.run, idle())
    assert not children() - before


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
async def test_driver_starting_during_cancellation_is_stopped():
    before = children()
    starting = asyncio.create_task(AsyncExitStack().enter_async_context(launch.driver()))
    while not children() - before:  # noqa: ASYNC110 - the system tells nobody
        await asyncio.sleep(0.001)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert not children() - before
