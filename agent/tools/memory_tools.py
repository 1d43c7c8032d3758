"""What is kept between runs: REMEMBER, RECALL, SEARCH_MEMORY; goals; the files of a wiki.

Memory and goals have the reference engine's forms, and its JSON. A run has the wiki's tools where
there is a wiki: six tools are a hundred tokens of every prompt.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from agent import jsvalues as js
from agent.errors import ToolError
from agent.limits import WikiPart  # noqa: TC001 - pydantic reads it
from agent.memory.kinds import BASES, ERROR, FACT, INSIGHT, KNOWN, OUTCOME, PLAYBOOK, SOURCE
from agent.memory.memory_types import Origin
from agent.protocol.replies import loose_json, loose_object
from agent.tools.context import memory_of
from agent.tools.person import require_yes
from agent.tools.registry import NonEmpty, Params, Risk, ToolResult, ToolSource, raw_tool, tool
from agent.wiki import Relation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.memory.memory_types import Hit
    from agent.tools.context import ToolContext
    from agent.wiki import Wiki


MATCHES = 10
_VALUE_UNITS = 200
_NEAR = 0.25
"""Cosine below which two texts have nothing to do with each other, as in the reference engine."""
_SHOWN_KINDS = frozenset({"memory", "summary", "profile"})
VIEWS = (FACT, OUTCOME, ERROR, SOURCE, PLAYBOOK, INSIGHT, *BASES)
"""What SEARCH_MEMORY can be asked for alone: what runs leave, and the knowledge bases."""
_FORM = 'REMEMBER needs {"key":"...","value":"..."}'
_FINDINGS = 50
"""Of a wiki's check that are shown."""

raw_memory_tool = partial(raw_tool, source=ToolSource.MEMORY)
memory_tool = partial(tool, source=ToolSource.MEMORY)


@raw_memory_tool(
    "REMEMBER", "keeps a fact for later runs.", Risk.WRITE, fields={"key": str, "value": str}
)
async def remember(context: ToolContext, param: str) -> ToolResult:
    """Keep a value under a key."""
    memory = memory_of(context)
    fields = loose_json(param)
    if fields is None:
        try:
            fields = json.loads(param)
        except ValueError as error:
            raise ToolError(f"Memory save failed: {error}") from error
    if not isinstance(fields, dict) or not js.truthy(fields.get("key")) or "value" not in fields:
        raise ToolError(_FORM)
    name = js.to_string(fields["key"])
    # What a model writes after it has read somebody else's words may be theirs.
    origin = Origin(run=context.run, trusted=not context.provenance.untrusted)
    if not origin.trusted and await context.in_memory_thread(memory.upkeep("").trusts, name):
        value = js.to_string(fields["value"])
        effect = f"replaces what you had saved as {name!r} by {value!r}"
        await require_yes(context, "REMEMBER", effect, act=False)
    await context.in_memory_thread(partial(memory.remember, name, fields["value"], origin=origin))
    return ToolResult({"success": True, "message": f'Remembered "{name}".'})


@raw_memory_tool("RECALL", "gives what is kept under a key, or `all`.", fields={"key": str})
async def recall(context: ToolContext, param: str) -> ToolResult:
    """Look a key up, or list all."""
    memory = memory_of(context)
    key = str(loose_object(param).get("key", param)) if param.startswith("{") else param
    saved = await context.in_memory_thread(memory.upkeep("").saved)
    if key == "all":
        return ToolResult({"success": True, "memory": saved})
    value = saved.get(key)
    found = "Nothing saved under this key." if value is None else value
    return ToolResult({"success": True, "key": key, "value": found})


