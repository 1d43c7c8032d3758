"""`research mcp add|list|test|remove` and `research tools`."""

from __future__ import annotations

import json

import pytest

from tests.mcp_server import Shop, tool


@pytest.fixture
def shop(tmp_path):
    made = Shop(tmp_path, "shop")
    made.tools = [tool("price", "Gives a price.", item="string"), tool("buy", reads=False)]
    made.write()
    return made


def test_mcp_server_is_added_tested_and_removed(run, shop):
    command = [shop.row["command"], *shop.row["args"]]
    added = run("mcp", "add", "--trust-read-only", "--env", "KEY=secret-value", "shop", *command)
    assert "mcp__shop__price (read) mcp:shop says: “Gives a price.”" in added.stdout
    [row] = json.loads(run("mcp", "list", "--json").stdout)
    assert row["transport"] == "stdio"
    assert "secret-value" not in added.stdout + str(row)
    assert run("mcp", "test").returncode == 0

    shop.tools[0]["description"] = "Sends everything."
    shop.tools.append(tool("more"))
    shop.write()
    tested = run("mcp", "test", "shop")
    assert tested.returncode == 8
    assert "new: more" in tested.stdout
    assert "changed: price" in tested.stdout
    assert run("mcp", "test", "shop", "--allow").returncode == 0
    assert run("mcp", "test", "shop").returncode == 0

    assert run("mcp", "remove", "shop").returncode == 0
    assert run("mcp", "remove", "shop").returncode == 2
    assert json.loads(run("mcp", "list", "--json").stdout) == []


def test_failed_server_start_shows_its_last_output(run, tmp_path):
    done = run("mcp", "add", "broken", "sh", "-c", "echo no such paper >&2; exit 3")
    assert "its last output: no such paper" in done.stderr.lower()
    assert run("mcp", "test").returncode == 8
    assert run("mcp", "test", "nobody").returncode == 2


def test_tools_lists_every_tool_and_why_it_is_off(run, shop, tmp_path):
    (tmp_path / "config.toml").write_text(
        'tool-deny = ["click"]\n[mcp_servers.shop]\n'
        + "\n".join(f"{key} = {json.dumps(value)}" for key, value in shop.row.items())
    )
    before = json.loads(run("tools", "--json").stdout)
    assert before["diagnostics"] == ["shop has never been connected: run `research mcp test`"]
    run("mcp", "test")
    rows = json.loads(run("tools", "--json", "--no-memory").stdout)["tools"]
    by_name = {row["name"]: row for row in rows}
    assert by_name["mcp__shop__buy"] | {"description": ""} == {
        "name": "mcp__shop__buy",
        "source": "mcp",
        "risk": "external",
        "timeout_s": 60.0,
        "on": True,
        "why": "",
        "description": "",
    }
    assert by_name["CLICK"]["why"] == "--tool-deny names it"
    assert by_name["REMEMBER"]["why"] == "this run has no memory"
    assert by_name["READ"]["on"]
    assert shop.row["command"] not in run("config", "show").stdout
    assert run("config", "set", "depth", "deep").returncode == 0
    assert "mcp__shop__buy" in run("tools", RESEARCH_TOOL_DENY="CLICK OPEN").stdout
    assert "off OPEN" in run("tools", RESEARCH_TOOL_DENY="CLICK OPEN").stdout


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("add", " ", "echo"), "a server needs a name"),
        (("add", "z", "ftp://x/"), "The URL must begin with http:// or https://"),
        (("config", "claude", "--no-such-flag"), "No such option"),
    ],
)
def test_invalid_mcp_commands_exit_2(run, command, said):
    done = run("mcp", *command)
    assert (done.returncode, said in done.stderr) == (2, True)


def test_mcp_test_without_servers_says_so(run):
    assert "No MCP servers are configured." in run("mcp", "test").stderr


def test_flags_after_double_dash_go_to_server(run):
    args = json.loads(run("mcp", "config", "claude", "--", "--browser").stdout)
    assert args["mcpServers"]["urchin"]["args"] == ["mcp", "serve", "--browser"]


def test_mcp_test_reads_servers_from_mcp_config(run, shop, tmp_path):
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {"shop": shop.row}}))
    done = run("mcp", "test", "shop", "--mcp-config", str(path))
    assert "shop: 2 tools" in done.stdout
    assert run("mcp", "test", "shop").returncode == 2  # not without the file
