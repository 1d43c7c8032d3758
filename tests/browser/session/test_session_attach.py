"""Attached to a user's Chrome: read the front tab, work beside it, leave everything as it was."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

from browser.errors import AttachFailed, LaunchFailed, Refused
from browser.net.egress import Egress, EgressPolicy
from browser.read.reader import read_rendered
from browser.session.session import Browser
from tests.browser.page.pages import ref
from tests.users_chrome import driven_chrome, users_chrome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from playwright.async_api import Page, Playwright

    from browser.session.chrome import StartedChrome

PDF = """%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R
/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 51>>stream
BT /F 18 Tf 20 40 Td (The mast of Hesk Light) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
"""
FRONT = "<title>Front</title><p>Alpha <b id=b>selected words</b> omega</p>"
STATE = "() => [document.visibilityState, document.hasFocus(), innerWidth, navigator.userAgent]"


@pytest.fixture
def user_with_tabs(
    chrome: StartedChrome, playwright: Playwright
) -> Callable[..., AbstractAsyncContextManager[list[Page]]]:
    """Open one tab per text for the user, the first in front."""

    @asynccontextmanager
    async def opened(*texts: str) -> AsyncIterator[list[Page]]:
        async with driven_chrome(playwright, chrome.cdp_url) as context:
            tabs = [context.pages[0], *[await context.new_page() for _ in texts[1:]]]
            for tab, text in zip(tabs, texts, strict=True):
                tab.on("dialog", lambda _: None)
                await tab.goto(f"data:text/html,{text}")
            await tabs[0].bring_to_front()
            yield tabs

    return opened


@asynccontextmanager
async def trickle(text: str) -> AsyncIterator[tuple[str, asyncio.Event]]:
    """A file whose first half is sent at once, and the rest when the event is set."""
    finish = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = "HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=log.bin\r\n"
        head += f"Content-Type: application/octet-stream\r\nContent-Length: {len(text)}\r\n\r\n"
        half = len(text) // 2
        writer.write(head.encode() + text[:half].encode())
        await writer.drain()
        await finish.wait()
        writer.write(text[half:].encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", finish


async def open_alert_in(tab: Page) -> None:
    async with tab.expect_event("dialog"):
        await tab.evaluate("setTimeout(() => alert('mine'), 0)")


async def test_visible_tab_provides_context_and_selection(user_with_tabs, chrome):
    async with user_with_tabs(FRONT, "<title>Second</title>", "<title>Third</title>") as tabs:
        await tabs[0].evaluate("getSelection().selectAllChildren(b)")
        await open_alert_in(tabs[1])
        async with Browser.attach(chrome.cdp_url) as browser:
            context, _ = await browser.visible_page()
            assert context.title == "Front"
            assert context.selection == "selected words"
            assert "Alpha selected words omega" in context.visible_text
            listed = await browser.tabs()
    assert [(tab.title, tab.active, tab.ours) for tab in listed if tab.active] == [
        ("Front", True, False)
    ]
    assert {tab.title for tab in listed} == {"Front", "Second", "Third"}


async def test_context_includes_shadow_root_text(user_with_tabs, chrome):
    roots = "".join(
        f"<x-{mode}><template shadowrootmode={mode}><p>{mode}</p><style>p{{}}</style></template>"
        f"</x-{mode}>"
        for mode in ("open", "closed")
    )
    front = f"<title>Front</title><p>light</p>{roots}"
    async with user_with_tabs(front), Browser.attach(chrome.cdp_url) as browser:
        context, _ = await browser.visible_page()
    assert [line for line in context.visible_text.splitlines() if line] == [
        "light",
        "open",
        "closed",
    ]


async def test_attach_leaves_user_dialogs_and_tabs_unchanged(user_with_tabs, chrome, pages):
    path = pages.put("<button onclick=\"this.textContent='pressed'\">Press</button>")
    async with user_with_tabs(FRONT, "<title>Second</title>", "<title>Third</title>") as tabs:
        await open_alert_in(tabs[1])
        before = [await tab.evaluate(STATE) for tab in (tabs[0], tabs[2])]
        async with Browser.attach(chrome.cdp_url) as browser:
            tab = await browser.open(pages.base + path)
            outcome = await tab.click(ref(await tab.snapshot(), "button Press"))
            assert "pressed" in outcome.changes
            assert [await t.evaluate(STATE) for t in (tabs[0], tabs[2])] == before
        assert [await tab.evaluate(STATE) for tab in (tabs[0], tabs[2])] == before
        with pytest.raises(TimeoutError):  # the alert still holds its page
            async with asyncio.timeout(0.5):
                await tabs[1].evaluate("1")
        assert len(tabs[0].context.pages) == 3
    async with httpx2.AsyncClient() as http:
        assert (await http.get(f"{chrome.cdp_url}/json/version")).status_code == 200


async def test_attach_does_not_interrupt_user_download(user_with_tabs, chrome, pages, tmp_path):
    text = "kelp " * 1_000
    async with user_with_tabs(FRONT) as tabs, trickle(text) as (url, finish):
        session = await tabs[0].context.browser.new_browser_cdp_session()
        kept = {"behavior": "allow", "downloadPath": str(tmp_path), "eventsEnabled": True}
        await session.send("Browser.setDownloadBehavior", kept)
        begun, done = asyncio.Event(), asyncio.Event()
        session.on("Browser.downloadWillBegin", lambda _: begun.set())
        session.on("Browser.downloadProgress", lambda e: e["state"] == "completed" and done.set())
        await tabs[0].evaluate(f"location.href = '{url}'")
        async with asyncio.timeout(20):
            await begun.wait()
            async with Browser.attach(chrome.cdp_url) as browser:
                await browser.open(pages.base + pages.put("<p>beside it</p>"))
            finish.set()
            await done.wait()
    assert (tmp_path / "log.bin").read_text() == text


async def test_data_url_download_is_read_from_its_link(
    user_with_tabs, chrome, pages, tmp_path, monkeypatch
):
    monkeypatch.setattr("browser.page.tab.FIRST_BYTE_SECONDS", 0.1)
    page = pages.put("<a download=a.txt href='data:text/plain,kelp'>Export</a>")
    async with user_with_tabs(FRONT) as tabs, Browser.attach(chrome.cdp_url) as browser:
        session = await tabs[0].context.browser.new_browser_cdp_session()
        folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
        await session.send("Browser.setDownloadBehavior", folder)
        tab = await browser.open(pages.base + page)
        file = await tab.download(ref(await tab.snapshot(), "link Export"))
        assert (file.name, file.path.read_text()) == ("a.txt", "kelp")
        file.path.unlink()


async def test_tab_opened_by_our_tab_closes_with_the_session(user_with_tabs, chrome, pages):
    target = pages.put("<h1>Opened</h1>")
    opener = pages.put(f"<a href='{target}' target=_blank>open</a>")
    async with user_with_tabs(FRONT) as tabs:
        async with Browser.attach(chrome.cdp_url) as browser:
            tab = await browser.open(pages.base + opener)
            outcome = await tab.click(ref(await tab.snapshot(), "link open"))
            assert any(event.startswith("new tab") for event in outcome.events)
            assert [info.ours for info in await browser.tabs()] == [True, True, False]
        async with Browser.attach(chrome.cdp_url) as browser:
            assert [info.ours for info in await browser.tabs()] == [False]
        assert await tabs[0].title() == "Front"


async def test_tabs_opened_and_closed_by_user_are_tracked(user_with_tabs, chrome):
    async with user_with_tabs(FRONT) as tabs, Browser.attach(chrome.cdp_url) as browser:
        extra = await tabs[0].context.new_page()
        await extra.goto("data:text/html,<title>Extra</title>")
        assert "Extra" in {tab.title for tab in await browser.tabs()}
        await extra.close()
        assert "Extra" not in {tab.title for tab in await browser.tabs()}


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1", "ws://127.0.0.1:1/devtools", "nonsense", "1"]
)
async def test_attach_fails_if_no_chrome_answers(address):
    with pytest.raises(AttachFailed):
        async with Browser.attach(address):
            pass


async def test_attach_fails_if_server_is_not_a_browser(pages):
    with pytest.raises(AttachFailed, match="not a browser"):
        async with Browser.attach(pages.base):
            pass


async def test_profile_in_use_is_refused(chrome):
    with pytest.raises(LaunchFailed, match="in use"):
        await users_chrome(chrome.profile)


def listening() -> set[str]:
    """Addresses with a listener, as Linux writes them: hex address, colon, hex port."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    return {row[1] for row in rows if row[3] == "0A"}


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="read from Linux's table")
async def test_launched_chrome_listens_only_on_loopback(chrome):
    port = int(chrome.cdp_url.rpartition(":")[2])
    bound = listening()
    assert f"0100007F:{port:04X}" in bound
    assert f"00000000:{port:04X}" not in bound


