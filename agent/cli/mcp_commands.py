"""`research mcp`: serve our tools over MCP, and manage the MCP servers that runs use."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from agent.cli.flags import (
    POSITIVE_AMOUNT,
    SERVER_FLAGS,
    data_dir_option,
    drop_unset,
    json_option,
    only_run_flags,
    option,
    port_option,
    run_flags,
    several,
    switch,
    token_option,
)
from agent.cli.terminal import note, plural, print_error, print_rows, print_text
from agent.config import LiveOptions, load_options, servers_path
from agent.errors import CHECK_FAILED, ResearchError, UsageError, requires_extra
from agent.mcp_client.server_settings import (
    find_servers,
    parse_settings,
    read_servers,
    write_servers,
)
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agent.mcp_client.server_settings import NamedServer
    from agent.options import Options

NO_SERVERS = ("No MCP servers are configured.", "`research mcp add NAME COMMAND…` adds one.")
NAME: Final = "urchin"
CLIENTS: Final = {
    "claude": "claude_desktop_config.json; Claude Code: .mcp.json in the project's folder",
    "cursor": "~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder",
    "vscode": ".vscode/mcp.json in the project's folder",
}
"""The settings file of each client."""
_PASS_REMAINING_ARGS = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""Flags after the first argument are passed to the program that is started."""


@click.group()
def mcp() -> None:
    """Serve tools over MCP to Claude, Cursor, VS Code and others; manage servers for runs."""


@mcp.command()
@switch("--http", "Use HTTP on loopback instead of stdio.")
@port_option(0)
@token_option("RESEARCH_MCP_TOKEN")
@switch("--browser", "Also offer browser tools, as playwright-mcp does.")
@run_flags(*SERVER_FLAGS, "--file")
def serve(*, http: bool, port: int, token: str | None, browser: bool, **flags: Any) -> None:
    """Run the MCP server. Accepts the same flags as `research ask`, for runs started by clients."""
    named = drop_unset(flags)
    live = LiveOptions(named, print_error).current
    with requires_extra("mcp"):
        from agent.mcp import server, transports  # noqa: PLC0415 - an extra, for these commands

    def make(session: Any) -> Any:
        return server.make_server(session, named, browser=browser)

    if not http:
        asyncio.run(transports.serve_stdio(live, make))
        return
    required = token or secrets.token_urlsafe(32)

    def ready(address: str) -> None:
        print(address, flush=True)
        if token is None:
            note(f"Authorization: Bearer {required}")

    asyncio.run(transports.serve_http(live, make, port=port, token=required, ready=ready))


@mcp.command(context_settings=_PASS_REMAINING_ARGS)
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def config(client: str, flags: tuple[str, ...]) -> None:
    """Print the settings for CLIENT; FLAGS are passed to `research mcp serve`."""
    flags = flags[1:] if flags[:1] == ("--",) else flags
    # Reject invalid flags now, while the user can see the message.
    serve.make_context("research mcp serve", list(flags))
    print(_client_settings(client, flags))
    note(f"Paste these settings into {CLIENTS[client]}.")


def _client_settings(client: str, flags: Sequence[str]) -> str:
    """Return a client's settings as JSON; `flags` are passed to `research mcp serve`."""
    # The full path, since a client that was not started from a shell may have a different PATH.
    beside = Path(sys.executable).with_name("research")
    command = str(beside) if beside.is_file() else shutil.which("research") or "research"
    row = {"command": command, "args": ["mcp", "serve", *flags]}
    if client == "vscode":
        return json.dumps({"servers": {NAME: {"type": "stdio", **row}}}, indent=2)
    return json.dumps({"mcpServers": {NAME: row}}, indent=2)


