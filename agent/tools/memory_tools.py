"""Tools for data kept between runs: memory (REMEMBER, RECALL, …), goals, and the wiki's files.

Memory and goal tools have the same parameters and JSON results as in the reference engine. The six
wiki tools add a hundred tokens to every prompt, so only runs with a wiki have them.
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
from agent.memory.kinds import (
    BASES,
    ERROR,
    FACT,
    INSIGHT,
    OUTCOME,
    PLAYBOOK,
    PROFILE,
    PROJECT,
    SOURCE,
    is_known,
)
from agent.memory.memory_types import Origin
from agent.protocol.loose_json import loose_json, loose_object
from agent.tools.context import require_memory
from agent.tools.registry import (
    CONFIRMS,
    Group,
    NonEmpty,
    Params,
    Risk,
    ToolResult,
    raw_tool,
    reading_tool,
    sends_nothing,
)
from agent.tools.user import require_approval
from agent.types import ToolTrait

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.memory.memory_types import Hit
    from agent.tools.context import ToolContext
    from agent.wiki import Wiki


MAX_MATCHES = 10  # maximum number of search results, as in the reference engine
_MAX_VALUE_UNITS = 200
"""Maximum length of a value in search results, in UTF-16 units, as in the reference engine."""
_MIN_COSINE = 0.25
"""Texts with a cosine below this count as unrelated, as in the reference engine."""
_LISTED_KINDS = frozenset({"memory", "summary", "profile"})
"""Kinds in SEARCH_MEMORY's main list of results; other kinds are listed under `also`."""
SEARCHABLE_KINDS = (FACT, OUTCOME, ERROR, SOURCE, PLAYBOOK, INSIGHT, *BASES)
"""Kinds that SEARCH_MEMORY suggests: the kinds that runs write, and the knowledge bases."""
_REMEMBER_FORM = 'REMEMBER needs {"key":"...","value":"..."}'
_MAX_FINDINGS = 50
"""Maximum number of findings shown by WIKI_LINT."""

_REMEMBERS = frozenset({ToolTrait.REMEMBERS})

raw_memory_tool = partial(
    raw_tool,
    source="memory",
    risk=Risk.READ,
    sends=sends_nothing,
    group=Group.MEMORY,
    traits=_REMEMBERS,
)
memory_tool = partial(reading_tool, source="memory", sends=sends_nothing)
goal_tool = partial(memory_tool, group=Group.GOALS)
wiki_tool = partial(memory_tool, group=Group.WIKI)


@raw_memory_tool(
    "REMEMBER",
    "keeps a fact for later runs.",
    risk=Risk.WRITE,
    fields={"key": str, "value": str},
    activity="remembering",
    traits=CONFIRMS | _REMEMBERS,
)
async def remember(context: ToolContext, param: str) -> ToolResult:
    """Save a value under a key."""
    memory = require_memory(context)
    fields = loose_json(param)
    if fields is None:
        try:
            fields = json.loads(param)
        except ValueError as error:
            raise ToolError(f"Memory save failed: {error}") from error
    if not isinstance(fields, dict) or not js.truthy(fields.get("key")) or "value" not in fields:
        raise ToolError(_REMEMBER_FORM)
    name = js.to_string(fields["key"])
    # A model that has read other people's text may repeat it in the values that it saves.
    origin = Origin(run=context.run, trusted=not context.provenance.untrusted)
    if not origin.trusted and await context.in_memory_thread(memory.trusts, name):
        value = js.to_string(fields["value"])
        effect = f"replace your memory {name!r} with {value!r}"
        await require_approval(context, "REMEMBER", effect, act=False)
    await context.in_memory_thread(partial(memory.remember, name, fields["value"], origin=origin))
    return ToolResult({"success": True, "message": f'Remembered "{name}".'})


@raw_memory_tool(
    "RECALL",
    "returns what is kept under a key, or `all`.",
    fields={"key": str},
    activity="recalling",
)
async def recall(context: ToolContext, param: str) -> ToolResult:
    """Return the value saved under a key, or all saved values for `all`."""
    memory = require_memory(context)
    key = str(loose_object(param).get("key", param)) if param.startswith("{") else param
    saved = await context.in_memory_thread(memory.saved)
    if key == "all":
        return ToolResult({"success": True, "memory": saved})
    value = saved.get(key)
    if value is None:
        value = "Nothing saved under this key."
    return ToolResult({"success": True, "key": key, "value": value})


