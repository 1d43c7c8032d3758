"""Replays a run using only its record: no model, no network, no browser."""

from __future__ import annotations

from difflib import unified_diff
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from agent.errors import ModelUnavailable, ReplayDiverged, ResearchError, error_class
from agent.guard.budget import Budget, LimitReached
from agent.guard.model_client import request_digest
from agent.journal.events import CONDENSE, MAIN, MISSING, OUTLINE, PLAN, PROPOSAL, REVIEW, VALUES
from agent.limits import DEPTH_LIMITS
from agent.loop.answer_review import repair
from agent.loop.judge import ClaimJudge
from agent.loop.loop import NUDGED, LoopResult, asks_for_notes
from agent.loop.orchestrator import Orchestrator
from agent.models.base import Task
from agent.options import CONTEXT_WINDOW, MAX_STEPS
from agent.run.outcome import INTERRUPT, ReportBuilder, add_values, extractive_answer
from agent.run.record import ResumedModel
from agent.tools.context import no_record
from agent.tools.toolset import guides_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agent.models.base import ModelReply
    from agent.run.record import RunRecord
    from agent.types import Message, Observation, Report, ToolCall

_TASK_PLACES: Final = {
    Task.PLAN: (PLAN, f"{PROPOSAL}/1"),
    Task.OUTLINE: (OUTLINE,),
    Task.VALUES: (f"{VALUES}/1",),
}
"""For each task, the journal place of its request, if one was made."""
DIFF_LINES: Final = 12
"""Maximum number of diff lines shown; the first ones are enough to see what is wrong."""
DIFF_WIDTH: Final = 160
"""Width at which long lines are wrapped, so that only the part that differs is shown."""


async def replay(record: RunRecord) -> Report:
    """Replay a run from its record and produce the same answer, byte for byte.

    Raises `ReplayDiverged` if the run would now make a different model request or tool call.
    """
    question, evidence = record.require_question().question, record.evidence
    options, budget = record.options, RecordedBudget(record)
    builder = ReportBuilder(question, evidence, budget)
    for event in record.events_until_end():
        builder.add(event)
    # Objections to the answer are recorded at `review`, objections to a section at the section's
    # loop.
    reviews = {event.place.partition("/")[0]: event.data for event in record.events_of(REVIEW)}
    offers = record.events_of("tools.offered")
    tools = offers[0].data if offers else {}

    work = Orchestrator(
        ResumedModel(record, NoLiveModel(record)),
        RecordedCalls(record),
        budget,
        record.system,
        no_record,
        partial(_recorded_opening, record),
        depth_limits=DEPTH_LIMITS[options.get("depth", "standard")],
        as_report=bool(options.get("report")),
        guides=partial(guides_for, selection=tools),
        join_loops=evidence.join_loops,
        context_window=int(options.get("context_window", CONTEXT_WINDOW)),
        objections=partial(_recorded_objections, reviews),
        kept=record.kept_sections,
        approval=record.approval() if options.get("plan") else None,
    )
    try:
        result = await extractive_answer(await work.answer(question), work.messages)
        if review := reviews.get(REVIEW):
            result = await repair(work, result, review["said"], review.get("kept", []))
    except Interrupted:
        result = await extractive_answer(LoopResult("", INTERRUPT), work.messages)
    except ReplayDiverged:
        raise
    except ResearchError as error:
        return builder.failed_report(error)
    judge = ClaimJudge(evidence, budget, no_record)
    for event in record.events_of("judge"):
        judge.load_verdicts(event.data["verdicts"])
    report = builder.finished_report(result, judge)
    if record.schema is not None:
        from agent.evidence.schema import Schema  # noqa: PLC0415 - few runs have one

        await add_values(report, result.text, Schema(record.schema), work, judge)
    return report


async def _recorded_opening(record: RunRecord, _question: str, place: str) -> list[Message]:
    messages = record.opening_at(place)
    if messages is None:
        raise ReplayDiverged(f"the run starts loop {place}, which is not in the record")
    return messages


async def _recorded_objections(
    reviews: Mapping[str, Mapping[str, Any]], parts: Mapping[str, str]
) -> dict[str, str]:
    return {place: str(reviews[place]["said"]) for place in parts if place in reviews}


class Interrupted(Exception):
    """Raised at the point where the recorded run was interrupted."""


