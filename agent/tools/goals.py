"""Plans: SET_GOAL, UPDATE_GOAL, GET_GOALS, what a project wants and how far it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from agent.errors import ToolError
from agent.tools.context import memory_of
from agent.tools.registry import Params, Risk, Tool, ToolResult

if TYPE_CHECKING:
    from agent.tools.context import ToolContext


class SetGoalParams(Params):
    """What a project wants, and the steps to it."""

    project: str = Field(min_length=1)
    goal: str = Field(min_length=1)
    milestones: list[str] = Field(default_factory=list)


class UpdateGoalParams(Params):
    """How far a milestone has come."""

    project: str = Field(min_length=1)
    milestone: str = Field(min_length=1)
    status: Literal["pending", "active", "done", "dropped"] = "active"
    notes: str = ""


class GetGoalsParams(Params):
    """Which project; all where none is named."""

    project: str = ""


async def set_goal(context: ToolContext, params: SetGoalParams) -> ToolResult:
    """Add a goal and milestones to a project, which is opened if it is new."""
    upkeep = memory_of(context).upkeep("")
    now = context.now_ms()
    plans = await context.in_memory_thread(upkeep.projects)
    plan = plans.get(params.project) or {"goals": [], "milestones": [], "createdAt": now}
    plan["goals"] = list(dict.fromkeys([*plan["goals"], params.goal]))
    known = {milestone["name"] for milestone in plan["milestones"]}
    plan["milestones"] += [_milestone(name, now) for name in params.milestones if name not in known]
    plan["updatedAt"] = now
    await context.in_memory_thread(upkeep.put_project, params.project, plan)
    return ToolResult({"success": True, "project": params.project, "plan": plan})


async def update_goal(context: ToolContext, params: UpdateGoalParams) -> ToolResult:
    """Set a milestone's status; notes are added to those it has."""
    upkeep = memory_of(context).upkeep("")
    plans = await context.in_memory_thread(upkeep.projects)
    if params.project not in plans:
        raise ToolError(f"no project {params.project!r}", hint="SET_GOAL opens one.")
    plan, now = plans[params.project], context.now_ms()
    found = next((m for m in plan["milestones"] if m["name"] == params.milestone), None)
    if found is None:
        known = ", ".join(m["name"] for m in plan["milestones"]) or "none"
        raise ToolError(f"no milestone {params.milestone!r}", hint=f"There are: {known}.")
    notes = " | ".join(note for note in (found["notes"], params.notes) if note)
    found.update(status=params.status, notes=notes, updatedAt=now)
    plan["updatedAt"] = now
    await context.in_memory_thread(upkeep.put_project, params.project, plan)
    return ToolResult({"success": True, "project": params.project, "milestone": found})


async def get_goals(context: ToolContext, params: GetGoalsParams) -> ToolResult:
    """Give one project's plan, or all."""
    plans = await context.in_memory_thread(memory_of(context).upkeep("").projects)
    if not params.project:
        return ToolResult({"success": True, "projects": plans})
    if params.project not in plans:
        raise ToolError(f"no project {params.project!r}", hint="GET_GOALS alone lists them.")
    return ToolResult({"success": True, "project": params.project, "plan": plans[params.project]})


def _milestone(name: str, now: int) -> dict[str, Any]:
    return {"name": name, "tasks": [], "status": "pending", "notes": "", "updatedAt": now}


GOAL_TOOLS = (
    Tool("SET_GOAL", "sets what a project wants.", SetGoalParams, set_goal, Risk.WRITE),
    Tool("UPDATE_GOAL", "notes how far it is.", UpdateGoalParams, update_goal, Risk.WRITE),
    Tool("GET_GOALS", "gives the plans.", GetGoalsParams, get_goals),
)
