"""Replaying a run from its record alone: no model, no network, no browser."""

from __future__ import annotations

from difflib import unified_diff
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from agent.config import MAX_STEPS
from agent.errors import ModelUnavailable, ReplayDiverged, ResearchError, error_kind
from agent.guard.budget import Budget, LimitReached
from agent.guard.model_client import request_digest
from agent.journal.events import CONDENSE, MAIN, MISSING, OUTLINE, PLAN, REVIEW, VALUES
from agent.loop.loop import LoopResult, asks_for_notes
from agent.loop.orchestrator import Orchestrator
from agent.models.base import Task
from agent.protocol.results import CallResult
from agent.review.gate import Gate, repaired
from agent.review.judge import Verdicts
from agent.review.schema import Schema
from agent.run.outcome import INTERRUPT, Ledger, add_values, answer_by_rules
from agent.tools.context import unrecorded
from agent.tools.toolset import guides_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.models.base import ModelReply
    from agent.run.record import RunRecord
    from agent.types import Message, Report, ToolCall

_ASKED_AT: Final = {Task.PLAN: PLAN, Task.OUTLINE: OUTLINE, Task.VALUES: f"{VALUES}/1"}
DIFF_LINES: Final = 12
"""Lines of differences that are shown; the first ones tell what is wrong."""
DIFF_WIDTH: Final = 160
"""Characters at which a long line is broken, so that only the part that differs is shown."""


async def replay(record: RunRecord) -> Report:
    """Run again from the record to the same answer, byte for byte.

    Raises `ReplayDiverged` where the run would now ask its model or its tools something else.
    """
    question, evidence = record.require_question().question, record.evidence
    budget = RecordedBudget(record)
    ledger = Ledger(question, evidence, budget)
    for event in record.up_to_end():
        ledger.note(event)

    async def build_context(_question: str, place: str) -> list[Message]:
        found = record.opening_at(place)
        if found is None:
            raise ReplayDiverged(f"the run begins a loop {place} that is not on record")
        return found

    def objections(_text: str, place: str) -> str | None:
        review = record.reviews.get(place)
        return str(review["said"]) if review else None

    work = Orchestrator(
        RecordedModel(record),
        RecordedCalls(record),
        budget,
        record.system,
        unrecorded,
        build_context,
        effort=record.effort,
        as_report=bool(record.options.get("report")),
        guides=partial(guides_for, noted=record.tools),
        context_window=record.context_window,
        objections=objections,
    )
    try:
        result = await answer_by_rules(await work.answer(question), work.messages)
        if review := record.reviews.get(REVIEW):
            result = await repaired(work, result, review["said"], review.get("kept", []))
    except Interrupted:
        result = await answer_by_rules(LoopResult("", INTERRUPT), work.messages)
    except ReplayDiverged:
        raise
    except ResearchError as error:
        return ledger.failed(error)
    verdicts = Verdicts.of_rows(record.verdicts)
    report = ledger.finished(result, verdicts)
    if record.schema is not None:
        gate = Gate(work, evidence, unrecorded, verdicts=verdicts)
        await add_values(report, result.text, Schema(record.schema), gate)
    return report


class Interrupted(Exception):
    """The recorded run was interrupted here."""