class NoLiveModel:
    """The model used in a replay when the record has no reply; it always fails.

    It raises the limit or the error that ended the recorded call, or `ReplayDiverged` if there was
    no such call.
    """

    def __init__(self, record: RunRecord) -> None:
        self.name = str(record.started["model"])
        self._record = record
        self._places = {request.place for request in record.requests}
        self._missing_rounds = 0
        self._directed_by_code = record.directed_by_code

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Raise the limit or the error that ended the recorded call, or `ReplayDiverged`."""
        self._fail_as_recorded(request_digest(system, messages))
        if asks_for_notes(system):  # the recorded run cut old steps without a summary
            raise ModelUnavailable("these steps were not summarised")
        details = difference(self._record, messages)
        raise ReplayDiverged(f"the run sends its model a different request {details}")

    async def aclose(self) -> None:
        """Do nothing, as there is nothing to close."""

    def start_guided_mode(self) -> None:
        """Note that guided mode has started; the replies come from the record."""
        self._directed_by_code = True

    def takes(self, task: Task) -> bool:
        """Whether the recorded run used its model for this task."""
        match task:
            case Task.NUDGE:
                noticed = self._record.events_of("guard.noticed")
                return any(event.data["circle"] == NUDGED for event in noticed)
            case Task.FOLLOW_NOTES:
                return not self._directed_by_code
            case Task.CONDENSE:
                return any(place.startswith(CONDENSE) for place in self._places)
            case Task.MISSING:  # called once per round, so this counts the rounds
                self._missing_rounds += 1
                return f"{MISSING}/{self._missing_rounds}" in self._places
        return not self._places.isdisjoint(_TASK_PLACES.get(task, ()))

    def _fail_as_recorded(self, digest: str) -> None:
        """Raise the error that ended the recorded call with this digest, if it had no reply."""
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
    """Return the limit that ended a loop, or else the one that ended the run, or None."""
    limits = [e.data["limit"] for e in record.events_of("limit.reached") if e.place == loop]
    if not limits:
        limits = [event.data["limit"] for event in record.events_of("answer.draft")]
    return limits[-1] if limits else None


class RecordedCalls:
    """Returns the recorded result of each tool call by place."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record

    async def run(self, call: ToolCall, place: str) -> Callable[[], Observation]:
        """Find a call's recorded result; raises `ReplayDiverged` if the record lacks the call."""
        if _limit_of(self._record) == INTERRUPT and place not in self._record.results:
            raise Interrupted
        known = self._record.results.get(place)
        if known is None or known.call != call:
            then = f"{known.tool} {known.call.param}".strip() if known else "no call"
            raise ReplayDiverged(
                f"the run makes a different call at {place}:\n--- on record\n+++ now\n"
                f"-{then}\n+{call.name} {call.param}"
            )
        return lambda: known


class RecordedBudget(Budget):
    """A budget that ends where the recorded run ended, regardless of the clock.

    It never runs out before that: `NoLiveModel.takes` decides from the record whether a task was
    done.
    """

    def __init__(self, record: RunRecord, loop: str = MAIN) -> None:
        steps = 0
        for request in record.requests:  # a step's place is `loop/number`
            head, _, number = request.place.partition("/")
            steps += head == loop and number.isdigit()
        super().__init__(max_steps=steps)
        self._record = record
        self._limit = _limit_of(record, loop)

    def budget_for_part(self, parts: int, max_steps: int, place: str = "") -> Budget:  # noqa: ARG002 - as recorded
        """Return the budget for the loop at this place."""
        return RecordedBudget(self._record, place)

    def begin_step(self) -> int:
        """Count a step; raises the recorded limit after the last one."""
        if self.steps >= self.max_steps:
            raise LimitReached(self._limit or "steps")
        self.steps += 1
        return self.steps

    def steps_per_part(self, parts: int) -> int:  # noqa: ARG002 - as recorded
        """Return a number of steps that is enough for any part."""
        return MAX_STEPS

    def elapsed(self) -> float:
        """The duration of the recorded run in seconds."""
        return float(self._record.report.get("elapsed_s", 0.0))

    @property
    def steps_left(self) -> int:
        """A number of steps that is enough for any question."""
        return MAX_STEPS


def difference(record: RunRecord, messages: Sequence[Message]) -> str:
    """Describe how a request differs from the most similar one in the record, as a unified diff."""
    # Rebuild each recorded request, whose event contains only the messages added since the last
    # one.
    loops: dict[str, list[Message]] = {}
    candidates: list[tuple[int, int, str, list[Message]]] = []
    for request in record.requests:
        loop = loops.setdefault(request.place.partition("/")[0], [])
        loop += record.messages(request)
        pairs = zip(loop, messages, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        candidates.append((same, -abs(len(loop) - len(messages)), request.place, list(loop)))
    if not candidates:
        return "the record contains no requests"

    # The most similar request has the longest common prefix, then the closest length.
    n, _, place, recorded = max(candidates, key=lambda row: row[:2])
    if n == len(recorded) == len(messages):
        return f"at {place}: its messages match the record, but their hash does not"
    if n == min(len(recorded), len(messages)):
        return f"at {place}: {len(messages)} messages now, {len(recorded)} in the record"

    before, after = _broken_lines(recorded[n].content), _broken_lines(messages[n].content)
    diff = list(unified_diff(before, after, "on record", "now", lineterm="", n=0))
    lines = diff[:DIFF_LINES]
    if len(diff) > DIFF_LINES:
        lines.append(f"… {len(diff) - DIFF_LINES} more lines")
    head = f"at {place}, message {n + 1} of {len(recorded)} ({recorded[n].role}):"
    return "\n".join([head, *lines])


def _broken_lines(text: str) -> list[str]:
    return [
        line[at : at + DIFF_WIDTH]
        for line in text.splitlines()
        for at in range(0, len(line) or 1, DIFF_WIDTH)
    ]
