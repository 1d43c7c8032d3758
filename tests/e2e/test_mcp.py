"""`research mcp`: the tools as seen by an official SDK client, over both transports."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

from tests.conftest import COMMAND
from tests.loopback import Held, HeldSite, serving
from tests.mcp_client import serving_mcp

QUESTION = "When was Hesk Light first lit?"
TOOLS = ["research", "read", "search", "verify", "audit", "recheck", "memory_search", "memory_get"]
TOKEN = "a-token-of-the-tests"


@pytest.fixture
def flags(site, tmp_path):
    """The flags with which a server searches the bundled web."""
    return ["--search", "searxng", "--searxng-url", site.url, "--data-dir", str(tmp_path / "data")]


@pytest.fixture
def environ(tmp_path):
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "RESEARCH_MCP_TOKEN": TOKEN,
        "PYTHON_KEYRING_BACKEND": os.environ["PYTHON_KEYRING_BACKEND"],
    }


@pytest.fixture
def client(flags, environ, commands):
    """Create a client with its own server at the other end of the standard streams."""

    def made(*more: str, **how) -> Client:
        return Client(serving_mcp(commands, *flags, *more, env=environ), **how)

    return made


@asynccontextmanager
async def over_http(commands, flags, environ):
    """Serve over HTTP until the block ends; yields the address."""
    server = commands.start(str(COMMAND), "mcp", "serve", "--http", *flags, env=environ)
    try:
        yield (await asyncio.to_thread(server.stdout.readline)).decode().strip()
    finally:
        os.kill(server.pid, signal.SIGTERM)
        await asyncio.to_thread(server.communicate)


def result_text(result) -> str:
    return result.content[0].text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.sample(1)
async def test_mcp_research_reports_progress_and_matches_cli_report(client, run, web, mode):
    steps = []

    async def told(_number, _total, message):
        steps.append(message)

    async with client("--no-memory", mode=mode) as served:
        assert [tool.name for tool in (await served.list_tools()).tools] == TOOLS[:6]
        result = await served.call_tool("research", {"question": QUESTION}, progress_callback=told)
        data = result.structured_content
        links = [str(link.uri) for link in result.content[1:]]
        read = [(await served.read_resource(uri)).contents[0].text for uri in links]
    shell = json.loads(run(QUESTION, *web, "--json").stdout)
    assert data["answer"] == shell["answer"]
    assert data["confidence"] == shell["confidence"]
    assert [s["quotes"] for s in data["sources"]] == [s["quotes"] for s in shell["sources"]]
    assert "1 November 1829" in result_text(result)
    assert steps[0] == f"run {data['run']}"
    assert any(step.startswith("read S1") for step in steps)
    assert read[0].startswith(f"# {QUESTION}")
    assert "The granite tower is 34 metres high" in read[1]


async def test_mcp_client_can_search_read_and_verify_claims(client, site):
    page = f"{site.url}/hesk-light"
    async with client("--deny", "denied.test") as served:
        found = await served.call_tool("search", {"query": "Hesk Light"})
        read = await served.call_tool("read", {"url": page})
        whole = await served.read_resource(str(read.content[1].uri))
        claims = [
            "It was first lit on 1 November 1829.",
            "The granite tower is 35 metres high and has 166 steps.",
            "Nobody painted it.",
        ]
        pages = {"urls": [page, "http://denied.test/"]}
        checked = await served.call_tool("verify", {"claims": claims, **pages})
        texts = {"claims": ["The bell is red."], "texts": ["The bell is red. It rang."]}
        against_text = await served.call_tool("verify", texts)
        nothing = await served.call_tool("verify", {"claims": ["The bell is red."]})
    assert page in [hit["url"] for hit in found.structured_content["results"]]
    assert result_text(read).count("<web source=") == 1
    assert "S1¶1 Hesk Light is the oldest" in read.structured_content["text"]
    assert "a bell warned ships" in whole.contents[0].text
    verdicts = checked.structured_content["verdicts"]
    states = ["supported", "contradicted", "undecided"]
    assert [row["verdict"] for row in verdicts] == states
    assert verdicts[0]["words"] == claims[0]
    assert verdicts[0]["url"] == page
    assert [row["url"] for row in checked.structured_content["not_read"]] == pages["urls"][1:]
    assert result_text(against_text).startswith("supported")
    assert nothing.is_error


async def test_audit_checks_draft_against_its_citations(client, site):
    page = f"{site.url}/hesk-light"
    draft = f"It was first lit on 1 November 1831 ([Hesk Light]({page}))."
    async with client() as served:
        made = await served.call_tool("audit", {"draft": draft})
        [link] = [one for one in made.content if getattr(one, "name", "") == "report"]
        report = await served.read_resource(str(link.uri))
        uncited = await served.call_tool("audit", {"draft": "Nothing is cited here."})
    [fault] = made.structured_content["faults"]
    assert fault["what"] == "It was first lit on 1 November 1831."
    assert made.structured_content["references"] == [{"url": page, "state": "ok"}]
    assert "Audit of draft.md" in report.contents[0].text
    assert uncited.is_error


async def test_recheck_verifies_report_by_run_id(client, site):
    page = f"{site.url}/hesk-light"
    draft = f"It was first lit on 1 November 1829 ([Hesk Light]({page}))."
    async with client() as served:
        made = await served.call_tool("audit", {"draft": draft})
        again = await served.call_tool("recheck", {"run": made.structured_content["run"]})
        unknown = await served.call_tool("recheck", {"run": "/etc/report.json"})
    [row] = again.structured_content["rechecked"]
    assert (row["state"], row["url"]) == ("stands", page)
    assert "Still supported: 1 of 1" in result_text(again)
    assert unknown.is_error


async def test_refused_file_does_not_restrict_rest_of_session(client, site):
    async with client() as served:
        refused = await served.call_tool("read", {"url": "file:///etc/passwd"})
        found = await served.call_tool("search", {"query": "Hesk Light"})
    assert refused.is_error
    assert found.structured_content["results"]


async def test_memory_can_be_searched_and_fetched(client, run, flags):
    run("memory", "remember", "boat", "The boat's name is Ottilie.", *flags[-2:])
    async with client() as served:
        [hit] = (await served.call_tool("memory_search", {"query": "boat"})).structured_content[
            "results"
        ]
        whole = await served.call_tool("memory_get", {"id": hit["id"]})
        missing = await served.call_tool("memory_get", {"id": 999})
    assert "Ottilie" in hit["text"]
    assert result_text(whole) == "The boat's name is Ottilie."
    assert missing.is_error


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("yes", [True, False, None])
async def test_searching_number_from_memory_requires_approval(client, run, flags, yes, mode):
    run("memory", "remember", "boat", "The boat is insured as 20481937756.", *flags[-2:])
    asked = []

    async def elicited(_context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"yes": yes})

    how = {} if yes is None else {"elicitation_callback": elicited}
    async with client(mode=mode, **how) as served:
        await served.call_tool("memory_search", {"query": "boat"})
        result = await served.call_tool("search", {"query": "20481937756"})
    assert bool(result.is_error) is not bool(yes)
    assert len(asked) == (yes is not None)
    assert all("20481937756" in question for question in asked)


async def test_mcp_errors_explain_what_to_do(client):
    async with client("--deny", "denied.test") as served:
        refused = await served.call_tool("read", {"url": "http://denied.test/"})
        wrong = await served.call_tool("research", {"question": QUESTION, "since": "soon"})
        with pytest.raises(MCPError, match="no run"):
            await served.read_resource("research://runs/nope/report.md")
    assert [r.is_error for r in (refused, wrong)] == [True] * 2
    assert "denied.test" in result_text(refused)
    assert "a date such as" in result_text(wrong)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_cancelled_mcp_run_stops_and_can_be_resumed(client, run, script, site, mode):
    with serving(Held, HeldSite) as held:
        model = script(
            f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
            f'<<TOOL:READ:{{"url":"{held.url}/boat"}}>>',
            "It was first lit on 1 November 1829. [S1]",
        )
        private = held.url.removeprefix("http://")
        more = ("--model", model, "--allow-private", private, "--no-memory")
        async with client(*more, mode=mode) as served:
            asking = asyncio.create_task(served.call_tool("research", {"question": QUESTION}))
            await asyncio.to_thread(held.asked.wait)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert not (await served.call_tool("search", {"query": "Hesk Light"})).is_error
        held.open.set()
        [row] = json.loads(run("runs", "--json").stdout)
        assert row["status"] != "answered"
        resumed = run("resume", row["run"])
    assert "1 November 1829" in resumed.stdout
    assert resumed.returncode == 0


@pytest.mark.row(n=23)
async def test_mcp_http_requires_token_and_rejects_browser_origins(commands, flags, environ):
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        over_http(commands, flags, environ) as address,
        httpx2.AsyncClient(headers=bearer) as http,
    ):
        async with Client(streamable_http_client(address, http_client=http)) as served:
            assert [tool.name for tool in (await served.list_tools()).tools] == TOOLS
            assert "Hesk Light" in result_text(
                await served.call_tool("search", {"query": "Hesk Light"})
            )
        assert address.startswith("http://127.0.0.1:")
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        for headers, status in (
            ({"Authorization": ""}, 401),
            ({"Authorization": f"Bearer {TOKEN}x"}, 401),
            ({"Host": "rebound.test"}, 421),
            ({"Origin": "http://rebound.test"}, 403),
        ):
            refused = await http.post(address, json=body, headers=headers)
            assert refused.status_code == status, headers


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="ports are told by Linux alone")
@pytest.mark.row(n=23)
def test_stdio_server_opens_no_port(flags, environ):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "t", "version": "1"}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(
        [COMMAND, "mcp", "serve", "--browser", *flags], env=environ, **pipes
    ) as it:
        it.stdin.write(json.dumps(asked) + "\n")
        it.stdin.flush()
        assert "serverInfo" in it.stdout.readline()
        own = {str(fd.readlink()) for fd in Path(f"/proc/{it.pid}/fd").iterdir()}
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        listening = {f"socket:[{row[9]}]" for row in rows if row[3] == "0A"}
        it.stdin.close()
    assert own.isdisjoint(listening)


def test_short_mcp_token_is_rejected(run):
    done = run("mcp", "serve", "--http", RESEARCH_MCP_TOKEN="short")
    assert done.returncode == 2
    assert "16 characters" in done.stderr


async def test_generated_client_config_starts_the_server(run, environ, flags):
    started = []
    for program in ("claude", "cursor", "vscode"):
        settings = json.loads(run("mcp", "config", program, *flags, "--no-memory").stdout)
        [servers] = settings.values()
        command, args = servers["urchin"]["command"], servers["urchin"]["args"]
        started.append(StdioServerParameters(command=command, args=args, env=environ))
    assert started[1:] == started[:1] * 2  # only the surrounding settings differ
    async with Client(started[0]) as served:
        assert [tool.name for tool in (await served.list_tools()).tools] == TOOLS[:6]


@pytest.fixture
def lacking(tmp_path, environ):
    """Run the installed command in an environment where the SDK cannot be loaded."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['mcp'] = None\n")
    env = environ | {"PYTHONPATH": str(tmp_path)}

    def running(*args: str):
        return subprocess.run(
            [COMMAND, *args], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return running


def test_missing_mcp_extra_is_named(lacking):
    done = lacking("mcp", "serve")
    assert done.returncode == 2
    assert "pip install 'urchin-research[mcp]'" in done.stderr


def test_plain_question_does_not_load_mcp_sdk(lacking, web):
    done = lacking("How long is Sunnock Pier?", *web)
    assert (done.returncode, "184 metres" in done.stdout) == (0, True)
