"""Which of the tools that there are a run has: by their source, by patterns, the refusal first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from agent.tools.registry import Registry, ToolSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.config import Options
    from agent.tools.registry import Tool


@dataclass(frozen=True, slots=True)
class Selected:
    """Every tool once, with the reason why it is off, or "" where it is on; and what was odd.

    `refused` are those that a rule keeps off: a call is told so. The others are unknown to a run.
    """

    rows: tuple[tuple[Tool, str], ...]
    told: tuple[str, ...] = ()
    refused: frozenset[str] = frozenset()

    def registry(self) -> Registry:
        """Give the tools that are on."""
        on = [tool for tool, why in self.rows if not why]
        return Registry(on, {t.name: why for t, why in self.rows if t.name in self.refused})

    def as_noted(self, options: Options) -> dict[str, Any]:
        """Say for the record which tools a run has, by what rules, and why not the others."""
        sources = {
            source.value: [
                tool.name for tool, why in self.rows if not why and tool.source is source
            ]
            for source in ToolSource
        }
        return {
            "on": {source: names for source, names in sources.items() if names},
            "off": {tool.name: why for tool, why in self.rows if why},
            "policy": {name: getattr(options, name) for name in _RULES},
            "diagnostics": list(self.told),
        }


_RULES = (
    *("tool_sources", "tool_allow", "tool_deny", "mcp_tool_allow", "mcp_tool_deny"),
    *("memory_tool_allow", "memory_tool_deny"),
)


def select(
    there: Iterable[tuple[Tool, str]], options: Options, told: Iterable[str] = ()
) -> Selected:
    """Decide about tools; of two that are named alike the first counts. Given by source.

    Each comes with the reason why this run has no use for it, "" where it has; `told` are further
    diagnostics.
    """
    rows: dict[str, tuple[Tool, str]] = {}
    told, refused = [*told], set[str]()
    for tool, useless in there:
        key = _plain(tool.name)
        if key in rows:
            told.append(f"{tool.name} of {tool.server or tool.source} is named as one before it")
            continue
        why = _refused(tool, options)
        rows[key] = (tool, why or useless)
        refused |= {tool.name} if why else set()
    order = [*ToolSource]
    by_source = sorted(rows.values(), key=lambda row: order.index(row[0].source))
    return Selected(tuple(by_source), tuple(told), frozenset(refused))


def _refused(tool: Tool, options: Options) -> str:
    """Tell by which rule a tool is off; "" where none refuses it."""
    if tool.source not in options.tool_sources:
        return f"its source, {tool.source}, is not in --tool-sources"
    of_source = {
        ToolSource.MCP: (options.mcp_tool_allow, options.mcp_tool_deny, "--mcp-tool"),
        ToolSource.MEMORY: (options.memory_tool_allow, options.memory_tool_deny, "memory-tool"),
    }.get(tool.source)
    if of_source and (why := _unlisted(tool.name, *of_source)):
        return why
    return _unlisted(tool.name, options.tool_allow, options.tool_deny, "--tool")


def _unlisted(name: str, allow: Sequence[str], deny: Sequence[str], flag: str) -> str:
    if matches(name, deny):
        return f"{flag}-deny names it"
    return f"{flag}-allow does not name it" if allow and not matches(name, allow) else ""


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name is one of these, where `*` stands for any characters."""
    return any(fnmatchcase(_plain(name), _plain(pattern)) for pattern in patterns)


def _plain(name: str) -> str:
    """Write a name or pattern as it is compared: case aside, what is no letter or digit as `_`."""
    return re.sub(r"[^a-z0-9*?]", "_", name.casefold())