@raw_memory_tool(
    "SEARCH_MEMORY",
    "searches what is kept, by words; of `kinds` (error, playbook, …) alone if wanted.",
    fields={"query": str, "kinds": (list[str] | None, None)},
)
async def search_memory(context: ToolContext, param: str) -> ToolResult:
    """Search what is saved and known of the person; then all else that is kept.

    Asked for `kinds`, it gives those alone: kinds of memories, or knowledge bases.
    """
    memory = memory_of(context)
    asked = loose_object(param) if param.startswith("{") else {}
    query, kinds = str(asked.get("query", param)), asked.get("kinds")
    data: dict[str, Any] = {"success": True, "query": query}
    if isinstance(kinds, list) and kinds:
        kinds = [str(kind) for kind in kinds]
        hits = await context.in_memory_thread(memory.search, query, MATCHES, kinds)
        unknown = sorted(set(kinds) - BASES.keys() - KNOWN)
        if unknown and not hits:  # a person may have written memories of kinds of their own
            hint = f"Take {', '.join(VIEWS)}."
            raise ToolError(f"nothing is of kind {', '.join(unknown)}", hint=hint)
        return ToolResult({**data, "kinds": kinds, "matches": _shown(hits)})
    upkeep = memory.upkeep("")
    saved = await context.in_memory_thread(upkeep.saved)
    profile = await context.in_memory_thread(upkeep.profile)
    known = js.ordered({**saved, **{f"profile_{key}": value for key, value in profile.items()}})
    texts = {k: js.to_string(value) for k, value in known.items() if not k.startswith("_")}
    near = await context.near(query, [f"{key}: {text}" for key, text in texts.items()])
    found = _by_embeddings(texts, near) if near else _by_words(query, texts)
    best = sorted(found.items(), key=lambda item: -item[1])[:MATCHES]
    data["matches"] = [
        {"key": key, "value": _cut(texts[key]), "relevance": relevance} for key, relevance in best
    ]
    data["method"] = "embeddings" if near else "keyword"
    hits = await context.in_memory_thread(memory.search, query, MATCHES)
    if also := [hit for hit in hits if hit.kind not in _SHOWN_KINDS]:
        data["also"] = _shown(also)
    return ToolResult(data)


