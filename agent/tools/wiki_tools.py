"""The wiki's tools: finding and reading its files, checking it, writing to its log and graph.

A run has them where there is a wiki: six tools are a hundred tokens of every prompt.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AliasChoices, Field

from agent.errors import ToolError
from agent.limits import Place  # noqa: TC001 - pydantic reads it
from agent.tools.registry import Risk, ToolResult, tool
from agent.wiki import Relation

if TYPE_CHECKING:
    from agent.tools.context import ToolContext
    from agent.wiki import Wiki


_LISTED = 50  # findings


@tool("memory_search", "finds files of the wiki.")
async def memory_search(
    context: ToolContext,
    *,
    query: str,
    limit: Annotated[int | None, Field(ge=1, le=20)] = None,
    source: Place | None = None,
) -> ToolResult:
    """Find files."""
    wiki, limits = wiki_of(context), context.limits
    most, place = limit or limits.wiki_results, source or wiki.rules.source
    finding = partial(wiki.search, query, most, place, limits.wiki_snippet)
    found = await context.in_memory_thread(finding)
    shown = [{"path": f.path, "title": f.title, "score": round(f.score, 2)} for f in found]
    text = "\n".join(f"{f.path}: {' '.join(f.snippet.split())}" for f in found)
    return ToolResult({"query": query, "results": shown}, web=text, label="wiki")


@tool("memory_get", "reads lines of one.")
async def memory_get(
    context: ToolContext,
    *,
    path: str,
    start: int = 1,
    lines: Annotated[int | None, Field(ge=1, le=500)] = None,
) -> ToolResult:
    """Read a window of lines; what runs wrote into the wiki is the web's words."""
    wiki, limits = wiki_of(context), context.limits
    reading = partial(wiki.read_lines, path, start, lines or limits.wiki_lines, limits.wiki_units)
    found = await context.in_memory_thread(reading)
    if found is None:
        raise ToolError(f"no such file: {path}", hint="Find one with memory_search.")
    data = asdict(found)
    return ToolResult(data, web=data.pop("content"), label="wiki")


@tool("wiki_lint", "checks the wiki.")
async def wiki_lint(context: ToolContext) -> ToolResult:
    """Find what is wrong."""
    found = await context.in_memory_thread(wiki_of(context).lint)
    return ToolResult({"findings": len(found), "shown": [asdict(f) for f in found[:_LISTED]]})


@tool("wiki_update_index", "renews its index.", Risk.WRITE)
async def wiki_update_index(context: ToolContext) -> ToolResult:
    """Write index, brief and gaps anew."""
    return await _changed(context, wiki_of(context).update_index)


@tool("wiki_append_log", "adds to its log.", Risk.WRITE)
async def wiki_append_log(
    context: ToolContext, *, entry: Annotated[str, Field(min_length=1, max_length=500)]
) -> ToolResult:
    """Add a line under today's date."""
    return await _changed(context, wiki_of(context).append_log, entry)


@tool("wiki_record_relationship", "links two pages.", Risk.WRITE)
async def wiki_record_relationship(
    context: ToolContext,
    *,
    source: Annotated[str, Field(validation_alias=AliasChoices("source", "from"))],
    target: Annotated[str, Field(validation_alias=AliasChoices("target", "to"))],
    type: str,  # noqa: A002 - what the file calls it
    note: str = "",
    evidence: str = "",
    date: str = "",
) -> ToolResult:
    """Record a relationship; one that is there already is not written twice."""
    rules = wiki_of(context).rules
    if not rules.allows(type):
        hint = f"Use one of {', '.join(sorted(rules.types))}."
        raise ToolError(f"no such type: {type}", hint=hint)
    new = [Relation(source, target, type, note, evidence, date)]
    added = await context.in_memory_thread(wiki_of(context).record_relations, new)
    return ToolResult({"added": len(added)})


async def _changed(context: ToolContext, change: Any, *args: Any) -> ToolResult:
    return ToolResult({"changed": await context.in_memory_thread(change, *args)})


def wiki_of(context: ToolContext) -> Wiki:
    """Give the wiki of the run; raises `ToolError` where it has none."""
    if context.wiki is None:
        raise ToolError("there is no wiki in this run", hint="Go on without it.")
    return context.wiki


WIKI_TOOLS = (
    memory_search, memory_get, wiki_lint, wiki_update_index, wiki_append_log,
    wiki_record_relationship,
)  # fmt: skip
