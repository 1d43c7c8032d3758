"""Replaying a run from its record alone: no model, no network, no browser."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from agent.errors import ReplayDiverged, ToolError
from agent.guard import Budget, LimitReached
from agent.loop import Loop, request_digest
from agent.protocol import CallResult
from agent.run.outcome import Ledger, finished
from agent.tools.policy import result_data

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from agent.loop import Caller
    from agent.models import Message, ModelReply
    from agent.run.record import RunRecord
    from agent.tools.context import Record
    from agent.types import Report, ToolCall

_DIFFERENCE_LINES = 12


async def replay(record: RunRecord) -> Report:
    """Run again from the record to the same answer, byte for byte.

    Raises `ReplayDiverged` where the run would now ask its model or its tools something else.
    """
    ledger = Ledger(record.question)
    for event in record.events:
        ledger.note(event)
    budget = _RecordedBudget(record)
    loop = Loop(RecordedModel(record), RecordedCalls(record), budget, record.system, _nothing)
    result = await loop.run(record.opening)
    return finished(ledger, record.evidence(), result, budget)


class RecordedModel:
    """Answers a request with what was answered to the same one before."""

    def __init__(self, record: RunRecord) -> None:
        self.name = str(record.started["model"])
        self._record = record
        self._replies = record.replies_by_digest()
        self._asked = 0

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Give the recorded reply; raises `ReplayDiverged`, or the limit that ended the call."""
        known = self._replies.get(request_digest(system, messages))
        self._asked += 1
        if known:
            return known.popleft()
        if self._record.limit is not None and self._cut_off():
            raise LimitReached(self._record.limit)
        raise ReplayDiverged(
            f"the run asks its model something else:\n{self._difference(messages)}"
        )

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def _cut_off(self) -> bool:
        """Whether the recorded call of this turn never got its reply."""
        index = self._asked - 1
        requests = self._record.requests
        return index < len(requests) and requests[index].place not in self._record.replies

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

    def __init__(self, record: RunRecord) -> None:
        super().__init__(max_steps=record.steps)
        self._limit = record.limit

    def begin_step(self) -> int:
        """Count a step, or raise the recorded limit."""
        try:
            return super().begin_step()
        except LimitReached as reached:
            raise LimitReached(self._limit or reached.limit) from reached


def _nothing(_kind: str, _place: str = "", **_data: Any) -> None:
    """Record nothing: the record is there already."""


def _diff(then: str, now: str) -> str:
    lines = difflib.unified_diff(
        then.splitlines(), now.splitlines(), "on record", "now", lineterm="", n=1
    )
    return "\n".join(line for line, _ in zip(lines, range(_DIFFERENCE_LINES), strict=False))
