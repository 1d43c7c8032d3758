"""Replaying a run from its record alone: no model, no network, no browser."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from agent.config import MAX_STEPS
from agent.errors import ModelUnavailable, ReplayDiverged, ToolError
from agent.guard import Budget, LimitReached
from agent.judge import Verdicts
from agent.loop import request_digest
from agent.models import Task
from agent.models.resolve import EXTRACTIVE
from agent.opening import MAIN
from agent.planner import PLAN, Work
from agent.planner.missing import MISSING
from agent.planner.report import OUTLINE
from agent.protocol import CallResult
from agent.review import repaired
from agent.run.known import with_what_is_known
from agent.run.outcome import Ledger, finished
from agent.run.values import add_values
from agent.tools.policy import result_data
from agent.values import VALUES, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from agent.loop import Caller
    from agent.models import Message, ModelReply
    from agent.run.record import RunRecord
    from agent.tools.context import Record
    from agent.types import Report, ToolCall

_DIFFERENCE_LINES = 12
_ASKED_AT = {Task.PLAN: PLAN, Task.OUTLINE: OUTLINE, Task.VALUES: f"{VALUES}/1"}


async def replay(record: RunRecord) -> Report:
    """Run again from the record to the same answer, byte for byte.

    Raises `ReplayDiverged` where the run would now ask its model or its tools something else.
    """
    ledger = Ledger(record.question)
    for event in record.events:
        ledger.note(event)
    budget = _RecordedBudget(record)

    async def opening(_question: str, place: str) -> list[Message]:
        found = record.opening_at(place)
        if found is None:
            raise ReplayDiverged(f"the run begins a loop {place} that is not on record")
        return found

    calls = RecordedCalls(record)
    work = Work(
        RecordedModel(record),
        calls,
        budget,
        record.system,
        _nothing,
        opening,
        effort=record.effort,
        as_report=record.as_report,
        objections=lambda _text, place: record.section_reviews.get(place),
    )
    result = await with_what_is_known(await work.answer(record.question), work.messages)
    if record.review is not None:
        result = await repaired(work, result, record.review)
    evidence = record.evidence()
    report = finished(ledger, evidence, result, budget, Verdicts.of_rows(record.verdicts))
    if record.schema is not None:
        await add_values(report, result.text, Schema(record.schema), evidence, work)
    return report


class RecordedModel:
    """Answers a request with what was answered to the same one before."""

    def __init__(self, record: RunRecord) -> None:
        self.name = str(record.started["model"])
        self._record = record
        self._replies = record.replies_by_digest()
        self._asked = 0
        self._looked = 0

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Give the recorded reply; raises `ReplayDiverged`, or the limit that ended the call."""
        known = self._replies.get(request_digest(system, messages))
        self._asked += 1
        if known:
            return known.popleft()
        self._fail_as_then(request_digest(system, messages))
        raise ReplayDiverged(
            f"the run asks its model something else:\n{self._difference(messages)}"
        )

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def takes(self, task: Task) -> bool:
        """Tell what was asked beside the question."""
        if task is Task.HEED:
            return self.name != EXTRACTIVE
        if task is Task.MISSING:
            self._looked += 1
            return self._record.asked_for(f"{MISSING}/{self._looked}")
        return task in _ASKED_AT and self._record.asked_for(_ASKED_AT[task])

    def _fail_as_then(self, digest: str) -> None:
        """Fail as the recorded call did that never got its reply."""
        for request in self._record.requests:
            if request.sha256 == digest and request.place not in self._record.replies:
                loop = request.place.partition("/")[0]
                limit = self._record.limits.get(loop) or self._record.limit
                if limit is not None:
                    raise LimitReached(limit)
                raise ModelUnavailable(f"the call at {request.place} failed when it was made")

    def _difference(self, messages: Sequence[Message]) -> str:
        recorded = [m for r in self._record.requests[: self._asked] for m in r.new]
        for now, then in zip(messages, recorded, strict=False):
            if now != then:
                return _diff(then.content, now.content)
        return f"{len(messages)} messages now, {len(recorded)} on record"


class RecordedCalls:
    """Gives for each tool call what it gave before, by its place."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Find the result of a call; raises `ReplayDiverged` where another call stood there."""
        name, param, result = self._record.results.get(place, ("", "", CallResult("", None)))
        if (name, param) != (call.name, call.param):
            raise ReplayDiverged(f"at {place}: {call.name} {call.param} is not {name} {param}")
        return lambda: result


class SameWeb:
    """Tool calls of another model on the recorded web: known ones are answered from the record.

    The others go to `live` where there is one, and are errors where there is none.
    """

    def __init__(self, record: RunRecord, note: Record, live: Caller | None) -> None:
        self._note = note
        self._live = live
        self._results = {(name, param): result for name, param, result in record.results.values()}

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Find the result of the same call anywhere in the record."""
        found = self._results.get((call.name, call.param))
        if found is None and self._live is not None:
            return await self._live.run(call, place)
        result = found or CallResult(
            call.name,
            {"error": f"not in the record: {call.name} {call.param}"},
            hint="Only what the recorded run searched and read is there. " + ToolError.hint,
        )
        return lambda: self._noted(call, place, result)

    def _noted(self, call: ToolCall, place: str, result: CallResult) -> CallResult:
        self._note("tool.result", place, **result_data(call, result))
        return result


class _RecordedBudget(Budget):
    """Ends where the recorded run ended, whatever the clock says."""

    def __init__(self, record: RunRecord, loop: str = MAIN) -> None:
        super().__init__(max_steps=record.steps_at(loop))
        self._record = record
        self._limit = record.limits.get(loop) or record.limit

    def part(self, of: int, max_steps: int, place: str = "") -> Budget:  # noqa: ARG002 - as recorded
        """Give what the loop at this place had."""
        return _RecordedBudget(self._record, place)

    def begin_step(self) -> int:
        """Count a step, or raise the recorded limit."""
        if self.steps >= self.max_steps:
            raise LimitReached(self._limit or "steps")
        self.steps += 1
        return self.steps

    def share_of(self, parts: int) -> int:  # noqa: ARG002 - as recorded
        """Enough for what was begun then."""
        return MAX_STEPS

    @property
    def steps_left(self) -> int:
        """Enough for what was asked then."""
        return MAX_STEPS


def _nothing(_kind: str, _place: str = "", **_data: Any) -> None:
    """Record nothing: the record is there already."""


def _diff(then: str, now: str) -> str:
    lines = difflib.unified_diff(
        then.splitlines(), now.splitlines(), "on record", "now", lineterm="", n=1
    )
    return "\n".join(line for line, _ in zip(lines, range(_DIFFERENCE_LINES), strict=False))
