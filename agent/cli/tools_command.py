"""`research tools`: every tool, whether a run has it, and why not."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import some_run_flags
from agent.cli.terminal import note
from agent.config import Options, options
from agent.evidence.store import Evidence
from agent.run.offered import offered
from agent.run.settings import memory_of
from agent.tools.context import Limits, Person, ToolContext
from browser.text.words import clean

if TYPE_CHECKING:
    from agent.tools.selection import Selected

_FLAGS = (
    "--tool-sources",
    "--tool-allow",
    "--tool-deny",
    "--mcp-tool-allow",
    "--mcp-tool-deny",
    "--mcp-config",
    "--data-dir",
    "--memory/--no-memory",
)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@some_run_flags(*_FLAGS)
def tools(as_json: bool, **flags: Any) -> None:  # noqa: FBT001 - click's way
    """Show every tool: its source, its risk, whether a run on a terminal has it, and why not."""
    given = {name: value for name, value in flags.items() if value not in (None, ())}
    settings = options(given, config=True)
    found = asyncio.run(_found(settings))
    rows = [
        {
            "name": tool.name,
            "source": tool.source.value,
            "risk": tool.risk.value,
            "timeout_s": tool.seconds or Limits().call_seconds,
            "on": not why,
            "why": why,
            "description": tool.description,
        }
        for tool, why in found.rows
    ]
    if as_json:
        print(json.dumps({"tools": rows, "diagnostics": found.told}, indent=2, ensure_ascii=False))
        return
    for row in rows:
        state = "on " if row["on"] else "off"
        line = f"{state} {row['name']:<28} {row['source']:<7} {row['risk']:<9} {row['why']}"
        print(clean(line.rstrip()))
    for told in found.told:
        note(told)


async def _found(settings: Options) -> Selected:
    """Choose as a run does that has all means; no server is reached."""
    async with AsyncExitStack() as stack:
        context = ToolContext("", Evidence(), Limits(), _nowhere, _kept, person=Person(_nobody))
        if settings.memory:
            context.memory = memory_of(settings, {})
            stack.callback(context.memory.close)
        return await offered(context, settings, stack, config=True, connect=False)


async def _nobody(_question: str) -> str:
    return ""


def _nowhere(_kind: str, _place: str = "", **_data: object) -> None:
    """Nothing is done, so nothing is recorded."""


def _kept(_body: bytes) -> str:
    return ""
