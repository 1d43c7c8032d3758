"""Answering a question: in one loop, or as a few subtasks whose results are put together."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.asking import Asker
from agent.errors import ResearchError
from agent.guard import LimitReached, Repetition, fit_opening
from agent.loop import Loop, LoopResult, without_calls
from agent.memory import jsvalues as js
from agent.messages import prompt
from agent.models import Message, Task, takes
from agent.opening import MAIN
from agent.protocol.loose import loose_object

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agent.asking import Record
    from agent.guard import Budget
    from agent.loop import Caller
    from agent.models import Model

    Opening = Callable[[str, str], Awaitable[list[Message]]]
    """Question and place to the messages that a loop begins with."""

PLAN = "plan"
SYNTHESIS = "synthesis"
# The reference engine's trigger and limits; lengths in UTF-16 units.
LONG_QUESTION = 120
QUOTED = 500
RESULT_UNITS = 2_000
SUBTASK_STEPS = 8
FEWEST, MOST = 2, 4
CONCURRENT = MOST
NO_RESPONSE = "No response."
"""What an empty answer is called."""
_JOINS = re.compile(r"\b(?:and|then|also|after that|next|finally)\b", re.IGNORECASE | re.ASCII)
_PLAIN = re.compile(r"(?:hi|hey|hello|what|who|how much|price|gm)\b", re.IGNORECASE | re.ASCII)
"""Greetings and short questions are one task, however long; by whole words (`History` is none)."""


@dataclass(frozen=True, slots=True)
class Subtask:
    """A phase of a request, and the numbers of the earlier ones whose results it needs."""

    task: str
    depends_on: tuple[int, ...] = ()
    dependent: bool = False


def wants_plan(question: str) -> bool:
    """Tell whether a question may have several phases, by its joining words or its length."""
    joined = len(_JOINS.findall(question)) >= 2 or js.length(question) > LONG_QUESTION
    return joined and not _PLAIN.match(js.trim(question))


def read_plan(reply: str) -> list[Subtask]:
    """Read a planning reply; empty unless it names two to four subtasks."""
    plan = loose_object(reply)
    rows = plan.get("subtasks")
    if not js.truthy(plan.get("decompose")) or not isinstance(rows, list):
        return []
    if not FEWEST <= len(rows) <= MOST or not all(_has_task(row) for row in rows):
        return []
    return [_subtask(row, number) for number, row in enumerate(rows)]


@dataclass(slots=True)
class Work:
    """One question's work; every model call in it is recorded under a place of its own.

    `opening(question, place)` lays out what a loop begins with; `concurrent` bounds the subtasks
    that run at once.
    """

    model: Model
    calls: Caller
    budget: Budget
    system: str
    record: Record
    opening: Opening
    guarded: bool = True
    concurrent: int = CONCURRENT
    messages: list[Message] = field(default_factory=list, init=False)
    _loop: Loop = field(init=False)

    def __post_init__(self) -> None:
        self._loop = self._new_loop(MAIN, self.budget)

    async def answer(self, question: str) -> LoopResult:
        """Answer. Raises `ModelError`; a plan that fails leaves the question to one loop."""
        self.messages = fit_opening(await self.opening(question, MAIN))
        plan = await self._plan(question)
        if plan:
            answer = await self._by_subtasks(question, plan)
            if answer is not None:
                return answer
        return await self._loop.run(self.messages)

    async def repair(self, answer: str, said: str) -> LoopResult:
        """Say what is wrong with an answer, and work until there is another one."""
        self.messages.append(Message("assistant", answer))
        return await self._loop.go_on(self.messages, said)

    async def _plan(self, question: str) -> list[Subtask]:
        if not wants_plan(question) or not takes(self.model, Task.PLAN):
            return []
        request = Message("user", f"Request: {js.well_formed(js.cut(question, QUOTED))}")
        reply = await self._asked(PLAN, prompt(PLAN), [request])
        return read_plan(reply) if reply else []

    async def _by_subtasks(self, question: str, plan: Sequence[Subtask]) -> LoopResult | None:
        """Work on the subtasks and put their results together; None where that fails."""
        self.record("plan", PLAN, subtasks=[subtask.task for subtask in plan])
        results = await self._results(plan)
        texts = [result.text for result in results]
        messages = [*self.messages, _synthesis(question, plan, texts)]
        reply = await self._asked(SYNTHESIS, self.system, messages)
        if reply is None:
            return None
        self.messages = messages
        limit = next((result.limit for result in results if result.limit), None)
        return LoopResult(without_calls(reply), limit)

    async def _asked(self, place: str, system: str, messages: list[Message]) -> str | None:
        """Ask once, within the time there is; None, with a note on record, where that fails."""
        asker = Asker(self.model, system, self.budget, self.record)
        try:
            async with asyncio.timeout(self.budget.seconds_left()):
                return (await asker.ask(place, messages)).text
        except (ResearchError, LimitReached, TimeoutError) as error:
            self.record("note", place, text=f"{place} failed: {error or 'timeout'}")
            return None

    async def _results(self, plan: Sequence[Subtask]) -> list[LoopResult]:
        """Run the subtasks, each as soon as those are done that it depends on."""
        gate = asyncio.Semaphore(self.concurrent)
        budgets = [
            self.budget.part(len(plan) + 1, SUBTASK_STEPS, str(number))
            for number in range(1, len(plan) + 1)
        ]
        running: list[asyncio.Task[LoopResult]] = []

        async def run(number: int, subtask: Subtask) -> LoopResult:
            if number and self.concurrent == 1:
                await running[number - 1]
            before = {n: (await running[n]).text for n in subtask.depends_on}
            async with gate:
                place = str(number + 1)
                return await self._result(_with_results(subtask, before), place, budgets[number])

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
            messages = fit_opening(await self.opening(task, place))
            result = await self._new_loop(place, budget).run(messages)
        except ResearchError as error:
            return LoopResult(f"Failed: {error}")
        return LoopResult(result.text or NO_RESPONSE, result.limit)

    def _new_loop(self, place: str, budget: Budget) -> Loop:
        guard = Repetition() if self.guarded else None
        return Loop(self.model, self.calls, budget, self.system, self.record, place, guard)


def _has_task(row: Any) -> bool:
    return isinstance(row, dict) and isinstance(row.get("task"), str)


def _subtask(row: dict[str, Any], number: int) -> Subtask:
    named = row.get("dependsOn")
    named = named if isinstance(named, list) else []
    earlier = (n for n in named if isinstance(n, int) and not isinstance(n, bool))
    return Subtask(row["task"], tuple(n for n in earlier if 0 <= n < number), bool(named))


def _with_results(subtask: Subtask, results: dict[int, str]) -> str:
    if not subtask.dependent:
        return subtask.task
    lines = [f"[Step {n + 1} result]: {_cut(results[n])}" for n in subtask.depends_on]
    return "\n".join([subtask.task, "", "Context from previous steps:", *(lines or [""])])


def _synthesis(question: str, plan: Sequence[Subtask], results: Sequence[str]) -> Message:
    steps = [
        f"Step {number} ({subtask.task}): {_cut(result)}"
        for number, (subtask, result) in enumerate(zip(plan, results, strict=True), 1)
    ]
    asked = js.well_formed(js.cut(question, QUOTED))
    filled = prompt(SYNTHESIS).replace("{question}", asked).replace("{steps}", "\n\n".join(steps))
    return Message("user", filled)


def _cut(result: str) -> str:
    return js.well_formed(js.cut(result, RESULT_UNITS))