@raw_memory_tool(
    "SEARCH_MEMORY",
    "searches by words; `kinds` (error, playbook, …) limits it.",
    fields={"query": str, "kinds": (list[str] | None, None)},
    activity="searching memory",
)
async def search_memory(context: ToolContext, param: str) -> ToolResult:
    """Search saved values and the user's profile, then all other memories (under `also`).

    With `kinds`, only those kinds of memories or knowledge bases are searched.
    """
    memory = require_memory(context)
    fields = loose_object(param) if param.startswith("{") else {}
    query, kinds = str(fields.get("query", param)), fields.get("kinds")
    data: dict[str, Any] = {"success": True, "query": query}
    if isinstance(kinds, list) and kinds:
        kinds = [str(kind) for kind in kinds]
        hits = await context.in_memory_thread(memory.search, query, MAX_MATCHES, kinds)
        unknown = sorted(kind for kind in set(kinds) if not is_known(kind))
        # An unknown kind is an error only if nothing is found, as users may have custom kinds.
        if unknown and not hits:
            hint = f"Use one of {', '.join(SEARCHABLE_KINDS)}."
            raise ToolError(f"no memories of kind {', '.join(unknown)}", hint=hint)
        return ToolResult({**data, "kinds": kinds, "matches": _hit_rows(hits)})
    saved = await context.in_memory_thread(memory.saved)
    profile = await context.in_memory_thread(memory.values, PROFILE)
    entries = js.ordered({**saved, **{f"profile_{key}": value for key, value in profile.items()}})
    texts = {k: js.to_string(value) for k, value in entries.items() if not k.startswith("_")}
    cosines = await context.similarities(query, [f"{key}: {text}" for key, text in texts.items()])
    scores = _score_by_embeddings(texts, cosines) if cosines else _score_by_words(query, texts)
    best = sorted(scores.items(), key=lambda item: -item[1])[:MAX_MATCHES]
    data["matches"] = [
        {"key": key, "value": _cut(texts[key]), "relevance": score} for key, score in best
    ]
    data["method"] = "embeddings" if cosines else "keyword"
    hits = await context.in_memory_thread(memory.search, query, MAX_MATCHES)
    if also := [hit for hit in hits if hit.kind not in _LISTED_KINDS]:
        data["also"] = _hit_rows(also)
    return ToolResult(data)


