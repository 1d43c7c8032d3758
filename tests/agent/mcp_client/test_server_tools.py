"""MCP server tools in runs: listed, called, lost, changed, and what may be sent to them."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer

from agent.guard.provenance import Kind
from tests.mcp_server import tool

CALL = '<<TOOL:mcp__shop__price:{"item":"kettle"}>>'
ANSWER = "The blue kettle costs 40 euro. [{{1}}]"


async def test_tool_result_is_a_citable_source(ask, shop, script, events):
    report = await ask(
        "What does the kettle cost?",
        model=script(CALL, {"reply": ANSWER, "expect": '<web source="mcp:shop">'}),
        mcp_servers=shop.write(),
    )
    [sentence], [source] = report.sentences, report.sources
    assert sentence.verdict == "supported"
    assert (source.via, source.title) == ("mcp", 'shop: price({"item":"kettle"})')
    assert source.url == "mcp://shop/price?%7B%22item%22%3A%22kettle%22%7D"
    noted = next(e.data for e in events(report) if e.type == "tools.offered")
    assert noted["on"]["mcp"] == ["mcp__shop__price"]
    system = next(e.data["system"] for e in events(report) if e.type == "model.request")
    assert "`mcp__shop__price(item)` mcp:shop says: “Gives a price.”" in system


async def test_server_starts_only_when_its_tool_is_called(ask, shop, script, run):
    servers = shop.write()
    await ask(model=script("NOT_FOUND I did not look.", "NOT_FOUND no."), mcp_servers=servers)
    assert shop.starts == 1  # its tools were not known yet
    await ask(model=script("NOT_FOUND I did not look.", "NOT_FOUND no."), mcp_servers=servers)
    await ask(mcp_servers=servers)  # the extractive model calls no third-party tools
    assert shop.starts == 1
    await ask(model=script(CALL, ANSWER), mcp_servers=servers)
    assert shop.starts == 2


async def test_crashing_server_is_reported_and_disabled_after_three_crashes(
    ask, shop, script, results
):
    shop.tools.append(tool("burn", "Burns."))
    shop.results["burn"] = "die"
    burn = "<<TOOL:mcp__shop__burn>>"
    report = await ask(
        model=script(burn, burn, burn, CALL, "NOT_FOUND nothing works."), mcp_servers=shop.write()
    )
    told = [row["data"].get("error", "") for row in results(report)]
    assert all("connection to shop was lost while running burn" in said for said in told[:3])
    assert "out of paper" in results(report)[0]["hint"]
    assert "can be called again in" in told[3]
    assert shop.starts == 3
    assert report.status == "not_found"


async def test_crashed_server_is_restarted(ask, shop, script, results):
    shop.tools.append(tool("burn", "Burns."))
    shop.results["burn"] = "die"
    report = await ask(
        model=script("<<TOOL:mcp__shop__burn>>", CALL, ANSWER), mcp_servers=shop.write()
    )
    assert "error" not in results(report)[1]["data"]
    assert shop.starts == 2


async def test_server_that_fails_to_start_is_a_diagnostic(ask, shop, script, events):
    servers = shop.write() | {"gone": {"command": "/no/such/program"}}
    report = await ask(model=script(CALL, ANSWER), mcp_servers=servers)
    noted = next(e.data for e in events(report) if e.type == "tools.offered")
    assert "cannot connect to gone" in noted["diagnostics"][0]
    assert report.status == "answered"


@pytest.mark.parametrize(("yes", "allowed"), [(None, False), (False, False), (True, True)])
async def test_tool_with_side_effects_needs_approval(ask, shop, script, results, yes, allowed):
    shop.tools = [tool("buy", "Buys.", reads=False, item="string")]
    asked = []

    async def approve(effect):
        asked.append(effect)
        return yes

    report = await ask(
        model=script('<<TOOL:mcp__shop__buy:{"item":"kettle"}>>', "NOT_FOUND done."),
        mcp_servers=shop.write(),
        approve=None if yes is None else approve,
    )
    assert ("error" not in results(report)[0]["data"]) is allowed
    assert asked == ([] if yes is None else ['call mcp__shop__buy with {"item":"kettle"}'])


@pytest.mark.parametrize("trusted", [True, False])
async def test_read_only_hint_is_trusted_only_if_user_allows(ask, shop, script, results, trusted):
    shop.row["trustReadOnly"] = trusted
    report = await ask(model=script(CALL, "NOT_FOUND done."), mcp_servers=shop.write())
    assert ("error" in results(report)[0]["data"]) is not trusted


async def test_refused_call_reads_no_private_context(ask, shop, script, events, tmp_path):
    shop.row["trustReadOnly"] = False
    unknown = '<<TOOL:mcp__shop__steal:{"item":"x"}>>'
    refused = '<<TOOL:READ:{"url":"file:///etc/passwd"}>>'
    missing = f'<<TOOL:READ:{{"url":"{(tmp_path / "none.md").as_uri()}"}}>>'
    report = await ask(
        model=script(CALL, unknown, refused, missing, "NOT_FOUND no."), mcp_servers=shop.write()
    )
    assert [e.data["origin"] for e in events(report) if e.type == "context.read"] == []


async def test_error_text_from_server_is_private_context(ask, shop, script, events):
    shop.results = {"price": {"isError": True, "content": [{"type": "text", "text": "No."}]}}
    report = await ask(model=script(CALL, "NOT_FOUND no."), mcp_servers=shop.write())
    assert [e.data["origin"] for e in events(report) if e.type == "context.read"] == ["tool"]


async def test_always_allowed_tool_needs_no_approval(ask, shop, script, results):
    shop.tools = [tool("buy", "Buys.", reads=False, item="string")]
    shop.row["alwaysAllow"] = ["b*"]
    report = await ask(
        model=script('<<TOOL:mcp__shop__buy:{"item":"kettle"}>>', "NOT_FOUND done."),
        mcp_servers=shop.write(),
    )
    assert "error" not in results(report)[0]["data"]


async def test_private_words_are_not_sent_to_other_server(ask, shop, script, results, tmp_path):
    diary = tmp_path / "diary.txt"
    diary.write_text("My diagnosis is sarcoidosis.")
    shop.results = {"price": "A pillow costs 30 euro in Trondheim."}
    report = await ask(
        "What do I need, says my diary?",
        model=script(
            '<<TOOL:mcp__shop__price:{"item":"sarcoidosis"}>>',
            '<<TOOL:mcp__shop__price:{"item":"need"}>>',
            '<<TOOL:mcp__shop__price:{"item":"Trondheim"}>>',
            '<<TOOL:WEB_SEARCH:{"query":"Trondheim"}>>',
            "NOT_FOUND no.",
        ),
        mcp_servers=shop.write(),
        file=[diary],
    )
    told = [row["data"].get("error", "") for row in results(report)]
    assert "“sarcoidosis” is not in the question, but in your file" in told[0]
    # A word of the question, one that the server itself said, and a search, which may hold any.
    assert told[1:] == ["", "", ""]
    assert report.status == "not_found"


async def test_tools_denied_by_source_or_pattern_report_it(ask, shop, script, results, events):
    report = await ask(
        model=script(CALL, '<<TOOL:OPEN:{"url":"http://127.0.0.1/"}>>', "NOT_FOUND no."),
        mcp_servers=shop.write(),
        mcp_tool_deny=["mcp__shop__*"],
        tool_deny=["open"],
    )
    told = [row["data"]["error"] for row in results(report)]
    assert told[0] == "mcp__shop__price is off: --mcp-tool-deny names it"
    assert told[1] == "OPEN is off: --tool-deny names it"
    closed = await ask(
        model=script(CALL, "NOT_FOUND."), mcp_servers=shop.write(), tool_sources=["domain"]
    )
    assert results(closed)[0]["data"]["error"] == "Unknown tool: mcp__shop__price"


@contextmanager
def served(app):
    """Serve an ASGI application on loopback until the block ends; yields its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = server.force_exit = True
    thread.join()


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_sdk_servers_are_reached_over_http(ask, script, results, kind):
    shop = MCPServer("shop")

    @shop.tool()
    def price(item: str) -> str:
        return f"The blue {item} costs 40 euro at the shop."

    app = shop.streamable_http_app() if kind == "http" else shop.sse_app()
    with served(app) as address:
        row = {"url": f"{address}/{'mcp' if kind == 'http' else 'sse'}", "alwaysAllow": ["*"]}
        report = await ask(model=script(CALL, ANSWER), mcp_servers={"shop": row})
    assert [s.verdict for s in report.sentences] == ["supported"], results(report)


async def test_context_read_names_the_server(ask, shop, script, events):
    report = await ask(model=script(CALL, ANSWER), mcp_servers=shop.write())
    heard = [e.data for e in events(report) if e.type == "context.read"]
    assert {"origin": Kind.TOOL, "site": "mcp:shop"} in heard
