"""Which tools a run has."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from agent.errors import UsageError
from agent.plugins import plugged
from agent.prompts import Guides
from agent.tools.action_tools import ACTING_TOOLS, DOWNLOAD_TOOLS
from agent.tools.crawl_tool import CRAWL_TOOLS
from agent.tools.goals import GOAL_TOOLS
from agent.tools.memory import MEMORY_TOOLS
from agent.tools.page_tools import LOOKING_TOOLS, SOLVING_TOOLS
from agent.tools.person import PERSON_TOOLS
from agent.tools.registry import Registry, Tool, ToolSource
from agent.tools.skills import SKILL_TOOLS
from agent.tools.web_tools import WEB_TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.tools.context import ToolContext


PAGE_TOOLS: Final = tuple(
    replace(tool, on_page=True, acts=acts)
    for acts, tools in ((False, LOOKING_TOOLS), (True, (*ACTING_TOOLS, *DOWNLOAD_TOOLS)))
    for tool in tools
    if tool.name != "OPEN"
)
"""Of use only where a page is open: a run that opens none is not told of them."""
TOOL_NAMES: Final = (
    frozenset(
        tool.name
        for family in (WEB_TOOLS, CRAWL_TOOLS, LOOKING_TOOLS, ACTING_TOOLS, DOWNLOAD_TOOLS)
        for tool in family
    )
    | frozenset(tool.name for tool in (*MEMORY_TOOLS, *SKILL_TOOLS, *GOAL_TOOLS, *PERSON_TOOLS))
    | {"PYTHON"}
)
"""As models may call them in forms of other protocols."""
_OPEN = next(tool for tool in LOOKING_TOOLS if tool.name == "OPEN")


def guides_for(system: str, noted: Mapping[str, Any] | None = None) -> Guides:
    """Give the helper texts that a loop with this system prompt may still need.

    `noted` is what the record says of the tools that the run has.
    """
    noted = noted or {}
    on_page = Registry(tool for tool in PAGE_TOOLS if tool.name not in noted.get("off", ()))
    servers = noted.get("on", {}).get(ToolSource.MCP, ())
    return Guides(system, on_page.lines(on_page=True), TOOL_NAMES.union(servers))


def tools_there(context: ToolContext) -> Iterator[tuple[Tool, str]]:
    """Give every tool of ours, with the reason why a run with these means has no use for it."""
    solver = context.web is not None and context.web.solver is not None
    memory = "" if context.memory is not None else "this run has no memory"
    yield from ((tool, "") for tool in (*WEB_TOOLS, *CRAWL_TOOLS, _OPEN, *PAGE_TOOLS))
    yield from (
        (tool, "" if solver else "nobody solves captchas: --solver") for tool in SOLVING_TOOLS
    )
    for tool in (*MEMORY_TOOLS, *GOAL_TOOLS):
        yield replace(tool, source=ToolSource.MEMORY), memory
    for tool in SKILL_TOOLS:
        yield replace(tool, source=ToolSource.SYSTEM), memory
    nobody = "" if context.person is not None else "nobody can be asked here"
    yield from ((replace(tool, source=ToolSource.SYSTEM), nobody) for tool in PERSON_TOOLS)
    if context.wiki is not None:
        from agent.tools.wiki import WIKI_TOOLS  # noqa: PLC0415 - few runs have one

        yield from ((replace(tool, source=ToolSource.MEMORY), "") for tool in WIKI_TOOLS)
    if context.skills:
        from agent.tools.skill_folders import READ_SKILL  # noqa: PLC0415 - few runs have any

        yield READ_SKILL, ""
    if find_spec("pydantic_monty") is not None:
        from agent.tools.compute import COMPUTING_TOOLS  # noqa: PLC0415 - an extra

        yield from ((tool, "") for tool in COMPUTING_TOOLS)


def plugged_tools(names: Sequence[str]) -> Iterator[Tool]:
    """Give the tools of the plug-ins that were named; raises `UsageError` for others."""
    for name in names:
        found = plugged("tools", name)
        if found is None:
            raise UsageError(f"no tool is called {name!r}", hint="`research plugins` lists them.")
        yield from [found] if isinstance(found, Tool) else found