def _score_by_words(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """Score entries by the share of the query's words that they contain; omit those with none."""
    words = [word for word in js.split_words(query.lower()) if js.length(word) > 2]
    counts = {k: sum(w in f"{k} {text}".lower() for w in words) for k, text in texts.items()}
    return {key: count / len(words) for key, count in counts.items() if count}


def _score_by_embeddings(
    texts: Mapping[str, str], cosines: Mapping[str, float]
) -> dict[str, float]:
    """Score related entries by their cosine, rounded to hundredths like JavaScript."""
    scores: dict[str, float] = {}
    for key, text in texts.items():
        cosine = cosines.get(f"{key}: {text}", 0.0)
        if cosine > _MIN_COSINE:
            scores[key] = math.floor(cosine * 100 + 0.5) / 100
    return scores


def _cut(text: str) -> str:
    return js.cut_well_formed(text, _MAX_VALUE_UNITS)


def _hit_rows(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [
        {"kind": hit.kind, "value": _cut(hit.text)}
        | ({} if hit.confidence is None else {"confidence": hit.confidence})
        for hit in hits
    ]


MEMORY_TOOLS = (remember, recall, search_memory)


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str | dict) else value


def _as_milestone(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


class Milestone(Params):
    """A step towards a goal; a model may provide only its name."""

    name: str = Field(min_length=1)
    tasks: Annotated[list[str], BeforeValidator(_as_list)] = Field(default_factory=list)


Goals = Annotated[
    list[str],
    BeforeValidator(_as_list),
    Field(default_factory=list, validation_alias=AliasChoices("goals", "goal")),
]
Milestones = Annotated[
    list[Annotated[Milestone, BeforeValidator(_as_milestone)]], Field(default_factory=list)
]


@goal_tool(
    "SET_GOAL",
    "sets the goals of a project.",
    risk=Risk.WRITE,
    lasting=True,
    allowed_task=True,
    activity="setting goals",
)
async def set_goal(
    context: ToolContext, *, project: NonEmpty, goals: Goals, milestones: Milestones
) -> ToolResult:
    """Add goals and milestones to a project, creating it if necessary."""
    memory, now = require_memory(context), context.now_ms()
    plans = await context.in_memory_thread(memory.values, PROJECT)
    plan = plans.get(project) or {"goals": [], "milestones": [], "createdAt": now}
    plan["goals"] = list(dict.fromkeys([*plan["goals"], *goals]))
    known = {milestone["name"] for milestone in plan["milestones"]}
    new = {milestone.name: milestone for milestone in milestones if milestone.name not in known}
    plan["milestones"] += [
        {"name": name, "tasks": step.tasks, "status": "pending", "notes": "", "updatedAt": now}
        for name, step in new.items()
    ]
    plan["updatedAt"] = now
    await context.in_memory_thread(memory.save, PROJECT, {project: plan})
    message = f'Project "{project}" saved with {len(plan["milestones"])} milestones.'
    return ToolResult({"success": True, "message": message})


@goal_tool(
    "UPDATE_GOAL",
    "sets the progress of a milestone.",
    risk=Risk.WRITE,
    lasting=True,
    allowed_task=True,
    activity="updating goals",
)
async def update_goal(
    context: ToolContext,
    *,
    project: NonEmpty,
    milestone: NonEmpty,
    status: Literal["pending", "in_progress", "done", "blocked", "dropped"] = "in_progress",
    notes: str = "",
) -> ToolResult:
    """Set a milestone's status, and append to its notes."""
    memory, now = require_memory(context), context.now_ms()
    plan = _plan(await context.in_memory_thread(memory.values, PROJECT), project)
    found = next((m for m in plan["milestones"] if m["name"] == milestone), None)
    if found is None:
        known = ", ".join(m["name"] for m in plan["milestones"]) or "none; SET_GOAL adds one"
        raise ToolError(f'No milestone "{milestone}".', hint=f"Milestones: {known}.")
    all_notes = " | ".join(note for note in (found.get("notes"), notes) if note)
    found.update(status=status, notes=all_notes, updatedAt=now)
    plan["updatedAt"] = now
    await context.in_memory_thread(memory.save, PROJECT, {project: plan})
    message = f'"{milestone}" → {status}. {_progress(plan)} done.'
    return ToolResult({"success": True, "message": message})


@goal_tool("GET_GOALS", "lists goals and milestones.", activity="reading goals")
async def get_goals(context: ToolContext, *, project: str = "") -> ToolResult:
    """Return the plan of one project, or of all projects."""
    plans = await context.in_memory_thread(require_memory(context).values, PROJECT)
    if project:
        plans = {project: _plan(plans, project)}
    fields = ("name", "status", "tasks", "notes")
    rows = [
        {
            "name": name,
            "goals": plan["goals"],
            "milestones": [{f: step.get(f) for f in fields} for step in plan["milestones"]],
            "progress": _progress(plan),
        }
        for name, plan in plans.items()
    ]
    empty = {} if rows else {"message": "No projects yet. SET_GOAL creates one."}
    return ToolResult({"success": True, "projects": rows, **empty})


def _plan(plans: dict[str, Any], project: str) -> dict[str, Any]:
    if project not in plans:
        hint = "GET_GOALS lists projects; SET_GOAL creates one."
        raise ToolError(f'No project "{project}".', hint=hint)
    found: dict[str, Any] = plans[project]
    return found


def _progress(plan: dict[str, Any]) -> str:
    done = sum(step.get("status") == "done" for step in plan["milestones"])
    return f"{done}/{len(plan['milestones'])}"


GOAL_TOOLS = (set_goal, update_goal, get_goals)


def require_wiki(context: ToolContext) -> Wiki:
    """Return the run's wiki; raises `ToolError` if it has none."""
    if context.wiki is None:
        raise ToolError("this run has no wiki", hint="Continue without it.")
    return context.wiki


@wiki_tool(
    "memory_search",
    "finds files of the wiki.",
    activity="searching the wiki",
    traits=_REMEMBERS,
)
async def memory_search(
    context: ToolContext,
    *,
    query: str,
    limit: Annotated[int | None, Field(ge=1, le=20)] = None,
    source: WikiPart | None = None,
) -> ToolResult:
    """Search the files of the wiki."""
    wiki, limits = require_wiki(context), context.limits
    limit, part = limit or limits.wiki_results, source or wiki.rules.source
    found = await context.in_memory_thread(wiki.search, query, limit, part, limits.wiki_snippet)
    rows = [{"path": f.path, "title": f.title, "score": round(f.score, 2)} for f in found]
    text = "\n".join(f"{f.path}: {' '.join(f.snippet.split())}" for f in found)
    return ToolResult({"query": query, "results": rows}, web=text, label="wiki")


@wiki_tool("memory_get", "reads lines of a file.", activity="reading the wiki", traits=_REMEMBERS)
async def memory_get(
    context: ToolContext,
    *,
    path: str,
    start: int = 1,
    lines: Annotated[int | None, Field(ge=1, le=500)] = None,
) -> ToolResult:
    """Read lines of a wiki file; shown as web text, as runs may have copied them from pages."""
    wiki, limits = require_wiki(context), context.limits
    window = await context.in_memory_thread(
        wiki.read_lines, path, start, lines or limits.wiki_lines, limits.wiki_units
    )
    if window is None:
        raise ToolError(f"no such file: {path}", hint="Find a file with memory_search.")
    data = asdict(window)
    return ToolResult(data, web=data.pop("content"), label="wiki")


@wiki_tool("wiki_lint", "checks the wiki.", activity="checking the wiki")
async def wiki_lint(context: ToolContext) -> ToolResult:
    """Check the wiki for broken links and other mistakes."""
    found = await context.in_memory_thread(require_wiki(context).lint)
    shown = [asdict(finding) for finding in found[:_MAX_FINDINGS]]
    return ToolResult({"findings": len(found), "shown": shown})


@wiki_tool(
    "wiki_update_index",
    "renews its index.",
    risk=Risk.WRITE,
    activity="updating the wiki's index",
)
async def wiki_update_index(context: ToolContext) -> ToolResult:
    """Rewrite the index, the context brief and the list of missing pages."""
    changed = await context.in_memory_thread(require_wiki(context).update_index)
    return ToolResult({"changed": changed})


@wiki_tool(
    "wiki_append_log", "adds to its log.", risk=Risk.WRITE, activity="adding to the wiki's log"
)
async def wiki_append_log(
    context: ToolContext, *, entry: Annotated[str, Field(min_length=1, max_length=500)]
) -> ToolResult:
    """Add a line to the log, under today's date."""
    changed = await context.in_memory_thread(require_wiki(context).append_log, entry)
    return ToolResult({"changed": changed})


@wiki_tool(
    "wiki_record_relationship",
    "links two pages.",
    risk=Risk.WRITE,
    activity="linking wiki pages",
)
async def wiki_record_relationship(
    context: ToolContext,
    *,
    source: Annotated[str, Field(validation_alias=AliasChoices("source", "from"))],
    target: Annotated[str, Field(validation_alias=AliasChoices("target", "to"))],
    type: str,  # noqa: A002 - the name used in the file
    note: str = "",
    evidence: str = "",
    date: str = "",
) -> ToolResult:
    """Record a relationship between two pages, unless it is already recorded."""
    wiki = require_wiki(context)
    if not wiki.rules.allows(type):
        hint = f"Use one of {', '.join(sorted(wiki.rules.types))}."
        raise ToolError(f"no such type: {type}", hint=hint)
    from agent.wiki import Relation  # noqa: PLC0415 - few runs have a wiki

    new = [Relation(source, target, type, note, evidence, date)]
    added = await context.in_memory_thread(wiki.record_relations, new)
    return ToolResult({"added": len(added)})


WIKI_TOOLS = (
    memory_search, memory_get, wiki_lint, wiki_update_index, wiki_append_log,
    wiki_record_relationship,
)  # fmt: skip
