"""What stands in a replay for the model, the tools and the clock of a run: its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.config import MAX_STEPS
from agent.context_builder import MAIN
from agent.errors import ModelUnavailable, ReplayDiverged, error_named
from agent.guard import Budget, LimitReached
from agent.loop import request_digest
from agent.models import Task
from agent.models.resolve import EXTRACTIVE
from agent.planner import PLAN
from agent.planner.plan import MISSING
from agent.planner.report import OUTLINE
from agent.protocol import CallResult
from agent.run.difference import difference
from agent.run.outcome import INTERRUPT
from agent.values import VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.models import Message, ModelReply
    from agent.run.record import RunRecord
    from agent.types import ToolCall

_ASKED_AT = {Task.PLAN: PLAN, Task.OUTLINE: OUTLINE, Task.VALUES: f"{VALUES}/1"}


class Interrupted(Exception):
    """The recorded run was interrupted here."""


class RecordedModel:
    """Answers a request with what was answered to the same one before."""

    def __init__(self, record: RunRecord) -> None:
        self.name = str(record.started["model"])
        self._record = record
        self._replies = record.replies_by_digest()
        self._looked = 0

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Give the recorded reply; raises `ReplayDiverged`, or the limit that ended the call."""
        known = self._replies.get(request_digest(system, messages))
        if known:
            return known.popleft()
        self._fail_as_then(request_digest(system, messages))
        told = difference(self._record, messages)
        raise ReplayDiverged(f"the run asks its model something else {told}")

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def guide(self) -> None:
        """Nothing changes: what a guided model replied is on record."""

    def takes(self, task: Task) -> bool:
        """Tell what was asked beside the question."""
        if task is Task.NUDGE:
            return self._record.nudged
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
                if limit == INTERRUPT:
                    raise Interrupted
                if limit is not None:
                    raise LimitReached(limit)
                failure = self._record.failures.get(request.place) or self._record.error
                if failure is not None:
                    raise error_named(failure.type, failure.message, failure.hint)
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
