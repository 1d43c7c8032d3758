"""`research mcp`: our tools for other programs, and the tools of other programs for us."""

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
    ABOVE_ZERO,
    data_dir_option,
    drop_unset,
    json_option,
    option,
    port_option,
    run_flags,
    several,
    switch,
    token_option,
)
from agent.cli.terminal import note, plural, print_error, print_rows, print_text
from agent.config import load_options, servers_path
from agent.errors import CHECK_FAILED, ResearchError, UsageError, from_extra
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

NO_SERVERS = ("No MCP servers are set.", "`research mcp add NAME COMMAND…` adds one.")
NAME: Final = "urchin"
CLIENTS: Final = {
    "claude": "claude_desktop_config.json; Claude Code: .mcp.json in the project's folder",
    "cursor": "~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder",
    "vscode": ".vscode/mcp.json in the project's folder",
}
"""Where each client reads its settings."""
SHOWN = ("--model", "--judge", "--depth", "--search", "--corpus", "--file", "--attach", "--cdp")
_WORDS_BEHIND = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""What looks like a flag behind the first argument is not ours, but for who is started."""


@click.group()
def mcp() -> None:
    """Our tools for Claude, Cursor, VS Code and others (MCP); the servers that runs may use."""


@mcp.command()
@switch("--http", "Over HTTP on loopback, instead of standard streams.")
@port_option(0)
@token_option("RESEARCH_MCP_TOKEN")
@switch("--browser", "Also our browser, as playwright-mcp has it.")
@run_flags(*SHOWN, "--allow-private", "--share", "--data-dir", "--memory/--no-memory")
def serve(*, http: bool, port: int, token: str | None, browser: bool, **flags: Any) -> None:
    """Serve MCP; takes the flags of a question for the runs that clients start."""
    named = drop_unset(flags)
    settings = load_options(named, config=True)
    with from_extra("mcp"):
        from agent.mcp import server, transports  # noqa: PLC0415 - an extra, of these commands alone

    def make(session: Any) -> Any:
        return server.make_server(session, named, browser=browser)

    if not http:
        asyncio.run(transports.serve_stdio(settings, make))
        return
    required = token or secrets.token_urlsafe(32)

    def ready(address: str) -> None:
        print(address, flush=True)
        if token is None:
            note(f"Authorization: Bearer {required}")

    asyncio.run(transports.serve_http(settings, make, port=port, token=required, ready=ready))


@mcp.command(context_settings=_WORDS_BEHIND)
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def config(client: str, flags: tuple[str, ...]) -> None:
    """Print the settings of CLIENT; FLAGS behind it go to `research mcp serve`."""
    flags = flags[1:] if flags[:1] == ("--",) else flags
    # What the server would refuse is refused now, where somebody reads the message.
    serve.make_context("research mcp serve", list(flags))
    print(_client_settings(client, flags))
    note(f"Goes into {CLIENTS[client]}.")


def _client_settings(client: str, flags: Sequence[str]) -> str:
    """The settings of a client as JSON; `flags` are those of `research mcp serve`."""
    # In full: a client that is no shell may have another path to look in.
    beside = Path(sys.executable).with_name("research")
    command = str(beside) if beside.is_file() else shutil.which("research") or "research"
    row = {"command": command, "args": ["mcp", "serve", *flags]}
    if client == "vscode":
        return json.dumps({"servers": {NAME: {"type": "stdio", **row}}}, indent=2)
    return json.dumps({"mcpServers": {NAME: row}}, indent=2)


@mcp.command(name="list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the MCP servers that runs may use: how each is reached, and where it is set."""
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
    """The address or the command of a server, without what may be secret."""
    settings = server.settings
    return clean(settings.url.partition("?")[0] or " ".join((settings.command, *settings.args)))


