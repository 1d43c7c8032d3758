"""What an export reads of a run: its report, and its events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.journal import RunFolder, read_events
from agent.types import Report

if TYPE_CHECKING:
    from pathlib import Path

    from agent.journal import Event


@dataclass(frozen=True, slots=True)
class Record:
    """A finished run, read back."""

    folder: RunFolder
    report: Report
    events: tuple[Event, ...]

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read a run's folder."""
        folder = RunFolder(path)
        report = Report.model_validate_json(folder.report.read_bytes())
        return cls(folder, report, tuple(read_events(folder.journal)))

    def source_text(self, url: str, sha256: str) -> str:
        """Read the saved text of a source."""
        for event in self.events:
            data = event.data
            if event.type == "source.added" and (data["url"], data["sha256"]) == (url, sha256):
                return self.folder.blob(data["text"]).decode()
        return ""
