"""A run that builds on the record of another one: resumed, or repeated by another model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agent.evidence import Evidence
    from agent.journal import Journal, Runs
    from agent.loop import Caller
    from agent.models import Message, Model
    from agent.run.outcome import Ledger
    from agent.tools.context import LeftPage, Record


class Past(Protocol):
    """What a run takes over from a record, in the order in which it asks."""

    @property
    def live(self) -> bool:
        """Whether the web is opened for what the record does not hold."""
        ...

    def begin(self, runs: Runs, ledger: Ledger) -> Journal:
        """Open the journal to write to, and count what was used already."""
        ...

    def evidence(self) -> Evidence:
        """The sources there are."""
        ...

    def opening(self, place: str) -> list[Message] | None:
        """The messages that a loop begins with; None where they are laid out anew."""
        ...

    def left_open(self) -> dict[str, LeftPage]:
        """The pages that were open, by the loops that had them; opened again when needed."""
        ...

    def model(self, live: Model) -> Model:
        """The model to ask, given the live one."""
        ...

    def calls(self, live: Caller, journal: Journal) -> Caller:
        """Who makes the tool calls, given the live policy."""
        ...

    def record(self, write: Record) -> Record:
        """How events are written."""
        ...
