"""Plans: SET_GOAL, UPDATE_GOAL, GET_GOALS, what a project wants and how far it has come.

They take and give the reference engine's JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from agent.errors import ToolError
from agent.tools.context import memory_of
from agent.tools.registry import Params, Risk, Tool, ToolResult

if TYPE_CHECKING:
    from agent.tools.context import ToolContext

_DONE = "done"


def _several(value: Any) -> Any:
    return [value] if isinstance(value, str | dict) else value


def _named(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


class Milestone(Params):
    """A step to a goal; its name alone is enough."""

    name: str = Field(min_length=1)
    tasks: Annotated[list[str], BeforeValidator(_several)] = Field(default_factory=list)


class SetGoalParams(Params):
    """What a project wants, and the steps to it."""

    project: str = Field(min_length=1)
    goals: Annotated[list[str], BeforeValidator(_several)] = Field(
        default_factory=list, validation_alias=AliasChoices("goals", "goal")
    )
    milestones: list[Annotated[Milestone, BeforeValidator(_named)]] = Field(default_factory=list)


class UpdateGoalParams(Params):
    """How far a milestone has come."""

    project: str = Field(min_length=1)
    milestone: str = Field(min_length=1)
    status: Literal["pending", "in_progress", "done", "blocked", "dropped"] = "in_progress"
    notes: str = ""


class GetGoalsParams(Params):
    """Which project; all where none is named."""

    project: str = ""


async def set_goal(context: ToolContext, params: SetGoalParams) -> ToolResult:
    """Add goals and milestones to a project, which is opened if it is new."""
    upkeep = memory_of(context).upkeep("")
    now = context.now_ms()
    plans = await context.in_memory_thread(upkeep.projects)
    plan = plans.get(params.project) or {"goals": [], "milestones": [], "createdAt": now}
    plan["goals"] = list(dict.fromkeys([*plan["goals"], *params.goals]))
    known = {milestone["name"] for milestone in plan["milestones"]}
    new = {step.name: step for step in params.milestones if step.name not in known}
    plan["milestones"] += [
        {"name": name, "tasks": step.tasks, "status": "pending", "notes": "", "updatedAt": now}
        for name, step in new.items()
    ]
    plan["updatedAt"] = now
    await context.in_memory_thread(upkeep.put_project, params.project, plan)
    told = f'Project "{params.project}" saved with {len(plan["milestones"])} milestones.'
    return ToolResult({"success": True, "message": told})


async def update_goal(context: ToolContext, params: UpdateGoalParams) -> ToolResult:
    """Set a milestone's status; notes are added to those it has."""
    upkeep = memory_of(context).upkeep("")
    plans = await context.in_memory_thread(upkeep.projects)
    plan, now = _plan(plans, params.project), context.now_ms()
    found = next((m for m in plan["milestones"] if m["name"] == params.milestone), None)
    if found is None:
        known = ", ".join(m["name"] for m in plan["milestones"]) or "none; SET_GOAL adds one"
        raise ToolError(f'No milestone "{params.milestone}".', hint=f"There are: {known}.")
    notes = " | ".join(note for note in (found.get("notes"), params.notes) if note)
    found.update(status=params.status, notes=notes, updatedAt=now)
    plan["updatedAt"] = now
    await context.in_memory_thread(upkeep.put_project, params.project, plan)
    told = f'"{params.milestone}" → {params.status}. {_progress(plan)} done.'
    return ToolResult({"success": True, "message": told})


async def get_goals(context: ToolContext, params: GetGoalsParams) -> ToolResult:
    """Give one project's plan, or all."""
    plans = await context.in_memory_thread(memory_of(context).upkeep("").projects)
    if params.project:
        plans = {params.project: _plan(plans, params.project)}
    return ToolResult({"success": True, "projects": [_shown(*item) for item in plans.items()]})


def _plan(plans: dict[str, Any], project: str) -> dict[str, Any]:
    if project not in plans:
        raise ToolError(
            f'No project "{project}".', hint="GET_GOALS lists them, SET_GOAL opens one."
        )
    found: dict[str, Any] = plans[project]
    return found


def _shown(name: str, plan: dict[str, Any]) -> dict[str, Any]:
    fields = ("name", "status", "tasks", "notes")
    milestones = [{field: step.get(field) for field in fields} for step in plan["milestones"]]
    progress = _progress(plan)
    return {"name": name, "goals": plan["goals"], "milestones": milestones, "progress": progress}


def _progress(plan: dict[str, Any]) -> str:
    done = sum(step.get("status") == _DONE for step in plan["milestones"])
    return f"{done}/{len(plan['milestones'])}"


GOAL_TOOLS = (
    Tool(
        "SET_GOAL", "sets what a project wants.", SetGoalParams, set_goal, Risk.WRITE, lasting=True
    ),
    Tool(
        "UPDATE_GOAL",
        "notes how far it is.",
        UpdateGoalParams,
        update_goal,
        Risk.WRITE,
        lasting=True,
    ),
    Tool("GET_GOALS", "gives the plans.", GetGoalsParams, get_goals),
)
