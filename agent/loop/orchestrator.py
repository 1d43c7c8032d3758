"""One question's work: a loop, subtasks side by side, or a report; then what is still open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent import jsvalues as js
from agent.config import CONTEXT_WINDOW
from agent.errors import ReplayDiverged, ResearchError
from agent.guard.budget import LimitReached
from agent.guard.model_client import ModelClient
from agent.guard.repetition import Repetition
from agent.guard.window import Window, fit_opening
from agent.journal.events import CLOSING, MAIN, MISSING, OUTLINE, PLAN, SYNTHESIS
from agent.limits import STANDARD, Effort
from agent.loop import report_sections as report
from agent.loop.loop import Loop, LoopResult, without_calls
from agent.loop.plan import (
    NO_RESPONSE,
    SIDE_BY_SIDE,
    StepPlan,
    Subtask,
    missing_note,
    missing_request,
    read_plan,
    read_points,
    read_steps,
    wants_plan,
)
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.types import Message

if TYPE_CHECKING:
    from agent.guard.budget import Budget
    from agent.guard.model_client import Record
    from agent.models.base import Model
    from agent.prompts import Guides
    from agent.protocol.results import Caller

QUOTED = 500
"""UTF-16 units of a question that a plan and a synthesis are shown; the reference engine's."""
RESULT_UNITS = 2_000
"""Of a result, as later subtasks and the synthesis are shown it; the reference engine's."""
FEWEST_STEPS = 2
"""A part with fewer could not look at anything before it answers."""

Begin = Callable[[str, str], Awaitable[list[Message]]]
"""Question and place to the messages that a loop begins with."""


def cut(result: str) -> str:
    """Cut a result to what others are shown of it."""
    return js.well_formed(js.cut(result, RESULT_UNITS))


def _with_results(subtask: Subtask, results: dict[int, str]) -> str:
    if not subtask.dependent:
        return subtask.task
    lines = [f"[Step {n + 1} result]: {cut(results[n])}" for n in subtask.depends_on]
    return "\n".join([subtask.task, "", "Context from previous steps:", *(lines or [""])])


def _no_objections(_text: str, _place: str) -> str | None:
    return None


