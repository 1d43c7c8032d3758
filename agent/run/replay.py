"""Replaying a run from its record alone: no model, no network, no browser."""

from __future__ import annotations

from difflib import unified_diff
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from agent.config import CONTEXT_WINDOW, MAX_STEPS
from agent.errors import ModelUnavailable, ReplayDiverged, ResearchError, error_class
from agent.guard.budget import Budget, LimitReached
from agent.guard.model_client import request_digest
from agent.journal.events import CONDENSE, MAIN, MISSING, OUTLINE, PLAN, REVIEW, VALUES
from agent.limits import EFFORTS
from agent.loop.gate import Gate, repair
from agent.loop.judge import Verdicts
from agent.loop.loop import NUDGED, LoopResult, asks_for_notes
from agent.loop.orchestrator import Orchestrator
from agent.models.base import Task
from agent.run.outcome import INTERRUPT, Ledger, add_values, answer_by_rules
from agent.run.record import ResumedModel
from agent.tools.context import no_record
from agent.tools.toolset import guides_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.models.base import ModelReply
    from agent.protocol.results import CallResult
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
    options, budget = record.options, RecordedBudget(record)
    ledger = Ledger(question, evidence, budget)
    for event in record.events_until_end():
        ledger.add(event)
    # What the gate said against the answer stands at `review`, against a section at its loop.
    reviews = {event.place.partition("/")[0]: event.data for event in record.events_of(REVIEW)}
    tools = next((event.data for event in record.events_of("tools.offered")), {})

    async def build_context(_question: str, place: str) -> list[Message]:
        found = record.opening_at(place)
        if found is None:
            raise ReplayDiverged(f"the run begins a loop {place} that is not on record")
        return found

    work = Orchestrator(
        ResumedModel(record, NoLiveModel(record)),
        RecordedCalls(record),
        budget,
        record.system,
        no_record,
        build_context,
        effort=EFFORTS[options.get("depth", "standard")],
        as_report=bool(options.get("report")),
        guides=partial(guides_for, selection=tools),
        context_window=int(options.get("context_window", CONTEXT_WINDOW)),
        objections=lambda _text, place: reviews.get(place, {}).get("said"),
    )
    try:
        result = await answer_by_rules(await work.answer(question), work.messages)
        if review := reviews.get(REVIEW):
            result = await repair(work, result, review["said"], review.get("kept", []))
    except Interrupted:
        result = await answer_by_rules(LoopResult("", INTERRUPT), work.messages)
    except ReplayDiverged:
        raise
    except ResearchError as error:
        return ledger.failed_report(error)
    verdicts = Verdicts.from_rows(
        [row for e in record.events_of("judge") for row in e.data["verdicts"]]
    )
    report = ledger.finished_report(result, verdicts)
    if record.schema is not None:
        from agent.evidence.schema import Schema  # noqa: PLC0415 - few runs have one

        gate = Gate(work, evidence, no_record, verdicts=verdicts)
        await add_values(report, result.text, Schema(record.schema), gate)
    return report


class Interrupted(Exception):
    """The recorded run was interrupted here."""


