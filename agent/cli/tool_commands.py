"""`research tools` and `research plugins`: list the tools for runs, and the installed plug-ins."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import drop_unset, json_option, only_run_flags
from agent.cli.terminal import note, print_json, print_rows
from agent.config import load_options
from agent.evidence.store import Evidence
from agent.run.settings import open_memory
from agent.run.wiring import select_tools
from agent.tools.context import ToolContext, User
from browser.plugins import PLUGIN_KINDS, PluginBroken
from browser.plugins import plugins as installed

if TYPE_CHECKING:
    from agent.options import Options
    from agent.tools.toolset import ToolSelection

_TOOL_FLAGS = (
    "--tool-sources --tool-allow --tool-deny --mcp-tool-allow --mcp-tool-deny --mcp-config "
    "--data-dir --memory/--no-memory"
).split()
"""Flags that determine which tools a run has."""


@click.command()
@json_option
@only_run_flags(*_TOOL_FLAGS)
def tools(*, as_json: bool, **flags: Any) -> None:
    """List every tool with its source, its risk and, if it is unavailable, the reason."""
    settings = load_options(drop_unset(flags), config=True)
    selected = asyncio.run(_select(settings))
    rows = [
        {
            "name": tool.name,
            "source": tool.source,
            "risk": tool.risk.value,
            "timeout_s": tool.seconds or settings.limits.call_seconds,
            "on": not why,
            "why": why,
            "description": tool.description,
        }
        for tool, why in selected.rows
    ]
    if as_json:
        print_json({"tools": rows, "diagnostics": selected.diagnostics})
        return
    print_rows(rows, _format_tool)
    for message in selected.diagnostics:
        note(message)


async def _select(settings: Options) -> ToolSelection:
    """Select the tools of a run that has web, user and memory; MCP servers are not contacted."""

    async def answer(_question: str) -> str:
        return ""

    async with AsyncExitStack() as stack:
        context = ToolContext("", Evidence(), user=User(answer))
        if settings.memory:
            context.memory = open_memory(settings, {})
            stack.callback(context.memory.close)
        return await select_tools(context, settings, stack, config=True, connect=False)


def _format_tool(row: dict[str, Any]) -> str:
    state = "on " if row["on"] else "off"
    return f"{state} {row['name']:<28} {row['source']:<7} {row['risk']:<9} {row['why']}".rstrip()


@click.command()
@json_option
def plugins(*, as_json: bool) -> None:
    """List the installed plug-ins by kind, with any load errors."""
    rows = []
    for plugin in (one for kind in PLUGIN_KINDS for one in installed(kind)):
        broken = ""
        try:
            plugin.load()
        except PluginBroken as error:
            broken = str(error)
        row = {name: getattr(plugin, name) for name in ("kind", "name", "package", "version")}
        rows.append({**row, "place": plugin.entry.value, "broken": broken})
    print_rows(rows, _format_plugin, as_json=as_json)


def _format_plugin(row: dict[str, str]) -> str:
    state = f"skipped: {row['broken']}" if row["broken"] else row["place"]
    return f"{row['kind']:10} {row['name']:16} {row['package']} {row['version']}  {state}"