@dataclass(slots=True)
class Orchestrator:
    """One question's work; every model call in it is recorded under a place of its own.

    `opening(question, place)` lays out what a loop begins with; `objections(text, place)` says
    what does not hold in a section of a report; `concurrent` bounds the loops that run at once.
    `guides(system)` gives the helper texts of a loop, shown when it first uses what they are about;
    `context_window` is in tokens.
    """

    model: Model
    calls: Caller
    budget: Budget
    system: str
    record: Record
    opening: Begin
    effort: Effort = STANDARD
    as_report: bool = False
    objections: Callable[[str, str], str | None] = _no_objections
    guarded: bool = True
    concurrent: int = SIDE_BY_SIDE
    guides: Callable[[str], Guides] | None = None
    context_window: int = CONTEXT_WINDOW
    messages: list[Message] = field(default_factory=list, init=False)
    _loop: Loop = field(init=False)

    def __post_init__(self) -> None:
        self._loop = self._new_loop(MAIN, self.budget)

    async def answer(self, question: str) -> LoopResult:
        """Answer. Raises `ModelError`; a plan that fails leaves the question to one loop."""
        self.messages = fit_opening(await self.opening(question, MAIN))
        if self.as_report:
            return await self._report(question)
        reply = await self._plan(question)
        plan = self._subtasks(reply)
        answer = await self._by_subtasks(question, plan) if plan else None
        if not plan:
            self._follow(read_steps(reply, self.budget.steps_left))
        if answer is None:
            answer = await self._loop.run(self.messages)
        return await self._filled(question, answer)

    async def go_on(self, answer: str, said: str) -> LoopResult:
        """Say something about an answer, and work until there is another one."""
        self.messages.append(Message("assistant", answer))
        return await self._loop.go_on(self.messages, said)

    async def _plan(self, question: str) -> str:
        wanted = self.effort.plans and wants_plan(question)
        if not wanted or not takes(self.model, Task.PLAN):
            return ""
        request = Message("user", f"Request: {_quoted(question)}")
        return await self._asked(PLAN, prompt(PLAN), [request]) or ""

    def _subtasks(self, reply: str) -> list[Subtask]:
        plan = read_plan(reply)
        return plan if self.budget.share_of(len(plan)) >= FEWEST_STEPS else []

    def _follow(self, plan: StepPlan | None) -> None:
        """Put a plan behind the question, unless the record has it there already."""
        asked = self.messages[-1]
        if plan is None:
            return
        self._loop.planned = plan.budget
        if not asked.content.endswith(plan.note()):
            self.messages[-1] = replace(asked, content=f"{asked.content}\n\n{plan.note()}")
            self.record("plan", PLAN, steps=[step for step, _ in plan.steps], budget=plan.budget)

    async def _by_subtasks(self, question: str, plan: Sequence[Subtask]) -> LoopResult | None:
        """Work on the subtasks and put their results together; None where that fails."""
        self.record("plan", PLAN, subtasks=[subtask.task for subtask in plan])
        results = await self._side_by_side(plan)
        texts = [result.text for result in results]
        messages = [*self.messages, _synthesis(question, plan, texts)]
        reply = await self._asked(SYNTHESIS, self.system, messages, final=True)
        if reply is None:
            return None
        self.messages = messages
        limit = next((result.limit for result in results if result.limit), None)
        return LoopResult(without_calls(reply), limit)

    async def _filled(self, question: str, answer: LoopResult) -> LoopResult:
        """Ask what a draft leaves open, and research it, as often as the depth says."""
        for number in range(1, self.effort.rounds + 1):
            enough = answer.limit or self.budget.steps_left < FEWEST_STEPS
            if enough or not takes(self.model, Task.MISSING):
                break
            request = missing_request(question, answer.text, self.effort.points)
            reply = await self._asked(f"{MISSING}/{number}", prompt(MISSING), [request])
            points = read_points(reply or "", self.effort.points)
            if not points:
                break
            again = await self.go_on(answer.text, missing_note(points))
            answer = LoopResult(again.text or answer.text, again.limit)
        return answer

    async def _report(self, question: str) -> LoopResult:
        """Write a report: sections side by side, then what stands above and below them."""
        if not takes(self.model, Task.OUTLINE):
            await self._loop.run(self.messages)
            return await self._loop.go_on(self.messages, report.BY_RULES)
        outline = await self._outline(question)
        if not outline:
            return await self._filled(question, await self._loop.run(self.messages))
        self.record("plan", OUTLINE, subtasks=[section.heading for section in outline])
        plan = [Subtask(report.task(question, section, outline)) for section in outline]
        parts = await self._side_by_side(plan)
        written = [report.Written(s.heading, p.text) for s, p in zip(outline, parts, strict=True)]
        request = Message("user", report.closing(written))
        asked = [*self.messages, request]
        frame = await self._asked(CLOSING, self.system, asked, final=True)
        limit = next((part.limit for part in parts if part.limit), None)
        return LoopResult(report.put_together(written, without_calls(frame or "")), limit)

    async def _outline(self, question: str) -> list[report.Section]:
        request = Message("user", report.outline_request(question, self.effort.sections))
        reply = await self._asked(OUTLINE, prompt(OUTLINE), [request])
        most = min(self.effort.sections, self.budget.share_of(FEWEST_STEPS))
        return report.read_outline(reply or "", most)

    async def _side_by_side(self, plan: Sequence[Subtask]) -> list[LoopResult]:
        """Work on subtasks, each as soon as those are done that it depends on.

        Gives the results in the order of the plan; places are numbered from 1 in it.
        """
        gate = asyncio.Semaphore(self.concurrent)
        parts, steps = len(plan) + 1, self.effort.part_steps
        budgets = [self.budget.part(parts, steps, str(number)) for number in range(1, parts)]
        running: list[asyncio.Task[LoopResult]] = []

        async def run(number: int, subtask: Subtask) -> LoopResult:
            if number and self.concurrent == 1:
                await running[number - 1]
            before = {n: (await running[n]).text for n in subtask.depends_on}
            async with gate:
                task = _with_results(subtask, before)
                return await self._part(task, str(number + 1), budgets[number])

        try:
            for number, subtask in enumerate(plan):
                running.append(asyncio.create_task(run(number, subtask)))
            return list(await asyncio.gather(*running))
        finally:
            for task in running:
                task.cancel()
            self.budget.elsewhere += sum(budget.steps for budget in budgets)

    async def _part(self, task: str, place: str, budget: Budget) -> LoopResult:
        """Work on a subtask, or a section of a report, which is mended where it does not hold."""
        try:
            messages = fit_opening(await self.opening(task, place))
            loop = self._new_loop(place, budget)
            result = await loop.run(messages)
            if self.as_report:
                result = await self._mended(loop, messages, result)
        except ReplayDiverged:
            raise
        except ResearchError as error:
            return LoopResult(f"Failed: {error}")
        return LoopResult(result.text or NO_RESPONSE, result.limit)

    async def _mended(self, loop: Loop, messages: list[Message], result: LoopResult) -> LoopResult:
        """Let a section be mended once where a sentence of it does not hold."""
        said = None if result.limit else self.objections(result.text, loop.place)
        if said is None:
            return result
        messages.append(Message("assistant", result.text))
        again = await loop.go_on(messages, said)
        return result if again.limit or not again.text else again

    async def _asked(
        self, place: str, system: str, messages: list[Message], *, final: bool = False
    ) -> str | None:
        """Ask once, within the time there is; None, with a note on record, where that fails.

        What makes the `final` answer may take the time that is kept for it.
        """
        asker = ModelClient(self.model, system, self.budget, self.record)
        try:
            async with asyncio.timeout(self.budget.seconds_left(reserve=not final)):
                return (await asker.ask(place, messages, final=final)).text
        except ReplayDiverged:
            raise
        except (ResearchError, LimitReached, TimeoutError) as error:
            self.record("note", place, text=f"{place} failed: {error or 'timeout'}")
            return None

    def _new_loop(self, place: str, budget: Budget) -> Loop:
        guard = Repetition() if self.guarded else None
        loop = Loop(self.model, self.calls, budget, self.system, self.record, place, guard)
        loop.window = Window.of(self.context_window)
        if self.guides and loop.guard:
            loop.guides = self.guides(self.system)
        return loop


def _quoted(question: str) -> str:
    return js.well_formed(js.cut(question, QUOTED))


def _synthesis(question: str, plan: Sequence[Subtask], results: Sequence[str]) -> Message:
    steps = [
        f"Step {number} ({subtask.task}): {cut(result)}"
        for number, (subtask, result) in enumerate(zip(plan, results, strict=True), 1)
    ]
    filled = prompt(SYNTHESIS).replace("{question}", _quoted(question))
    return Message("user", filled.replace("{steps}", "\n\n".join(steps)))
