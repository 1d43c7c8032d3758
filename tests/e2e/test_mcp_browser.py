"""`research mcp serve --browser`: playwright-mcp's tools, with its names and arguments."""

from __future__ import annotations

import json
import re
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from mcp import Client
from mcp.types import ElicitResult

from agent.mcp.server import make_server
from agent.mcp.tool_session import open_session
from agent.options import Options
from tests.loopback import Handler, serving

ASKING = b"""<title>Asking</title><h1>Questions</h1>
<button onclick="tries = (window.tries || 0) + 1;
  document.title = tries + (confirm('Sell it?') ? ' sold '+ prompt('Why?') : ' kept')">Sell</button>
<button onclick="opened = (window.opened || 0) + 1; this.nextSibling.click()">Attach</button><input
  type=file multiple hidden onchange="document.title = [...this.files].map(f => f.name) + opened"
>
<div role=region aria-label=Bin ondragover="event.preventDefault()"
  ondrop="document.title = event.dataTransfer.getData('text/plain')">Bin</div>
<script>console.error('out of paper'); console.log('plain words')
fetch('/', {method: 'POST', body: 'boat=Ottilie', headers: {authorization: 'hush'}})</script>"""


class Asking(Handler):
    def get(self) -> None:
        self.send(200, "text/html", ASKING)

    def post(self, body: bytes) -> None:
        self.send(200, "text/plain", b"heard " + body)


@asynccontextmanager
async def browsing(folder, *hosts: str, file=(), asked=None):
    """A client of a server with our browser; yields a function that calls a tool by short name.

    `asked` records what the user is asked; the user approves.
    """
    asked = [] if asked is None else asked
    own = {"data_dir": folder, "memory": False, "file": file}
    private = tuple(host.partition("://")[2] for host in hosts)
    async with open_session(lambda: Options(allow_private=private, **own)) as session:
        server = make_server(session, {}, browser=True)

        async def agrees(_context, params):
            asked.append(params.message)
            return ElicitResult(action="accept", content={"yes": True})

        async with Client(server, elicitation_callback=agrees) as client:

            async def call(tool: str, *, fails: bool = False, **given):
                made = await client.call_tool(f"browser_{tool}", given)
                assert bool(made.is_error) is fails, made
                return getattr(made.content[0], "text", made.content[0])

            yield call, session


def ref(shown: str, name: str) -> str:
    """Return an element's ref by the text after it."""
    return re.search(rf"\[(e\d+)[^\]\n]*{re.escape(name)}", shown)[1]


async def test_form_is_filled_and_submitted_like_playwright_mcp(tmp_path, site):
    async with browsing(tmp_path, site.url) as (call, session):
        page = await call("navigate", url=f"{site.url}/berth-request")
        assert page.startswith("Berth request")
        fields = [
            {"target": ref(page, "Name of the boat"), "type": "textbox", "value": "Ottilie"},
            {"target": ref(page, "Length in metres"), "type": "textbox", "value": "9"},
            {"target": ref(page, "Nights"), "type": "textbox", "value": "2"},
            {"target": ref(page, "Shore power"), "type": "checkbox", "value": "true"},
            {"target": ref(page, "select: Harbour"), "type": "combobox", "value": "Sunnock Pier"},
        ]
        await call("fill_form", fields=[{"name": "a field", **field} for field in fields])
        tab = (await session.web()).tab
        held = "[...document.querySelectorAll('main input, select')].map(f => f.value)"
        assert [*(await tab.page.evaluate(held))][:3] == ["Ottilie", "9", "2"]
        assert await tab.page.evaluate("document.querySelector('[type=checkbox]').checked")
        sent = await call("click", target=ref(page, "Work out the fee"))
        assert len(sent) < len(page)
        assert "Ottilie" in await call("find", text="Ottilie")
        assert await call("find", regex="/no such words/i") == "no line matches"
        assert "berth-request" in await call("navigate_back")
        await call("press_key", key="End")
        assert "(current)" in await call("tabs", action="list")
        await call("click", fails=True, target="e9999")


