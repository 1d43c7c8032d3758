"""What is kept and wanted: REMEMBER, RECALL, SEARCH_MEMORY; SET_GOAL, UPDATE_GOAL, GET_GOALS.

In the reference engine's forms, and its JSON.
"""

from __future__ import annotations

import json
import math
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from agent import jsvalues as js
from agent.errors import ToolError
from agent.memory.kinds import BASES, ERROR, FACT, INSIGHT, KNOWN, OUTCOME, PLAYBOOK, SOURCE
from agent.memory.memory_types import Origin
from agent.protocol.replies import loose_json, loose_object
from agent.tools.context import memory_of
from agent.tools.person import needs_yes
from agent.tools.registry import Needed, Params, Risk, ToolResult, raw_tool, tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.memory.memory_types import Hit
    from agent.tools.context import ToolContext


MATCHES = 10
_VALUE_UNITS = 200
_NEAR = 0.25
"""Cosine below which two texts have nothing to do with each other, as in the reference engine."""
_SHOWN_KINDS = frozenset({"memory", "summary", "profile"})
VIEWS = (FACT, OUTCOME, ERROR, SOURCE, PLAYBOOK, INSIGHT, *BASES)
"""What SEARCH_MEMORY can be asked for alone: what runs leave, and the knowledge bases."""
_FORM = 'REMEMBER needs {"key":"...","value":"..."}'


@raw_tool("REMEMBER", "keeps a fact for later runs.", Risk.WRITE, key=str, value=str)
async def remember(context: ToolContext, param: str) -> ToolResult:
    """Keep a value under a key."""
    memory = memory_of(context)
    fields = _fields(param)
    key = fields.get("key")
    if not js.truthy(key) or "value" not in fields:
        raise ToolError(_FORM)
    name = js.to_string(key)
    # What a model writes after it has read somebody else's words may be theirs.
    origin = Origin(run=context.run, trusted=not context.read.untrusted)
    if not origin.trusted and await context.in_memory_thread(memory.upkeep("").trusts, name):
        value = js.to_string(fields["value"])
        await needs_yes(
            context,
            "REMEMBER",
            f"replaces what you had saved as {name!r} by {value!r}",
            act=False,
        )
    await context.in_memory_thread(partial(memory.remember, name, fields["value"], origin=origin))
    return ToolResult({"success": True, "message": f'Remembered "{name}".'})


@raw_tool("RECALL", "gives what is kept under a key, or `all`.", key=str)
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


@raw_tool(
    "SEARCH_MEMORY",
    "searches what is kept, by words; of `kinds` (error, playbook, …) alone if wanted.",
    query=str,
    kinds=(list[str] | None, None),
)
async def search_memory(context: ToolContext, param: str) -> ToolResult:
    """Search what is saved and known of the person by words; then all else that is kept.

    Asked for `kinds`, it gives those alone: kinds of memories, or knowledge bases.
    """
    memory = memory_of(context)
    asked = loose_object(param) if param.startswith("{") else {}
    query = str(asked.get("query", param))
    kinds = [str(kind) for kind in asked["kinds"]] if isinstance(asked.get("kinds"), list) else []
    if kinds:
        return await _of_kinds(context, query, kinds)
    upkeep = memory.upkeep("")
    saved = await context.in_memory_thread(upkeep.saved)
    profile = await context.in_memory_thread(upkeep.profile)
    known = js.ordered({**saved, **{f"profile_{key}": value for key, value in profile.items()}})
    near = await _near(context, query, known)
    data: dict[str, Any] = {"success": True, "query": query}
    data["matches"] = near if near is not None else matches(query, known)
    data["method"] = "keyword" if near is None else "embeddings"
    hits = await context.in_memory_thread(memory.search, query, MATCHES)
    also = [hit for hit in hits if hit.kind not in _SHOWN_KINDS]
    if also:
        data["also"] = _shown(also)
    return ToolResult(data)


async def _of_kinds(context: ToolContext, query: str, kinds: list[str]) -> ToolResult:
    """Search one view of memory, by words; names of no kind are told with those there are."""
    memory = memory_of(context)
    hits = await context.in_memory_thread(memory.search, query, MATCHES, kinds)
    unknown = sorted(set(kinds) - BASES.keys() - KNOWN)
    if unknown and not hits:  # a person may have written memories of kinds of their own
        hint = f"Take {', '.join(VIEWS)}."
        raise ToolError(f"nothing is of kind {', '.join(unknown)}", hint=hint)
    return ToolResult({"success": True, "query": query, "kinds": kinds, "matches": _shown(hits)})


