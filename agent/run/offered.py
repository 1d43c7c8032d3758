"""Which tools a run is offered: a caller's functions, ours, those of MCP servers, as rules say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.config import servers_path
from agent.errors import UsageError
from agent.tools.registry import from_functions
from agent.tools.selection import select
from agent.tools.toolset import plugged_tools, tools_there

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AsyncExitStack

    from agent.config import Options
    from agent.mcp_client.server_settings import NamedServer
    from agent.tools.context import ToolContext
    from agent.tools.registry import Tool
    from agent.tools.selection import Selected


async def offered(
    context: ToolContext,
    options: Options,
    stack: AsyncExitStack,
    functions: Mapping[str, Callable[[str], Awaitable[Any]]] | None = None,
    *,
    tasks: Callable[[Options], Sequence[Tool]] | None = None,
    config: bool = False,
    connect: bool = True,
) -> Selected:
    """Choose among all tools there are; `config` also finds servers in the file of the user.

    `tasks` makes the tools that set something off later; they are there where settings allow them.

    Servers stay open with the stack; without `connect` none is reached. Raises `UsageError` for
    servers that are not set as they should be.
    """
    there = [(tool, "") for tool in from_functions(functions or {})]
    there += [*tools_there(context), *((tool, "") for tool in plugged_tools(options.tool))]
    told: list[str] = []
    if options.allow_tasks and tasks is not None:
        there += [(tool, "") for tool in tasks(options)]
    elif options.allow_tasks:
        told.append("tasks are allowed, but cannot be set here: no jobs were handed in")
    named = options.mcp_servers or options.mcp_config or (config and servers_path().is_file())
    if named and "mcp" in options.tool_sources:
        open_servers, servers = _servers(options, config=config)
        opened = open_servers(servers, options.data, options.proxy, connect=connect)
        found = await stack.enter_async_context(opened)
        there += [(tool, "") for tool in found.tools]
        told = found.told
    return select(there, options, told)


def _servers(options: Options, *, config: bool) -> tuple[Any, list[NamedServer]]:
    """Load the client; raises `UsageError` where the SDK is not installed."""
    try:
        from agent.mcp_client.server_settings import servers_of  # noqa: PLC0415 - few runs have any
        from agent.mcp_client.server_tools import open_servers  # noqa: PLC0415 - loads the SDK
    except ModuleNotFoundError as error:
        hint = "pip install 'urchin-research[mcp]', or --tool-sources domain,memory,system."
        raise UsageError(
            f"MCP servers are set, and {error.name} is not installed", hint=hint
        ) from error
    return open_servers, servers_of(options, config=config)
