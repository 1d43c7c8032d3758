"""Asking another model the same question on the web that a run recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.config import options
from agent.context_builder import MAIN
from agent.journal import Journal
from agent.journal.writer import utc_now
from agent.run.execute import execute
from agent.run.given import Given
from agent.run.same_web import SameWeb

if TYPE_CHECKING:
    from pathlib import Path

    from agent.evidence import Evidence
    from agent.journal import Runs
    from agent.loop import Caller
    from agent.models import Message, Model
    from agent.run.outcome import Ledger
    from agent.run.record import RunRecord
    from agent.tools.context import LeftPage, Record
    from agent.types import Report


async def on_recorded_web(
    record: RunRecord,
    *,
    model: str | None,
    base_url: str | None = None,
    data_dir: Path | None = None,
    live: bool = False,
) -> Report:
    """Ask another model the same question, on the recorded web; gives a run of its own."""
    settings = {
        **record.started["options"],
        "schema_file": record.schema,
        "model": model,
        "base_url": base_url,
        "data_dir": data_dir,
        "memory": False,
        "session": None,
        "continue_run": None,
    }
    given = Given(config=True, past=OnRecordedWeb(record, live))
    return await execute(record.question, options(settings), given)


@dataclass(frozen=True, slots=True)
class OnRecordedWeb:
    """A new run on the sources and tool results of another one."""

    source: RunRecord
    live: bool

    def begin(self, runs: Runs, ledger: Ledger) -> Journal:  # noqa: ARG002 - it starts from nothing
        """Begin a record of its own."""
        return Journal(runs.create(utc_now()))

    def evidence(self) -> Evidence:
        """The sources of the recorded run."""
        return self.source.evidence()

    def opening(self, place: str) -> list[Message] | None:
        """The messages with which the recorded run began; another model plans for itself."""
        return self.source.opening_at(MAIN) if place == MAIN else None

    def left_open(self) -> dict[str, LeftPage]:
        """None: a new run opens pages for itself."""
        return {}

    def model(self, live: Model) -> Model:
        """The model itself."""
        return live

    def calls(self, live: Caller, journal: Journal) -> Caller:
        """What is on record comes from there."""
        self.source.copy_sources(journal)
        return SameWeb(self.source, journal.write, live if self.live else None)

    def record(self, write: Record) -> Record:
        """All events are new."""
        return write