def _shown(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [{"kind": h.kind, "value": js.well_formed(js.cut(h.text, _VALUE_UNITS))} for h in hits]


def matches(query: str, known: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Find the (at most ten) entries that hold words of the query, best first."""
    words = [word for word in js.split_words(query.lower()) if js.length(word) > 2]
    found: list[dict[str, Any]] = []
    for key, value in known.items():
        text = f"{key} {js.to_string(value)}".lower()
        count = sum(word in text for word in words)
        if count and not key.startswith("_"):
            found.append(_match(key, value, count / len(words)))
    return _best(found)


async def _near(
    context: ToolContext, query: str, known: Mapping[str, Any]
) -> list[dict[str, Any]] | None:
    """Find entries by embeddings; None where the run has none."""
    texts = {key: f"{key}: {js.to_string(value)}" for key, value in known.items() if key[:1] != "_"}
    near = await context.near(query, list(texts.values()))
    if not near:
        return None
    scored = [(key, near[text]) for key, text in texts.items() if text in near]
    return _best([_match(k, known[k], _hundredths(n)) for k, n in scored if n > _NEAR])


def _best(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=lambda match: -match["relevance"])[:MATCHES]


def _match(key: str, value: Any, relevance: float) -> dict[str, Any]:
    shown = js.well_formed(js.cut(js.to_string(value), _VALUE_UNITS))
    return {"key": key, "value": shown, "relevance": relevance}


def _hundredths(number: float) -> float:
    return math.floor(number * 100 + 0.5) / 100


def _fields(param: str) -> Mapping[str, Any]:
    """Read what REMEMBER is given; raises `ToolError` that says what is wrong with it."""
    value = loose_json(param)
    if value is None:
        try:
            value = json.loads(param)
        except ValueError as error:
            raise ToolError(f"Memory save failed: {error}") from error
    if not isinstance(value, dict):
        raise ToolError(_FORM)
    return value


MEMORY_TOOLS = (remember, recall, search_memory)

_DONE = "done"


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


@tool("SET_GOAL", "sets what a project wants.", Risk.WRITE, lasting=True)
async def set_goal(
    context: ToolContext, *, project: Needed, goals: Goals, milestones: Milestones
) -> ToolResult:
    """Add goals and milestones to a project, which is opened if it is new."""
    upkeep = memory_of(context).upkeep("")
    now = context.now_ms()
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


@tool("UPDATE_GOAL", "notes how far it is.", Risk.WRITE, lasting=True)
async def update_goal(
    context: ToolContext,
    *,
    project: Needed,
    milestone: Needed,
    status: Literal["pending", "in_progress", "done", "blocked", "dropped"] = "in_progress",
    notes: str = "",
) -> ToolResult:
    """Set a milestone's status; notes are added to those it has."""
    upkeep = memory_of(context).upkeep("")
    plans = await context.in_memory_thread(upkeep.projects)
    plan, now = _plan(plans, project), context.now_ms()
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


@tool("GET_GOALS", "gives the plans.")
async def get_goals(context: ToolContext, *, project: str = "") -> ToolResult:
    """Give one project's plan, or all."""
    plans = await context.in_memory_thread(memory_of(context).upkeep("").projects)
    if project:
        plans = {project: _plan(plans, project)}
    return ToolResult({"success": True, "projects": [_project(*item) for item in plans.items()]})


def _plan(plans: dict[str, Any], project: str) -> dict[str, Any]:
    if project not in plans:
        raise ToolError(
            f'No project "{project}".', hint="GET_GOALS lists them, SET_GOAL opens one."
        )
    found: dict[str, Any] = plans[project]
    return found


def _project(name: str, plan: dict[str, Any]) -> dict[str, Any]:
    fields = ("name", "status", "tasks", "notes")
    milestones = [{field: step.get(field) for field in fields} for step in plan["milestones"]]
    progress = _progress(plan)
    return {"name": name, "goals": plan["goals"], "milestones": milestones, "progress": progress}


def _progress(plan: dict[str, Any]) -> str:
    done = sum(step.get("status") == _DONE for step in plan["milestones"])
    return f"{done}/{len(plan['milestones'])}"


GOAL_TOOLS = (set_goal, update_goal, get_goals)