@pytest.mark.parametrize("way", ["redirect", "script", "through", "click"])
@pytest.mark.row(n=8)
@pytest.mark.sample(2)
async def test_navigation_to_private_address_is_reported_and_not_read(chrome, pages, way):
    inside = pages.other + pages.put("<p>router settings</p>")
    bodies = {
        "redirect": {"text": "", "status": "302", "location": inside},
        "through": {"text": "", "status": "302", "location": inside},
        "script": {"text": f"<script>location = '{inside}'</script>"},
        "click": {"text": f"<a href='{inside}'>on</a>"},
    }
    if way == "through":
        back = pages.base + pages.put("<p>public again</p>")
        bodies[way]["location"] = pages.other + pages.put("", status="302", location=back)
    path = pages.put(**bodies[way])
    named = EgressPolicy(allow_private=(pages.base,))
    async with (
        Egress(named) as egress,
        Browser.attach(chrome.cdp_url, egress.guard.check_resolved_url) as own,
    ):
        with pytest.raises(Refused, match=r"led to http://localhost.*loopback address"):
            await follow_link_on(own, pages.base + path)
        if way == "click":
            assert "router" not in await own.tab("t1").rendered_html()


async def follow_link_on(browser: Browser, url: str) -> None:
    tab = await browser.open(url)
    await tab.click(ref(await tab.snapshot(), "link on"))


async def test_pdf_page_or_frame_is_named_and_read(user_with_tabs, chrome, pages):
    pages.put(PDF, "/report.pdf", content_type="application/pdf")
    address = pages.base + pages.put("<a href=/report.pdf>Report</a><iframe src=/report.pdf>")
    async with user_with_tabs(FRONT), Browser.attach(chrome.cdp_url) as browser:
        tab = await browser.open(address)
        await tab.wait_for(f"(a PDF: READ {pages.base}/report.pdf)")
        outcome = await tab.click(ref(await tab.snapshot(), "link Report"))
        assert "the browser shows a PDF: READ" in outcome.changes
        page = await read_rendered(tab)
    assert page.document.text.strip() == "The mast of Hesk Light"
