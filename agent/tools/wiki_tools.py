"""The wiki's tools: finding and reading its files, checking it, writing to its log and graph.

A run has them where there is a wiki: six tools are a hundred tokens of every prompt.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import AliasChoices, Field

from agent.errors import ToolError
from agent.limits import Place  # noqa: TC001 - pydantic reads it
from agent.tools.registry import NoParams, Params, Risk, Tool, ToolResult
from agent.wiki.wiki_files import Relation, get, search

if TYPE_CHECKING:
    from agent.tools.context import ToolContext
    from agent.wiki.wiki_index import Wiki


_LISTED = 50  # findings


class Search(Params):
    """What to search for."""

    query: str
    limit: int | None = Field(None, ge=1, le=20)
    source: Place | None = None


class WikiWindow(Params):
    """Which lines of which file."""

    path: str
    start: int = 1
    lines: int | None = Field(None, ge=1, le=500)


class Entry(Params):
    """A line of the log."""

    entry: str = Field(min_length=1, max_length=500)


class Relationship(Params):
    """A relationship between two pages."""

    source: str = Field(validation_alias=AliasChoices("source", "from"))
    target: str = Field(validation_alias=AliasChoices("target", "to"))
    type: str
    note: str = ""
    evidence: str = ""
    date: str = ""


async def memory_search(context: ToolContext, asked: Search) -> ToolResult:
    """Find files."""
    wiki, limits = wiki_of(context), context.limits
    most, place = asked.limit or limits.wiki_results, asked.source or wiki.rules.source
    finding = partial(search, wiki.files, asked.query, most, place, limits.wiki_snippet)
    found = await context.in_memory_thread(finding)
    shown = [{"path": f.path, "title": f.title, "score": round(f.score, 2)} for f in found]
    text = "\n".join(f"{f.path}: {' '.join(f.snippet.split())}" for f in found)
    return ToolResult({"query": asked.query, "results": shown}, web=text, label="wiki")


async def memory_get(context: ToolContext, asked: WikiWindow) -> ToolResult:
    """Read a window of lines; what runs wrote into the wiki is the web's words."""
    files, limits = wiki_of(context).files, context.limits
    lines = asked.lines or limits.wiki_lines
    reading = partial(get, files, asked.path, asked.start, lines, limits.wiki_units)
    found = await context.in_memory_thread(reading)
    if found is None:
        raise ToolError(f"no such file: {asked.path}", hint="Find one with memory_search.")
    data = asdict(found)
    return ToolResult(data, web=data.pop("content"), label="wiki")


async def wiki_lint(context: ToolContext, _: NoParams) -> ToolResult:
    """Find what is wrong."""
    found = await context.in_memory_thread(wiki_of(context).lint)
    return ToolResult({"findings": len(found), "shown": [asdict(f) for f in found[:_LISTED]]})


async def wiki_update_index(context: ToolContext, _: NoParams) -> ToolResult:
    """Write index, brief and gaps anew."""
    return await _changed(context, wiki_of(context).update_index)


async def wiki_append_log(context: ToolContext, asked: Entry) -> ToolResult:
    """Add a line under today's date."""
    return await _changed(context, wiki_of(context).append_log, asked.entry)


async def wiki_record_relationship(context: ToolContext, asked: Relationship) -> ToolResult:
    """Record a relationship; one that is there already is not written twice."""
    rules = wiki_of(context).rules
    if not rules.allows(asked.type):
        hint = f"Use one of {', '.join(sorted(rules.types))}."
        raise ToolError(f"no such type: {asked.type}", hint=hint)
    told = (asked.note, asked.evidence, asked.date)
    new = [Relation(asked.source, asked.target, asked.type, *told)]
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
    Tool("memory_search", "finds files of the wiki.", Search, memory_search),
    Tool("memory_get", "reads lines of one.", WikiWindow, memory_get),
    Tool("wiki_lint", "checks the wiki.", NoParams, wiki_lint),
    Tool("wiki_update_index", "renews its index.", NoParams, wiki_update_index, Risk.WRITE),
    Tool("wiki_append_log", "adds to its log.", Entry, wiki_append_log, Risk.WRITE),
    Tool(
        "wiki_record_relationship",
        "links two pages.",
        Relationship,
        wiki_record_relationship,
        Risk.WRITE,
    ),
)
