"""Lets a model continue a rerun from the step that differs from the record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.journal.events import MAIN
from agent.loop.context_builder import ContextBuilder
from agent.loop.judge import ClaimJudge
from agent.prompts import prompt
from agent.protocol.replies import inert
from agent.run.wiring import new_orchestrator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AsyncExitStack

    from agent.loop.loop import LoopResult
    from agent.run.models import ResolvedModel
    from agent.run.services import RunServices
    from agent.tools.toolset import ToolSelection

TAKEOVER: Final = "takeover"


async def take_over(
    services: RunServices,
    model: ResolvedModel,
    stack: AsyncExitStack,
    tools: ToolSelection,
    *,
    question: str,
    done: Sequence[str],
    why: str,
    remaining: Sequence[str],
) -> tuple[LoopResult, ClaimJudge]:
    """Have the model perform the `remaining` steps on the open page.

    `done` describes the repeated steps, and `why` how the next one differs from the record. Returns
    the model's answer and the judge that checks it.
    """
    number = len(done) + 1
    services.write("rerun.taken_over", f"{MAIN}/{number}", why=why)
    opened = await model.open(stack, lambda note: services.write("note", text=note))
    builder = ContextBuilder(services.context, services.folder.id)
    work = new_orchestrator(services, opened, builder, tools)
    # The model's steps are numbered after all repeated steps, including the failed one.
    services.budget.steps += number
    services.budget.max_steps += number
    request = prompt(TAKEOVER).replace("{question}", question)
    request = request.replace("{done}", inert("; ".join(done)) or "none")
    request = request.replace("{why}", inert(why))
    request = request.replace("{left}", inert("\n".join(f"- {step}" for step in remaining)))
    result = await work.continue_with(await builder(request))
    return result, ClaimJudge(services.evidence, services.budget, services.record, work.model)