async def test_dialogs_files_console_requests_and_pictures(tmp_path):
    receipt = tmp_path / "receipt.txt"
    receipt.write_text("40 euro")
    note = tmp_path / "note.txt"
    note.write_text("paid")
    asked: list[str] = []
    with serving(Asking, str) as address:
        own = {"file": (receipt, note), "asked": asked}
        async with browsing(tmp_path / "data", address, **own) as (call, session):
            page = await call("navigate", url=f"{address}/")
            tab = (await session.web()).tab
            assert 'confirm "Sell it?"' in await call("click", target=ref(page, "Sell"))
            assert 'confirm "Sell it?"' in await call("snapshot")
            await call("handle_dialog", accept=False)
            assert tab.title == "1 kept"
            await call("click", target="text=Sell")
            assert 'prompt "Why?"' in await call("handle_dialog", accept=True)
            await call("handle_dialog", accept=True, promptText="rust")
            assert tab.title == "2 sold rust"
            await call("handle_dialog", fails=True, accept=True)
            await call("click", target=ref(page, "Attach"))
            await call("file_upload", fails=True, paths=["/etc/hostname"])
            await call("file_upload", paths=[str(receipt), str(note)])
            assert tab.title == "receipt.txt,note.txt1"
            assert f"upload {receipt}, {note} to" in asked[-1]
            await call("drop", target="[aria-label=Bin]", data={"text/plain": "a word"})
            assert tab.title == "a word"
            await call("drop", fails=True, target=ref(page, "Sell"), data={"text/plain": "a"})
            await call("click", fails=True, target="button")
            assert "[error] out of paper" in await call("console_messages", level="warning")
            assert "[info] plain words" in await call("console_messages")
            listed = await call("network_requests")
            assert f"GET {address}/ 200" in listed
            number = re.search(r"(\d+)\. POST", listed)[1]
            whole = await call("network_request", index=number)
            assert "authorization: (hidden)" in whole.lower()
            assert "hush" not in whole
            sent = await call("network_request", index=number, part="request-body")
            assert "boat=Ottilie" in sent
            got = await call("network_request", index=number, part="response-body")
            assert "heard boat=Ottilie" in got
            await call("emulate_media", colorScheme="dark")
            dark = "matchMedia('(prefers-color-scheme: dark)').matches"
            assert await tab.page.evaluate(dark)
            await call("resize", width=500, height=400)
            assert await tab.page.evaluate("innerWidth") == 500
            assert (await call("take_screenshot")).mime_type == "image/png"
            told = await call("evaluate", function="() => { document.title = 'Ran'; return [1] }")
            assert "ran a script" in told
            assert "[1]" in told
            assert tab.title == "Ran"
            attach = ref(page, "Attach")
            named = await call("evaluate", function="e => e.textContent", target=attach)
            assert '"Attach"' in named
            await call("evaluate", fails=True, function="() => nothing.there")
            await call("tabs", action="new", url=f"{address}/")
            await call("tabs", action="select", index=0)
            assert (await call("tabs", action="list")).startswith("0: (current) Ran")
            assert "0: (current)" in await call("tabs", action="close")
            await call("close")
            await call("snapshot", fails=True)


async def test_evaluate_on_logged_in_site_requires_approval(tmp_path):
    asked: list[str] = []
    with serving(Asking, str) as address:
        async with browsing(tmp_path / "data", address, asked=asked) as (call, session):
            await call("navigate", url=f"{address}/")
            await call("evaluate", function="() => 1")
            assert asked == []
            session.provenance.sites.add("127.0.0.1")
            await call("evaluate", function="() => 2")
            assert "EVALUATE" in asked[-1]
            assert "() => 2" in asked[-1]
            # The question is not lost behind the dialog that is still open.
            assert "Sell it?" in await call("click", target="text=Sell")
            await call("handle_dialog", accept=False)
            assert "DIALOG" in asked[-1]
            assert (await session.web()).tab.title == "1 kept"


async def test_private_addresses_are_blocked_in_browser_tools(tmp_path, site):
    async with browsing(tmp_path) as (call, _):
        assert "private" in await call("navigate", fails=True, url=site.url)


@pytest.mark.parametrize("wait", [{"text": "Berth"}, {"textGone": "Never there"}])
async def test_wait_for_returns_when_condition_holds(tmp_path, site, wait):
    async with browsing(tmp_path, site.url) as (call, _):
        await call("navigate", url=f"{site.url}/berth-request")
        [waited_for] = wait.values()
        assert waited_for in await call("wait_for", **wait)
        assert "Never there" in await call("wait_for", fails=True, text="Never there", time=0.1)


async def test_wait_for_gone_without_page_does_not_report_gone(tmp_path):
    async with browsing(tmp_path) as (call, _):
        assert "gone" not in await call("wait_for", fails=True, textGone="Berth")


async def test_running_server_picks_up_changed_settings(tmp_path):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tide.md").write_text(
            f"# Tide\n\nThe tide clock is in the {name} harbour."
        )
    now = Options(data_dir=tmp_path / "data", search=("corpus",), corpus=tmp_path / "old")
    async with open_session(lambda: now) as session, Client(make_server(session, {})) as client:
        asked = {"query": "Where is the tide clock?"}
        before = await client.call_tool("search", asked)
        now = replace(now, corpus=tmp_path / "new")
        after = await client.call_tool("search", asked)
    assert ["old harbour" in str(before), "new harbour" in str(after)] == [True, True]
    assert "old harbour" not in str(after)


async def test_tool_definitions_stay_short(tmp_path):
    async with open_session(lambda: Options(data_dir=tmp_path)) as session:
        tools = await make_server(session, {}, browser=True).list_tools()
    read = [
        {"name": t.name, "description": t.description, "input_schema": t.input_schema}
        for t in tools
    ]
    assert len(read) == 32
    assert len(json.dumps(read, separators=(",", ":"))) <= 9_000
    assert all("  " not in t.description for t in tools)


async def test_errors_name_tools_known_to_the_client(tmp_path):
    async with browsing(tmp_path) as (call, _):
        said = await call("snapshot", fails=True)
    assert "no page is open" in said
    assert "browser_navigate a page first" in said
