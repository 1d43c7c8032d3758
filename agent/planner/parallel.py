"""Subtasks in loops of their own, side by side where they do not need each other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent import jsvalues as js
from agent.errors import ReplayDiverged, ResearchError
from agent.guard import fit_opening
from agent.loop import Loop, LoopResult
from agent.models import Message

if TYPE_CHECKING:
    from agent.guard import Budget
    from agent.planner.plan import Subtask

SIDE_BY_SIDE = 4
"""Loops at once: as many as a plan has subtasks; more would only wait for the same sites."""
RESULT_UNITS = 2_000
"""Of a result, as later subtasks and the synthesis are shown it; the reference engine's."""
FEWEST_STEPS = 2
"""A part with fewer could not look at anything before it answers."""
NO_RESPONSE = "No response."
"""What an empty answer is called."""

Begin = Callable[[str, str], Awaitable[list[Message]]]
"""Question and place to the messages that a loop begins with."""
Finish = Callable[[Loop, list[Message], LoopResult], Awaitable[LoopResult]]
"""What is done with a part's result before it counts as done."""


@dataclass(slots=True)
class SubtaskRunner:
    """Runs subtasks, each as soon as those are done that it depends on.

    Places are numbered from 1 in the order of the plan; `finish` may have a part mended.
    """

    begin: Begin
    new_loop: Callable[[str, Budget], Loop]
    budget: Budget
    at_once: int = SIDE_BY_SIDE
    finish: Finish | None = None

    async def results(self, plan: Sequence[Subtask], steps: int) -> list[LoopResult]:
        """Give the results in the order of the plan; each part takes so many steps at most."""
        gate = asyncio.Semaphore(self.at_once)
        numbers = range(1, len(plan) + 1)
        budgets = [self.budget.part(len(plan) + 1, steps, str(number)) for number in numbers]
        running: list[asyncio.Task[LoopResult]] = []

        async def run(number: int, subtask: Subtask) -> LoopResult:
            if number and self.at_once == 1:
                await running[number - 1]
            before = {n: (await running[n]).text for n in subtask.depends_on}
            async with gate:
                task = _with_results(subtask, before)
                return await self._result(task, str(number + 1), budgets[number])

        try:
            for number, subtask in enumerate(plan):
                running.append(asyncio.create_task(run(number, subtask)))
            return list(await asyncio.gather(*running))
        finally:
            for task in running:
                task.cancel()
            self.budget.elsewhere += sum(budget.steps for budget in budgets)

    async def _result(self, task: str, place: str, budget: Budget) -> LoopResult:
        try:
            messages = fit_opening(await self.begin(task, place))
            loop = self.new_loop(place, budget)
            result = await loop.run(messages)
            if self.finish is not None:
                result = await self.finish(loop, messages, result)
        except ReplayDiverged:
            raise
        except ResearchError as error:
            return LoopResult(f"Failed: {error}")
        return LoopResult(result.text or NO_RESPONSE, result.limit)


def cut(result: str) -> str:
    """Cut a result to what others are shown of it."""
    return js.well_formed(js.cut(result, RESULT_UNITS))


def _with_results(subtask: Subtask, results: dict[int, str]) -> str:
    if not subtask.dependent:
        return subtask.task
    lines = [f"[Step {n + 1} result]: {cut(results[n])}" for n in subtask.depends_on]
    return "\n".join([subtask.task, "", "Context from previous steps:", *(lines or [""])])
