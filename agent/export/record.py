"""What an export reads of a run: its report, and its events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.journal import RunFolder, read_events
from agent.types import Report

if TYPE_CHECKING:
    from pathlib import Path

    from agent.journal import Event
    from agent.types import ReportSource


@dataclass(frozen=True, slots=True)
class Record:
    """A finished run, read back."""

    folder: RunFolder
    report: Report
    events: tuple[Event, ...]

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read a run's folder; raises `UsageError` where the run never came to a report."""
        folder = RunFolder(path)
        if not folder.report.is_file():
            hint = f"`research resume {folder.id}` goes on with it."
            raise UsageError(f"{folder.id} was cut off and has no report", hint=hint)
        report = Report.model_validate_json(folder.report.read_bytes())
        return cls(folder, report, tuple(read_events(folder.journal)))

    def source_event(self, source: ReportSource) -> Event | None:
        """Find the event with which a source was put on record."""
        wanted = (source.url, source.sha256)
        added = (event for event in self.events if event.type == "source.added")
        return next((e for e in added if (e.data["url"], e.data["sha256"]) == wanted), None)

    def source_text(self, source: ReportSource) -> str:
        """Read the saved text of a source; empty where none is on record."""
        event = self.source_event(source)
        return self.folder.blob(event.data["text"]).decode("utf-8", "replace") if event else ""