@mcp.command(context_settings=_WORDS_BEHIND)
@click.argument("name")
@click.argument("reached", nargs=-1, required=True, type=click.UNPROCESSED)
@several("--env", "NAME=VALUE", "For a command; `${NAME}` is ours.")
@several("--header", "NAME=VALUE", "For an address.")
@switch("--sse", "The address speaks the older transport.")
@option("--timeout", "SECONDS", "Of a call (60).", type=ABOVE_ZERO)
@several("--always-allow", "PATTERN", "Tools that need no approval.")
@switch("--trust-read-only", "Tools that the server calls read-only need no approval.")
@data_dir_option
def add(name: str, reached: tuple[str, ...], data_dir: Path, **flags: Any) -> None:
    """Add an MCP server under NAME: an address, or a command with its arguments.

    Its tools are allowed as they are now; one that changes asks again.
    """
    place = servers_path()
    rows = read_servers(place) if place.is_file() else {}
    first = reached[0]
    if not name.strip() or not first.strip():
        hint = "Write `research mcp add NAME COMMAND…` or `… NAME https://…`."
        raise UsageError("a server needs a name, and a command or an address", hint=hint)
    if "://" not in first:
        row: dict[str, Any] = {"command": first, "args": [*reached[1:]]}
    elif first.lower().startswith(("http://", "https://")):
        row = {"type": "sse" if flags["sse"] else "http", "url": first}
    else:
        raise UsageError(f"no address of a server: {first!r}", hint="It begins with https://.")
    row |= {"env": _pairs(flags["env"]), "headers": _pairs(flags["header"])}
    row |= {"timeout": flags["timeout"], "alwaysAllow": [*flags["always_allow"]]}
    row |= {"trustReadOnly": flags["trust_read_only"]}
    rows[name] = {key: value for key, value in row.items() if value}
    parse_settings(name, rows[name], place)  # raises where they are wrong
    print(f"{name} is in {write_servers(rows)}")
    asyncio.run(_test_servers([name], data_dir, allow=True))


def _pairs(values: tuple[str, ...]) -> dict[str, str]:
    for value in values:
        if "=" not in value:
            raise UsageError(f"{value!r} is no NAME=VALUE")
    return {name: text for name, _, text in (value.partition("=") for value in values)}


@mcp.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove the MCP server NAME from the file that `add` writes."""
    place = servers_path()
    rows = read_servers(place) if place.is_file() else {}
    if name not in rows:
        hint = "`research mcp list` names them, and the files that they stand in."
        raise UsageError(f"{place} has no server {name!r}", hint=hint)
    del rows[name]
    print(f"{name} is no longer in {write_servers(rows)}")


@mcp.command()
@click.argument("names", nargs=-1)
@switch("--allow", "Allow the tools as they are now.")
@data_dir_option
def test(names: tuple[str, ...], data_dir: Path, *, allow: bool) -> int:
    """Reach MCP servers, all or those named: their tools, and what changed since it was allowed."""
    return 0 if asyncio.run(_test_servers(names, data_dir, allow=allow)) else CHECK_FAILED


async def _test_servers(names: Collection[str], data_dir: Path, *, allow: bool) -> bool:
    """Reach servers side by side; True where all were reached and are as they were allowed."""
    with from_extra("mcp"):
        from agent.mcp_client.server_tools import Server  # noqa: PLC0415 - loads the SDK
    settings = load_options({"data_dir": data_dir}, config=True)
    servers = find_servers(settings, config=True)
    unknown = set(names) - {server.name for server in servers}
    if unknown:
        raise UsageError(f"no server {', '.join(sorted(unknown))!r}", hint="See `mcp list`.")
    chosen = [server for server in servers if server.name in names or not names]
    if not chosen:
        note(*NO_SERVERS)

    async def reach(named: NamedServer) -> bool:
        server = Server(named, settings.data, settings.proxy)
        try:
            tools, differing = await server.compare_with_allowed(allow=allow)
        except ResearchError as error:
            # A run goes on without the server; here the person is to mend it.
            last = error.hint.removeprefix("Go on without it.").strip()
            again = f"Look at its command or address; `research mcp test {named.name}` tries again."
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
