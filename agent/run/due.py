"""What is due once an answer was delivered, as the run knows it, or as its record tells later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agent.after.progress import SETTLED, Progress
from agent.journal.places import MAIN
from agent.run.steps import Steps
from agent.types import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.journal import Event
    from agent.run.record import RunRecord

_READ = frozenset({"source.added", "results.added"})
"""Events that brought words of the web."""


@dataclass(frozen=True, slots=True)
class Noted:
    """What only the run itself knows: noted with its end, so that others can do its jobs.

    `messages` counts what its model had before it in the end, `used` are the memories that it was
    given, `memory` names the memory that it is for, and `asks` says that a language model is
    asked.
    """

    messages: int
    used: tuple[int, ...]
    memory: str
    asks: bool


@dataclass(frozen=True, slots=True)
class Due:
    """The jobs of one run: what they go by, and how far they have come.

    `steps` are what the run did, a line each, `shown` the skills that it was given; `tainted` says
    that it read the web, and `at_ms` when it ended, in milliseconds since the epoch.
    """

    report: Report
    noted: Noted
    session: str
    steps: tuple[str, ...]
    shown: tuple[str, ...]
    tainted: bool
    at_ms: int
    progress: Progress

    @classmethod
    def of(cls, record: RunRecord) -> Due | None:
        """Read what is left to do for a run; None where nothing is."""
        ends = [n for n, event in enumerate(record.events) if event.type == "run.finished"]
        if not ends:
            return None
        end, behind = record.events[ends[-1]], record.events[ends[-1] :]
        if not end.data.get("after") or any(event.type == SETTLED for event in behind):
            return None
        return cls(
            report=Report.model_validate(end.data["report"]),
            noted=_noted(end.data["after"]),
            session=str(record.started.get("session") or record.folder.id),
            steps=_steps(record.events),
            shown=_shown(record.events),
            tainted=any(event.type in _READ for event in record.events),
            at_ms=milliseconds(end.at),
            progress=Progress.of(behind),
        )


def milliseconds(at: str) -> int:
    """Give an event's time in milliseconds since the epoch."""
    return int(datetime.fromisoformat(at).timestamp() * 1000)


def _noted(data: dict[str, Any]) -> Noted:
    return Noted(data["messages"], tuple(data["used"]), data["memory"], data["asks"])


def _steps(events: Sequence[Event]) -> tuple[str, ...]:
    steps = Steps()
    for event in events:
        steps.note(event)
    return steps.lines()


def _shown(events: Sequence[Event]) -> tuple[str, ...]:
    given = (e.data["names"] for e in events if e.type == "skills.given" and e.place == MAIN)
    return tuple(next(given, ()))
