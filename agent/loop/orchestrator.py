"""Answers one question: in one loop, with parallel subtasks, or as a report in sections."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Final

from agent import jsvalues as js
from agent.errors import ReplayDiverged, ResearchError, UsageError
from agent.guard.model_client import ModelClient
from agent.guard.window import Window, fit_opening
from agent.journal.events import CLOSING, MAIN, MISSING, OUTLINE, PLAN, PROPOSAL, SYNTHESIS
from agent.limits import STANDARD_LIMITS, DepthLimits
from agent.loop import plan as planning
from agent.loop import report_sections as sections
from agent.loop.loop import Loop, LoopResult, strip_tool_calls
from agent.loop.plan_approval import ResearchPlan, clarification, proposal_request
from agent.loop.repetition import RepetitionGuard
from agent.models.base import Task, takes
from agent.options import CONTEXT_WINDOW
from agent.prompts import prompt
from agent.types import Message

if TYPE_CHECKING:
    from agent.guard.budget import Budget
    from agent.guard.model_client import Record
    from agent.loop.plan import Subtask
    from agent.loop.plan_approval import Clarified, PlanApproval
    from agent.models.base import Model
    from agent.prompts import Guides
    from agent.protocol.call_results import Caller

QUESTION_UNITS: Final = 500
"""Maximum length of the question in the plan and synthesis prompts, in UTF-16 units, as in the
reference engine.
"""
RESULT_UNITS: Final = 2_000
"""Maximum length of a subtask's result in later prompts, in UTF-16 units, as in the reference
engine.
"""
MIN_STEPS: Final = 2
"""Minimum number of steps for a subtask: fewer are not enough to read anything."""

BuildContext = Callable[[str, str], Awaitable[list[Message]]]
"""(question, place) -> the first messages of a loop."""


async def no_objections(_parts: Mapping[str, str]) -> dict[str, str]:
    """Return no objections."""
    return {}


@dataclass(slots=True)
class Orchestrator:
    """Answers one question; each model call has its own place in the journal.

    `build_context(question, place)` builds the first messages of a loop. `objections(parts)`
    returns the objections to parts of a report; its argument and result are keyed by place.
    `concurrent` is the number of loops that may run at once. `guides(system)` returns the help
    texts of a loop, which are added when a tool is first used. `context_window` is in tokens.
    `join_loops(text)` rewrites citations so that a page that several loops read has one id.
    `approval` asks the user to approve the plan before any search; None for runs without approval.
    `kept` contains the sections of an earlier report: sections with text are kept, the others are
    researched.
    """

    model: Model
    tools: Caller
    budget: Budget
    system: str
    record: Record
    build_context: BuildContext
    depth_limits: DepthLimits = STANDARD_LIMITS
    as_report: bool = False
    objections: Callable[[Mapping[str, str]], Awaitable[Mapping[str, str]]] = no_objections
    guarded: bool = True
    concurrent: int = planning.MAX_CONCURRENT
    guides: Callable[[str], Guides] | None = None
    context_window: int = CONTEXT_WINDOW
    join_loops: Callable[[str], str] = str
    approval: PlanApproval | None = None
    kept: Sequence[sections.Section] = ()
    _loop: Loop = field(init=False)
    _parts: dict[str, tuple[Loop, str]] = field(default_factory=dict)  # each loop with its text

    def __post_init__(self) -> None:
        self._loop = self._new_loop(MAIN, self.budget)

    @property
    def messages(self) -> list[Message]:
        """The conversation of the main loop, which produced the answer."""
        return self._loop.messages

    async def answer(self, question: str) -> LoopResult:
        """Answer the question, in one loop if planning fails. Raises `ModelError`.

        Raises `PlanRefused` if the user does not approve the plan.
        """
        self._loop.messages = fit_opening(await self.build_context(question, MAIN))
        if self.kept:
            return await self._write_sections(question, self.kept)
        if self.approval is not None:
            return await self._by_approved_plan(question, self.approval)
        if self.as_report:
            return await self._report(question)
        reply = await self._plan(question)
        subtasks = planning.read_plan(reply)
        answer = None
        if subtasks and self.budget.steps_per_part(len(subtasks)) >= MIN_STEPS:
            answer = await self._by_subtasks(question, subtasks)
        else:
            self._add_plan(reply)
        if answer is None:
            answer = await self._loop.run(self.messages)
        return await self._fill_gaps(question, answer)

    async def continue_with(self, messages: list[Message]) -> LoopResult:
        """Continue in one loop from these messages, without a plan."""
        return await self._loop.run(fit_opening(messages))

    async def follow_up(self, answer: str, note: str) -> LoopResult:
        """Send the model a note about its answer, and continue until the next answer."""
        return await self._loop.follow_up(note, answer)

    async def _by_approved_plan(self, question: str, approval: PlanApproval) -> LoopResult:
        """Have the user edit and approve a plan, then follow it to answer the question."""
        plan, clarified = await self._propose(question, approval)
        plan = await approval.approve(plan)
        follows_notes = takes(self.model, Task.FOLLOW_NOTES)
        if len(plan.sections) > (most := self.budget.steps_per_part(MIN_STEPS)):
            message = (
                f"the plan has {len(plan.sections)} sections, but the step limit allows only {most}"
            )
            raise UsageError(message, hint="Remove sections, or raise --max-steps.")
        if clarified:
            question = f"{question}\n\n{clarification(*clarified)}"
            self._add_to_question(clarification(*clarified))
        if plan.sections:
            return await self._write_sections(question, plan.sections)
        if follows_notes:
            self._add_to_question(plan.note())
        else:  # its searches are made by code
            self.messages[-1] = replace(self.messages[-1], searches=plan.searches)
        answer = await self._loop.run(self.messages)
        if self.as_report and not follows_notes:
            return await self._loop.follow_up(sections.EXTRACTIVE_REQUEST)
        return await self._fill_gaps(question, answer)

    async def _propose(
        self, question: str, approval: PlanApproval
    ) -> tuple[ResearchPlan, Clarified | None]:
        """Have the model propose a plan, asking the user first if necessary, or plan without it.

        Returns the plan, and the clarifying question with the user's answer, if there was one.
        """
        extractive = ResearchPlan.extractive(question)
        if not takes(self.model, Task.PLAN):
            return extractive, None
        most = self._max_sections() if self.as_report else 0
        clarified: Clarified | None = None
        for number in (1, 2):
            request = proposal_request(question, most, clarified)
            reply = await self._ask_once(f"{PROPOSAL}/{number}", prompt(PROPOSAL), [request])
            plan = ResearchPlan.from_reply(reply or "", most)
            if clarified or not plan.ask:
                break
            answer = await approval.clarify(plan.ask)
            if not answer:
                break
            clarified = plan.ask, answer
        return (plan if plan.searches or plan.sections else extractive), clarified

    def _add_to_question(self, note: str) -> None:
        question = self.messages[-1]
        # In a resumed run or a replay, the recorded question already contains the note.
        if note not in question.content:
            self.messages[-1] = replace(question, content=f"{question.content}\n\n{note}")

    async def _plan(self, question: str) -> str:
        wanted = self.depth_limits.plans and planning.wants_plan(question)
        if not wanted or not takes(self.model, Task.PLAN):
            return ""
        request = Message("user", f"Request: {js.cut_well_formed(question, QUESTION_UNITS)}")
        return await self._ask_once(PLAN, prompt(PLAN), [request]) or ""

    def _add_plan(self, reply: str) -> None:
        """Add planned steps to the question."""
        plan = planning.read_steps(reply, self.budget.steps_left)
        if plan is None:
            return
        self._loop.planned_steps = plan.budget
        # In a resumed run or a replay, the recorded question already contains the plan.
        if plan.note() not in self.messages[-1].content:
            self._add_to_question(plan.note())
            self.record("plan", PLAN, steps=[step for step, _ in plan.steps], budget=plan.budget)

    async def _by_subtasks(self, question: str, plan: Sequence[Subtask]) -> LoopResult | None:
        """Run subtasks and have the model combine their results; None if that fails."""
        self.record("plan", PLAN, subtasks=[subtask.task for subtask in plan])
        results = await self._run_parallel(plan)
        steps = [
            f"Step {number} ({subtask.task}): {js.cut_well_formed(result.text, RESULT_UNITS)}"
            for number, (subtask, result) in enumerate(zip(plan, results, strict=True), 1)
        ]
        shown = js.cut_well_formed(question, QUESTION_UNITS)
        request = prompt(SYNTHESIS).replace("{question}", shown)
        request = request.replace("{steps}", "\n\n".join(steps))
        messages = [*self.messages, Message("user", request)]
        reply = await self._ask_once(SYNTHESIS, self.system, messages, final=True)
        if reply is None:
            return None
        self._loop.messages = messages
        return LoopResult(strip_tool_calls(reply), _first_limit(results))

    async def _fill_gaps(self, question: str, answer: LoopResult) -> LoopResult:
        """Have the model list and research the gaps in its draft, as often as the depth allows."""
        for number in range(1, self.depth_limits.rounds + 1):
            if answer.limit or self.budget.steps_left < MIN_STEPS:
                break
            if not takes(self.model, Task.MISSING):
                break
            request = planning.missing_request(question, answer.text, self.depth_limits.points)
            reply = await self._ask_once(f"{MISSING}/{number}", prompt(MISSING), [request])
            points = planning.read_points(reply or "", self.depth_limits.points)
            if not points:
                break
            again = await self.follow_up(answer.text, planning.missing_note(points))
            answer = LoopResult(again.text or answer.text, again.limit)
        return answer

    async def _report(self, question: str) -> LoopResult:
        """Write a report: the sections in parallel, then the summary and the conclusion."""
        if not takes(self.model, Task.OUTLINE):
            await self._loop.run(self.messages)
            return await self._loop.follow_up(sections.EXTRACTIVE_REQUEST)
        outline = await self._outline(question)
        if not outline:
            return await self._fill_gaps(question, await self._loop.run(self.messages))
        return await self._write_sections(question, outline)

    async def _write_sections(
        self, question: str, outline: Sequence[sections.Section]
    ) -> LoopResult:
        self.record("plan", OUTLINE, subtasks=[section.heading for section in outline])
        tasks = {
            str(number): planning.Subtask(sections.section_task(question, section, outline))
            for number, section in enumerate(outline, 1)
            if not section.text
        }
        results = await self._run_parallel(list(tasks.values()), list(tasks))
        by_place = await self._correct(dict(zip(tasks, results, strict=True)))
        written = [
            replace(section, text=by_place[place].text) if place in by_place else section
            for place, section in ((str(n), s) for n, s in enumerate(outline, 1))
        ]
        self.record("sections", OUTLINE, sections=[asdict(section) for section in written])
        messages = [*self.messages, Message("user", sections.closing_request(written))]
        frame = await self._ask_once(CLOSING, self.system, messages, final=True)
        notes = await self.objections({CLOSING: strip_tool_calls(frame)} if frame else {})
        if frame and notes:
            # Like a section, a frame with an unsupported sentence is corrected once.
            messages += [Message("assistant", frame), Message("user", notes[CLOSING])]
            place = f"{CLOSING}/again"
            frame = await self._ask_once(place, self.system, messages, final=True) or frame
        text = sections.put_together(written, strip_tool_calls(frame or ""))
        limit = _first_limit(list(by_place.values()))
        return LoopResult(text, limit, by_model=not all(section.failed for section in written))

    async def _outline(self, question: str) -> list[sections.Section]:
        request = Message("user", sections.outline_request(question, self.depth_limits.sections))
        reply = await self._ask_once(OUTLINE, prompt(OUTLINE), [request])
        return sections.read_outline(reply or "", self._max_sections())

    def _max_sections(self) -> int:
        return min(self.depth_limits.sections, self.budget.steps_per_part(MIN_STEPS))

    async def _run_parallel(
        self, plan: Sequence[Subtask], places: Sequence[str] = ()
    ) -> list[LoopResult]:
        """Run subtasks, each as soon as its dependencies are done.

        Returns the results in the order of the plan. The default places are `1`, `2`, …
        """
        places = places or [str(number) for number in range(1, len(plan) + 1)]
        slots = asyncio.Semaphore(self.concurrent)
        # One more part than there are subtasks, for combining the results.
        parts, steps = len(plan) + 1, self.depth_limits.part_steps
        budgets = [self.budget.budget_for_part(parts, steps, place) for place in places]
        running: list[asyncio.Task[LoopResult]] = []

        async def run(number: int, subtask: Subtask) -> LoopResult:
            if number and self.concurrent == 1:  # strictly in the order of the plan
                await running[number - 1]
            task = subtask.task
            if subtask.dependent:
                results = []
                for n in subtask.depends_on:
                    text = js.cut_well_formed((await running[n]).text, RESULT_UNITS)
                    results.append(f"[Step {n + 1} result]: {text}")
                task = "\n".join([task, "", "Context from previous steps:", *(results or [""])])
            async with slots:
                return await self._run_part(task, places[number], budgets[number])

        try:
            for number, subtask in enumerate(plan):
                running.append(asyncio.create_task(run(number, subtask)))
            results = await asyncio.gather(*running)
            return [replace(result, text=self.join_loops(result.text)) for result in results]
        finally:  # if one raises, the others must not continue to use the budget
            for task in running:
                task.cancel()
            self.budget.subtask_steps += sum(budget.steps for budget in budgets)

    async def _correct(self, by_place: dict[str, LoopResult]) -> dict[str, LoopResult]:
        """Have each section that contains an unsupported sentence corrected once.

        All sections are checked together, so that the judge sees a page only once even if several
        sections cite it.
        """
        by_place = dict(by_place)
        notes = await self.objections(
            {p: r.text for p, r in by_place.items() if p in self._parts and not r.limit}
        )
        slots = asyncio.Semaphore(self.concurrent)

        async def corrected(place: str) -> None:
            loop, own_text = self._parts[place]
            try:
                async with slots:
                    again = await loop.follow_up(notes[place], own_text)
            except ReplayDiverged:  # ends the entire replay, not only this part
                raise
            except ResearchError:
                return  # keep the first text
            if again.text and not again.limit:
                by_place[place] = replace(again, text=self.join_loops(again.text))

        budgets = [self._parts[place][0].budget for place in notes]
        before = sum(budget.steps for budget in budgets)
        running = [asyncio.create_task(corrected(place)) for place in notes]
        try:
            await asyncio.gather(*running)
        finally:  # if one raises, the others must not continue to use the budget
            for task in running:
                task.cancel()
            self.budget.subtask_steps += sum(budget.steps for budget in budgets) - before
        return by_place

    async def _run_part(self, task: str, place: str, budget: Budget) -> LoopResult:
        """Run the loop of a subtask or a report section; an error becomes the result's text."""
        try:
            loop = self._new_loop(place, budget)
            result = await loop.run(fit_opening(await self.build_context(task, place)))
            self._parts[place] = loop, result.text
        except ReplayDiverged:  # ends the entire replay, not only this part
            raise
        except ResearchError as error:
            return LoopResult(f"{sections.FAILED}{error}")
        return LoopResult(result.text or planning.NO_RESPONSE, result.limit)

    async def _ask_once(
        self, place: str, system: str, messages: list[Message], *, final: bool = False
    ) -> str | None:
        """Send one request; returns None if it fails, and records the failure.

        The `final` request, which produces the answer, may use the reserved time and money.
        """
        client = ModelClient(self.model, system, self.budget, self.record)
        seconds = self.budget.seconds_left(reserve=not final)
        failure = f"{place} failed"
        reply = await client.try_ask(place, messages, failure, seconds=seconds, final=final)
        return None if reply is None else reply.text

    def _new_loop(self, place: str, budget: Budget) -> Loop:
        guard = RepetitionGuard() if self.guarded else None
        loop = Loop(self.model, self.tools, budget, self.system, self.record, place, guard)
        loop.window = Window.from_tokens(self.context_window)
        if self.guides and loop.guard:
            loop.guides = self.guides(self.system)
        return loop


def _first_limit(results: Sequence[LoopResult]) -> str | None:
    return next((result.limit for result in results if result.limit), None)