class NoLiveModel:
    """Stands behind the recorded replies, where a run that goes on has its model.

    What has no reply on record fails as it failed then, or the run has diverged.
    """

    def __init__(self, record: RunRecord) -> None:
        self.name = str(record.started["model"])
        self._record = record
        self._places = {request.place for request in record.requests}
        self._looked = 0
        self._by_rules = record.by_rules

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Raise the limit or the error that ended the recorded call, or `ReplayDiverged`."""
        self._fail_as_recorded(request_digest(system, messages))
        if asks_for_notes(system):  # what was not summed up then was cut
            raise ModelUnavailable("these steps were not summed up")
        told = difference(self._record, messages)
        raise ReplayDiverged(f"the run asks its model something else {told}")

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def start_guided_mode(self) -> None:
        """Rules drive the loop from here on; what was replied is on record."""
        self._by_rules = True

    def takes(self, task: Task) -> bool:
        """Tell what was asked beside the question."""
        match task:
            case Task.NUDGE:
                noticed = self._record.events_of("guard.noticed")
                return any(event.data["circle"] == NUDGED for event in noticed)
            case Task.FOLLOW_NOTES:
                return not self._by_rules
            case Task.CONDENSE:
                return any(place.startswith(CONDENSE) for place in self._places)
            case Task.MISSING:  # asked before each round, of which the depth may allow several
                self._looked += 1
                return f"{MISSING}/{self._looked}" in self._places
        return _ASKED_AT.get(task) in self._places

    def _fail_as_recorded(self, digest: str) -> None:
        """Fail as the recorded call did that never got its reply."""
        record = self._record
        failures = {event.place: event.data for event in record.events_of("model.failed")}
        for request in record.requests:
            if request.data["sha256"] != digest or request.place in record.replies:
                continue
            loop = request.place.removeprefix(f"{CONDENSE}/").partition("/")[0]
            limit = _limit_of(record, loop)
            if limit == INTERRUPT:
                raise Interrupted
            if limit is not None:
                raise LimitReached(limit)
            failure = failures.get(request.place) or record.report.get("error")
            if failure:
                raise error_class(failure["type"])(failure["message"], hint=failure["hint"])
            raise ModelUnavailable(f"the call at {request.place} failed when it was made")


def _limit_of(record: RunRecord, loop: str = "") -> str | None:
    """Give the limit that ended a loop, else the one that ended the run."""
    reached = [e.data["limit"] for e in record.events_of("limit.reached") if e.place == loop]
    ended = reached or [event.data["limit"] for event in record.events_of("answer.draft")]
    return ended[-1] if ended else None


class RecordedCalls:
    """Gives for each tool call what it gave before, by its place."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Find the result of a call; raises `ReplayDiverged` where another call stood there."""
        if _limit_of(self._record) == INTERRUPT and place not in self._record.results:
            raise Interrupted
        known = self._record.results.get(place)
        if known is None or known[:2] != (call.name, call.param):
            then = f"{known[0]} {known[1]}".strip() if known else "no call"
            raise ReplayDiverged(
                f"the run makes another call at {place}:\n--- on record\n+++ now\n"
                f"-{then}\n+{call.name} {call.param}"
            )
        return lambda: known[2]


class RecordedBudget(Budget):
    """Ends where the recorded run ended, whatever the clock says.

    Where the run asks whether there is enough left for something, there is: whether it was done
    then is told by the record, through `NoLiveModel.takes`.
    """

    def __init__(self, record: RunRecord, loop: str = MAIN) -> None:
        places = (request.place.partition("/") for request in record.requests)
        super().__init__(max_steps=sum(head == loop and n.isdigit() for head, _, n in places))
        self._record = record
        self._limit = _limit_of(record, loop)

    def part(self, of: int, max_steps: int, place: str = "") -> Budget:  # noqa: ARG002 - as recorded
        """Give what the loop at this place had."""
        return RecordedBudget(self._record, place)

    def begin_step(self) -> int:
        """Count a step, or raise the recorded limit."""
        if self.steps >= self.max_steps:
            raise LimitReached(self._limit or "steps")
        self.steps += 1
        return self.steps

    def steps_per_part(self, parts: int) -> int:  # noqa: ARG002 - as recorded
        """Give enough for any part."""
        return MAX_STEPS

    def elapsed(self) -> float:
        """The seconds that the run took then."""
        return float(self._record.report.get("elapsed_s", 0.0))

    @property
    def steps_left(self) -> int:
        """Give enough for any question."""
        return MAX_STEPS


def difference(record: RunRecord, messages: Sequence[Message]) -> str:
    """Compare a request with the one on record that is most like it, as `diff` writes it."""
    loops: dict[str, list[Message]] = {}
    asked: list[tuple[int, int, str, list[Message]]] = []
    for request in record.requests:  # each has what is new behind what its loop said before
        loop = loops.setdefault(request.place.partition("/")[0], [])
        loop += record.messages(request)
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
