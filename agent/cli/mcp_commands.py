"""`research mcp`: our tools for other programs."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import click

from agent.cli.flags import run_flags_showing
from agent.cli.progress import told
from agent.cli.terminal import note
from agent.config import options
from agent.errors import UsageError
from agent.mcp.client_settings import PLACES, settings_for

SHOWN = ("--model", "--judge", "--depth", "--search", "--corpus", "--file", "--attach", "--cdp")
SHORTEST_TOKEN = 16


@click.group()
def mcp() -> None:
    """Our tools for Claude, Cursor, VS Code and other programs (MCP)."""


@mcp.command()
@click.option("--http", is_flag=True, help="Over HTTP on loopback, instead of standard streams.")
@click.option("--port", default=0, help="The port; 0: any that is free.")
@click.option(
    "--token",
    envvar="RESEARCH_MCP_TOKEN",
    metavar="TEXT",
    help="What clients have to show; made up where there is none.",
)
@run_flags_showing(*SHOWN, "--share", "--data-dir", "--no-memory")
def serve(http: bool, port: int, token: str | None, **flags: Any) -> None:  # noqa: FBT001 - click's way
    """Serve MCP; takes the flags of a question for the runs that clients start."""
    given = {name: value for name, value in flags.items() if value not in (None, ())}
    settings = options(given, config=True)
    server, serving = _loaded()

    def make(session: Any) -> Any:
        return server.make_server(session, given, lambda event: told(event, 0))

    if not http:
        asyncio.run(serving.serve_stdio(settings, make))
        return
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise UsageError(f"a token has {SHORTEST_TOKEN} characters at least")
    made = token or secrets.token_urlsafe(32)

    def ready(address: str) -> None:
        print(address, flush=True)
        if token is None:
            note(f"Authorization: Bearer {made}")

    asyncio.run(serving.serve_http(settings, make, port=port, token=made, ready=ready))


def _loaded() -> tuple[Any, Any]:
    """Load the server; raises `UsageError` where the SDK is not installed."""
    try:
        from agent.mcp import server, serving  # noqa: PLC0415 - an extra, of this command alone
    except ModuleNotFoundError as error:
        hint = "pip install 'urchin-research[mcp]'"
        raise UsageError(f"{error.name} is not installed", hint=hint) from error
    return server, serving


@mcp.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("client", type=click.Choice(list(PLACES)))
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def config(client: str, flags: tuple[str, ...]) -> None:
    """Print the settings of CLIENT; FLAGS behind it go to `research mcp serve`."""
    print(settings_for(client, flags))
    note(f"Goes into {PLACES[client]}.")