@mcp.command(name="list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the MCP servers that runs may use, with their addresses and settings files."""
    rows = [
        {
            "name": server.name,
            "transport": server.settings.transport,
            "reached": _address(server),
            "tools": f"mcp__{server.slug}__*",
            "disabled": server.settings.disabled,
            "file": str(server.origin),
        }
        for server in find_servers(load_options({}, config=True), config=True)
    ]
    print_rows(rows, _format_server, as_json=as_json, empty=NO_SERVERS)


def _format_server(row: dict[str, Any]) -> str:
    off = " (disabled)" if row["disabled"] else ""
    return f"{row['name']:<16} {row['transport']:<6} {row['reached']}{off}  [{row['file']}]"


def _address(server: NamedServer) -> str:
    """Return a server's address or command, without parts that may be secret."""
    settings = server.settings
    return clean(settings.url.partition("?")[0] or " ".join((settings.command, *settings.args)))


@mcp.command(context_settings=_PASS_REMAINING_ARGS)
@click.argument("name")
@click.argument(
    "target", nargs=-1, required=True, type=click.UNPROCESSED, metavar="URL | COMMAND [ARGS]…"
)
@several(
    "--env",
    "NAME=VALUE",
    "Environment variable for the command; `${NAME}` is read from the current environment.",
)
@several("--header", "NAME=VALUE", "HTTP header to send to the server's URL.")
@switch("--sse", "The URL uses the older SSE transport.")
@option("--timeout", "SECONDS", "Timeout for each call (default: 60).", type=POSITIVE_AMOUNT)
@several("--always-allow", "PATTERN", "Tools that never need approval.")
@switch("--trust-read-only", "Do not ask before calling tools that the server declares read-only.")
@data_dir_option
def add(name: str, target: tuple[str, ...], data_dir: Path, **flags: Any) -> None:
    """Add an MCP server called NAME, given its URL or a command with arguments.

    The server's current tools are allowed. A tool needs approval again if its definition changes.
    """
    file = servers_path()
    rows = read_servers(file) if file.is_file() else {}
    first = target[0]
    if not name.strip() or not first.strip():
        hint = "Use `research mcp add NAME COMMAND…` or `research mcp add NAME https://…`."
        raise UsageError("a server needs a name, and either a command or a URL", hint=hint)
    if "://" not in first:
        row: dict[str, Any] = {"command": first, "args": [*target[1:]]}
    elif first.lower().startswith(("http://", "https://")):
        row = {"type": "sse" if flags["sse"] else "http", "url": first}
    else:
        raise UsageError(
            f"not a server URL: {first!r}", hint="The URL must begin with http:// or https://."
        )
    row |= {"env": _pairs(flags["env"]), "headers": _pairs(flags["header"])}
    row |= {"timeout": flags["timeout"], "alwaysAllow": [*flags["always_allow"]]}
    row |= {"trustReadOnly": flags["trust_read_only"]}
    rows[name] = {key: value for key, value in row.items() if value}
    parse_settings(name, rows[name], file)  # raises if they are invalid
    print(f"added {name} to {write_servers(rows)}")
    asyncio.run(
        _test_servers([name], load_options({"data_dir": data_dir}, config=True), allow=True)
    )


def _pairs(values: tuple[str, ...]) -> dict[str, str]:
    for value in values:
        if "=" not in value:
            raise UsageError(f"{value!r} does not have the form NAME=VALUE")
    return {name: text for name, _, text in (value.partition("=") for value in values)}


@mcp.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove the MCP server NAME from the file that `add` writes."""
    file = servers_path()
    rows = read_servers(file) if file.is_file() else {}
    if name not in rows:
        hint = "`research mcp list` shows the servers and their files."
        raise UsageError(f"no server named {name!r} in {file}", hint=hint)
    del rows[name]
    print(f"removed {name} from {write_servers(rows)}")


@mcp.command()
@click.argument("names", nargs=-1)
@switch("--allow", "Allow the current tools.")
@only_run_flags("--mcp-config")
@data_dir_option
def test(names: tuple[str, ...], *, allow: bool, **flags: Any) -> int:
    """Connect to MCP servers (default: all); list their tools and any changes since approval."""
    settings = load_options(drop_unset(flags), config=True)
    return 0 if asyncio.run(_test_servers(names, settings, allow=allow)) else CHECK_FAILED


async def _test_servers(names: Collection[str], settings: Options, *, allow: bool) -> bool:
    """Connect to servers in parallel; return whether all were reached and all tools are allowed."""
    with requires_extra("mcp"):
        from agent.mcp_client.server_tools import Server  # noqa: PLC0415 - loads the SDK
    servers = find_servers(settings, config=True)
    unknown = set(names) - {server.name for server in servers}
    if unknown:
        raise UsageError(
            f"no server named {', '.join(sorted(unknown))!r}",
            hint="`research mcp list` shows the servers.",
        )
    chosen = [server for server in servers if server.name in names or not names]
    if not chosen:
        note(*NO_SERVERS)

    async def reach(named: NamedServer) -> bool:
        server = Server(named, settings.data, settings.proxy)
        try:
            tools, differing = await server.compare_with_allowed(allow=allow)
        except ResearchError as error:
            # A run would continue without the server, but here the user should fix it.
            last = error.hint.removeprefix("Continue without it.").strip()
            again = (
                f"Check its command or address, then run `research mcp test {named.name}` again."
            )
            print_error(str(error), f"{again} {last}".strip())
            return False
        finally:
            await server.connection.close()
        print_text(f"{named.name}: {plural(len(tools), 'tool', 'tools')}")
        for tool in tools:
            print_text(f"  {tool.name} ({tool.risk}) {tool.description}")
        for how, changed in differing.items():
            print_text(f"  {how}: {', '.join(changed)}{' (allowed now)' if allow else ''}")
        return allow or not differing

    return all(await asyncio.gather(*map(reach, chosen)))
