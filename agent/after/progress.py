"""How far the jobs after an answer have come, as the record of their run tells.

A job that is done is on record as such. One whose effect adds up, such as a score that moves, says
before it that it begins: begun again, it looks first how far it came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent.journal import Event

PLACE: Final = "after"
BEGUN: Final = "job.begun"
DONE: Final = "job.done"
SETTLED: Final = "run.settled"
"""The event behind which nothing is left to do."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The jobs that were begun, with what they noted then, and those that are done."""

    begun: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    done: frozenset[str] = frozenset()

    @classmethod
    def of(cls, events: Iterable[Event]) -> Progress:
        """Read it from the events behind the end of a run."""
        known = [event for event in events if event.type in (BEGUN, DONE)]
        begun = {_name(event): event.data for event in known if event.type == BEGUN}
        return cls(begun, frozenset(_name(event) for event in known if event.type == DONE))


def place(name: str) -> str:
    """Name the place of a job in the record."""
    return f"{PLACE}/{name}"


def _name(event: Event) -> str:
    return event.place.partition("/")[2]