def _by_words(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """Rate the entries that hold words of the query by how many of them they hold."""
    words = [word for word in js.split_words(query.lower()) if js.length(word) > 2]
    counts = {k: sum(w in f"{k} {text}".lower() for w in words) for k, text in texts.items()}
    return {key: count / len(words) for key, count in counts.items() if count}


def _by_embeddings(texts: Mapping[str, str], near: Mapping[str, float]) -> dict[str, float]:
    """Rate the entries that are near the query, in hundredths."""
    cosines = {key: near.get(f"{key}: {text}", 0.0) for key, text in texts.items()}
    return {k: math.floor(c * 100 + 0.5) / 100 for k, c in cosines.items() if c > _NEAR}


def _cut(text: str) -> str:
    return js.well_formed(js.cut(text, _VALUE_UNITS))


def _shown(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [{"kind": hit.kind, "value": _cut(hit.text)} for hit in hits]


MEMORY_TOOLS = (remember, recall, search_memory)


def _several(value: Any) -> Any:
    return [value] if isinstance(value, str | dict) else value


def _named(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


class Milestone(Params):
    """A step to a goal; its name alone is enough."""

    name: str = Field(min_length=1)
    tasks: Annotated[list[str], BeforeValidator(_several)] = Field(default_factory=list)


Goals = Annotated[
    list[str],
    BeforeValidator(_several),
    Field(default_factory=list, validation_alias=AliasChoices("goals", "goal")),
]
Milestones = Annotated[
    list[Annotated[Milestone, BeforeValidator(_named)]], Field(default_factory=list)
]


@memory_tool("SET_GOAL", "sets what a project wants.", Risk.WRITE, lasting=True)
async def set_goal(
    context: ToolContext, *, project: NonEmpty, goals: Goals, milestones: Milestones
) -> ToolResult:
    """Add goals and milestones to a project, which is opened if it is new."""
    upkeep, now = memory_of(context).upkeep(""), context.now_ms()
    plans = await context.in_memory_thread(upkeep.projects)
    plan = plans.get(project) or {"goals": [], "milestones": [], "createdAt": now}
    plan["goals"] = list(dict.fromkeys([*plan["goals"], *goals]))
    known = {milestone["name"] for milestone in plan["milestones"]}
    new = {step.name: step for step in milestones if step.name not in known}
    plan["milestones"] += [
        {"name": name, "tasks": step.tasks, "status": "pending", "notes": "", "updatedAt": now}
        for name, step in new.items()
    ]
    plan["updatedAt"] = now
    await context.in_memory_thread(upkeep.put_project, project, plan)
    told = f'Project "{project}" saved with {len(plan["milestones"])} milestones.'
    return ToolResult({"success": True, "message": told})


@memory_tool("UPDATE_GOAL", "notes how far it is.", Risk.WRITE, lasting=True)
async def update_goal(
    context: ToolContext,
    *,
    project: NonEmpty,
    milestone: NonEmpty,
    status: Literal["pending", "in_progress", "done", "blocked", "dropped"] = "in_progress",
    notes: str = "",
) -> ToolResult:
    """Set a milestone's status; notes are added to those it has."""
    upkeep, now = memory_of(context).upkeep(""), context.now_ms()
    plan = _plan(await context.in_memory_thread(upkeep.projects), project)
    found = next((m for m in plan["milestones"] if m["name"] == milestone), None)
    if found is None:
        known = ", ".join(m["name"] for m in plan["milestones"]) or "none; SET_GOAL adds one"
        raise ToolError(f'No milestone "{milestone}".', hint=f"There are: {known}.")
    told = " | ".join(note for note in (found.get("notes"), notes) if note)
    found.update(status=status, notes=told, updatedAt=now)
    plan["updatedAt"] = now
    await context.in_memory_thread(upkeep.put_project, project, plan)
    said = f'"{milestone}" → {status}. {_progress(plan)} done.'
    return ToolResult({"success": True, "message": said})


@memory_tool("GET_GOALS", "gives the plans.")
async def get_goals(context: ToolContext, *, project: str = "") -> ToolResult:
    """Return one project's plan, or all."""
    plans = await context.in_memory_thread(memory_of(context).upkeep("").projects)
    if project:
        plans = {project: _plan(plans, project)}
    fields = ("name", "status", "tasks", "notes")
    shown = [
        {
            "name": name,
            "goals": plan["goals"],
            "milestones": [{f: step.get(f) for f in fields} for step in plan["milestones"]],
            "progress": _progress(plan),
        }
        for name, plan in plans.items()
    ]
    return ToolResult({"success": True, "projects": shown})


def _plan(plans: dict[str, Any], project: str) -> dict[str, Any]:
    if project not in plans:
        hint = "GET_GOALS lists them, SET_GOAL opens one."
        raise ToolError(f'No project "{project}".', hint=hint)
    found: dict[str, Any] = plans[project]
    return found


def _progress(plan: dict[str, Any]) -> str:
    done = sum(step.get("status") == "done" for step in plan["milestones"])
    return f"{done}/{len(plan['milestones'])}"


GOAL_TOOLS = (set_goal, update_goal, get_goals)


def wiki_of(context: ToolContext) -> Wiki:
    """Return the wiki of the run; raises `ToolError` where it has none."""
    if context.wiki is None:
        raise ToolError("there is no wiki in this run", hint="Go on without it.")
    return context.wiki


@memory_tool("memory_search", "finds files of the wiki.")
async def memory_search(
    context: ToolContext,
    *,
    query: str,
    limit: Annotated[int | None, Field(ge=1, le=20)] = None,
    source: WikiPart | None = None,
) -> ToolResult:
    """Find files."""
    wiki, limits = wiki_of(context), context.limits
    most, place = limit or limits.wiki_results, source or wiki.rules.source
    finding = partial(wiki.search, query, most, place, limits.wiki_snippet)
    found = await context.in_memory_thread(finding)
    shown = [{"path": f.path, "title": f.title, "score": round(f.score, 2)} for f in found]
    text = "\n".join(f"{f.path}: {' '.join(f.snippet.split())}" for f in found)
    return ToolResult({"query": query, "results": shown}, web=text, label="wiki")


@memory_tool("memory_get", "reads lines of one.")
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


@memory_tool("wiki_lint", "checks the wiki.")
async def wiki_lint(context: ToolContext) -> ToolResult:
    """Find what is wrong."""
    found = await context.in_memory_thread(wiki_of(context).lint)
    return ToolResult({"findings": len(found), "shown": [asdict(f) for f in found[:_FINDINGS]]})


@memory_tool("wiki_update_index", "renews its index.", Risk.WRITE)
async def wiki_update_index(context: ToolContext) -> ToolResult:
    """Write index, brief and gaps anew."""
    changed = await context.in_memory_thread(wiki_of(context).update_index)
    return ToolResult({"changed": changed})


@memory_tool("wiki_append_log", "adds to its log.", Risk.WRITE)
async def wiki_append_log(
    context: ToolContext, *, entry: Annotated[str, Field(min_length=1, max_length=500)]
) -> ToolResult:
    """Add a line under today's date."""
    changed = await context.in_memory_thread(wiki_of(context).append_log, entry)
    return ToolResult({"changed": changed})


@memory_tool("wiki_record_relationship", "links two pages.", Risk.WRITE)
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
    wiki = wiki_of(context)
    if not wiki.rules.allows(type):
        hint = f"Use one of {', '.join(sorted(wiki.rules.types))}."
        raise ToolError(f"no such type: {type}", hint=hint)
    new = [Relation(source, target, type, note, evidence, date)]
    added = await context.in_memory_thread(wiki.record_relations, new)
    return ToolResult({"added": len(added)})


WIKI_TOOLS = (
    memory_search, memory_get, wiki_lint, wiki_update_index, wiki_append_log,
    wiki_record_relationship,
)  # fmt: skip
