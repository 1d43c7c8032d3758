"""A run that goes on in its own record: what stands there is used, and not written twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.journal import Journal
from agent.loop.loop import request_digest
from agent.models import Guidable, Streaming, sees, takes
from agent.protocol import CallResult
from agent.run.subtasks import left_open
from agent.tools.policy import result_data

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.evidence import Evidence
    from agent.journal import Runs
    from agent.loop import Caller
    from agent.models import Message, Model, ModelReply, Task
    from agent.models.base import Heard
    from agent.run.outcome import Ledger
    from agent.run.record import RunRecord
    from agent.tools.context import LeftPage, Record
    from agent.types import ToolCall

_ONCE = frozenset({"model.request", "thought", "tool.call", "tool.result", "tool.intent"})
"""Events that name one effect: at a place where one stands on record, it is not written again."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """The same run, going on in its own record."""

    source: RunRecord
    live: bool = True

    def begin(self, runs: Runs, ledger: Ledger) -> Journal:  # noqa: ARG002 - the folder is known
        """Go on in the record, with what was used so far counted."""
        for event in self.source.events:
            ledger.note(event)
        return Journal(self.source.folder)

    def evidence(self) -> Evidence:
        """The sources read so far, under their numbers."""
        return self.source.evidence()

    def opening(self, place: str) -> list[Message] | None:
        """The messages with which the loop began, if it did."""
        return self.source.opening_at(place)

    def left_open(self) -> dict[str, LeftPage]:
        """The pages that were open when the run was cut off."""
        return left_open(self.source.events, self.source.folder.browser_state)

    def model(self, live: Model) -> Model:
        """Recorded replies come first."""
        return ResumedModel(self.source, live)

    def calls(self, live: Caller, journal: Journal) -> Caller:
        """Recorded results come first."""
        return ResumedCalls(self.source, live, journal.write)

    def record(self, write: Record) -> Record:
        """What is on record is not written twice."""
        return once_each(self.source, write)


class ResumedModel:
    """Gives recorded replies as long as the record has them, then asks the model."""

    def __init__(self, record: RunRecord, live: Model) -> None:
        self.name = live.name
        self._live = live
        self._replies = record.replies_by_digest()

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Answer from the record, or live."""
        known = self._replies.get(request_digest(system, messages))
        return known.popleft() if known else await self._live.reply(system, messages)

    async def stream(self, system: str, messages: Sequence[Message], heard: Heard) -> ModelReply:
        """Answer from the record, or live and heard while it speaks."""
        known = self._replies.get(request_digest(system, messages))
        if known or not isinstance(self._live, Streaming):
            return await self.reply(system, messages)
        return await self._live.stream(system, messages, heard)

    def guide(self) -> None:
        """Guide the live model."""
        if isinstance(self._live, Guidable):
            self._live.guide()

    def takes(self, task: Task) -> bool:
        """Tell what the live model takes."""
        return takes(self._live, task)

    @property
    def sees(self) -> bool:
        """Tell whether the live model sees."""
        return sees(self._live)

    async def aclose(self) -> None:
        """Let go of the live model's connections."""
        await self._live.aclose()


class ResumedCalls:
    """Gives recorded results, does what was never done, and repeats no write of unknown outcome."""

    def __init__(self, record: RunRecord, live: Caller, note: Record) -> None:
        self._record = record
        self._live = live
        self._note = note

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Find a call's result, or make the call."""
        known = self._record.results.get(place)
        if known is not None and known[:2] == (call.name, call.param):
            return lambda: known[2]
        if place in self._record.intents:
            return lambda: self._unknown(call, place)
        return await self._live.run(call, place)

    def _unknown(self, call: ToolCall, place: str) -> CallResult:
        self._note("tool.outcome_unknown", place, name=call.name, param=call.param)
        result = CallResult(
            call.name,
            {"error": "outcome unknown: the run was cut off while this was being done"},
            hint="It is not repeated. Look whether it took effect.",
        )
        self._note("tool.result", place, **result_data(call, result))
        return result


def once_each(record: RunRecord, write: Record) -> Record:
    """Wrap the writing of events, so that what is on record is not written twice."""
    known = {(event.type, event.place) for event in record.events if event.type in _ONCE}
    replied = set(record.replies)

    def note(kind: str, place: str = "", **data: Any) -> None:
        if (kind, place) in known or (kind == "model.reply" and place in replied):
            return
        write(kind, place, **data)

    return note