class RecordedModel:
    """Answers a request with what was answered to the same one before."""

    def __init__(self, record: RunRecord) -> None:
        self.name = str(record.started["model"])
        self._record = record
        self._replies = record.replies_by_digest()
        self._looked = 0
        self._by_rules = record.by_rules

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Give the recorded reply; raises `ReplayDiverged`, or the limit that ended the call."""
        digest = request_digest(system, messages)
        if known := self._replies.get(digest):
            return known.popleft()
        self._fail_as_recorded(digest)
        if asks_for_notes(system):  # what was not summed up then was cut
            raise ModelUnavailable("these steps were not summed up")
        told = difference(self._record, messages)
        raise ReplayDiverged(f"the run asks its model something else {told}")

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def guide(self) -> None:
        """Rules drive the loop from here on; what was replied is on record."""
        self._by_rules = True

    def takes(self, task: Task) -> bool:
        """Tell what was asked beside the question."""
        match task:
            case Task.NUDGE:
                return self._record.nudged
            case Task.HEED:
                return not self._by_rules
            case Task.CONDENSE:
                return any(r.place.startswith(CONDENSE) for r in self._record.requests)
            case Task.MISSING:
                self._looked += 1
                return self._record.asked_for(f"{MISSING}/{self._looked}")
        return task in _ASKED_AT and self._record.asked_for(_ASKED_AT[task])

    def _fail_as_recorded(self, digest: str) -> None:
        """Fail as the recorded call did that never got its reply."""
        record = self._record
        for request in record.requests:
            if request.sha256 != digest or request.place in record.replies:
                continue
            loop = request.place.removeprefix(f"{CONDENSE}/").partition("/")[0]
            limit = record.limits.get(loop) or record.limit
            if limit == INTERRUPT:
                raise Interrupted
            if limit is not None:
                raise LimitReached(limit)
            failure = record.failures.get(request.place) or record.error
            if failure is not None:
                raise error_kind(failure.type)(failure.message, hint=failure.hint)
            raise ModelUnavailable(f"the call at {request.place} failed when it was made")


class RecordedCalls:
    """Gives for each tool call what it gave before, by its place."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Find the result of a call; raises `ReplayDiverged` where another call stood there."""
        if self._record.limit == INTERRUPT and place not in self._record.results:
            raise Interrupted
        name, param, result = self._record.results.get(place, ("", "", CallResult("", None)))
        if (name, param) != (call.name, call.param):
            then = f"{name} {param}".strip() or "no call"
            raise ReplayDiverged(
                f"the run makes another call at {place}:\n--- on record\n+++ now\n"
                f"-{then}\n+{call.name} {call.param}"
            )
        return lambda: result


class RecordedBudget(Budget):
    """Ends where the recorded run ended, whatever the clock says."""

    def __init__(self, record: RunRecord, loop: str = MAIN) -> None:
        super().__init__(max_steps=record.steps_at(loop))
        self._record = record
        self._limit = record.limits.get(loop) or record.limit

    def part(self, of: int, max_steps: int, place: str = "") -> Budget:  # noqa: ARG002 - as recorded
        """Give what the loop at this place had."""
        return RecordedBudget(self._record, place)

    def begin_step(self) -> int:
        """Count a step, or raise the recorded limit."""
        if self.steps >= self.max_steps:
            raise LimitReached(self._limit or "steps")
        self.steps += 1
        return self.steps

    def share_of(self, parts: int) -> int:  # noqa: ARG002 - as recorded
        """Enough for what was begun then."""
        return MAX_STEPS

    def elapsed(self) -> float:
        """The seconds that the run took then."""
        return self._record.elapsed_s

    @property
    def steps_left(self) -> int:
        """Enough for what was asked then."""
        return MAX_STEPS


def difference(record: RunRecord, messages: Sequence[Message]) -> str:
    """Compare a request with the one on record that is most like it, as `diff` writes it."""
    loops: dict[str, list[Message]] = {}
    asked: list[tuple[int, int, str, list[Message]]] = []
    for request in record.requests:  # each has what is new behind what its loop said before
        loop = loops.setdefault(request.place.partition("/")[0], [])
        loop += record.messages(request.rows)
        pairs = zip(loop, messages, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        asked.append((same, -abs(len(loop) - len(messages)), request.place, list(loop)))
    if not asked:
        return "no request is on record"
    n, _, place, then = max(asked, key=lambda row: row[:2])
    if n == len(then) == len(messages):
        return f"at {place}: its messages are those on record, and the record's hash of them is not"
    if n == min(len(then), len(messages)):
        return f"at {place}: {len(messages)} messages now, {len(then)} on record"
    before, after = _lines(then[n].content), _lines(messages[n].content)
    found = list(unified_diff(before, after, "on record", "now", lineterm="", n=0))
    more = [f"… {len(found) - DIFF_LINES} lines more"] if len(found) > DIFF_LINES else []
    told = "\n".join([*found[:DIFF_LINES], *more])
    return f"at {place}, message {n + 1} of {len(then)} ({then[n].role}):\n{told}"


def _lines(text: str) -> list[str]:
    return [
        line[at : at + DIFF_WIDTH]
        for line in text.splitlines()
        for at in range(0, len(line) or 1, DIFF_WIDTH)
    ]
