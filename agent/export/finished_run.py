"""Reads a finished run for exports: its report, events and source texts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.evidence.store import result_text
from agent.journal.events import JUDGE, read_events
from agent.journal.runs import RunFolder
from agent.types import Report
from browser.text.words import escaped

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from agent.journal.events import Event
    from agent.types import ReportSource


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A finished run, read from disk."""

    folder: RunFolder
    report: Report
    events: tuple[Event, ...]

    @classmethod
    def read(cls, path: Path) -> FinishedRun:
        """Read a run's folder; raises `UsageError` if the run has no report."""
        folder = RunFolder(path)
        if not folder.report.is_file():
            hint = f"`research resume {folder.id}` resumes it."
            raise UsageError(f"{folder.id} was interrupted and has no report", hint=hint)
        report = Report.model_validate_json(folder.report.read_bytes())
        return cls(folder, report, tuple(read_events(folder.journal)))

    def judged_quotes(self, claim: str) -> tuple[str, ...]:
        """Return the words that the judge quoted for a claim; () if no judge checked it."""
        judged = (event.data["verdicts"] for event in self.events if event.type == JUDGE)
        rows = [row for verdicts in judged for row in verdicts if row.get("claim") == claim]
        return tuple(rows[-1].get("quotes") or (rows[-1]["quote"],)) if rows else ()

    def source_on_record(self, source: ReportSource) -> dict[str, Any] | None:
        """Return the recorded data of a source (page or search result); None if there is none."""
        if source.via == "snippet":
            added = (event.data for event in self.events if event.type == "results.added")
            rows = (row for data in added for row in data["results"])
        else:
            rows = (event.data for event in self.events if event.type == "source.added")
        wanted = (source.url, source.sha256)
        return next((row for row in rows if (row["url"], row["sha256"]) == wanted), None)

    def source_text(self, source: ReportSource) -> str:
        """Return the saved text of a source; empty if none is recorded."""
        row = self.source_on_record(source)
        if row is None:
            return ""
        if source.via == "snippet":
            return result_text(row["title"], row["snippet"])
        return self.folder.blob(row["text"]).decode("utf-8", "replace")


def is_in_progress(folder: RunFolder) -> bool:
    """Return whether a process is still working on a run that has no report yet."""
    if folder.report.is_file() or not folder.is_running:
        return False
    return all(event.type != "run.finished" for event in read_events(folder.journal))


def report_of(folder: RunFolder) -> Report:
    """Read a run's report; for an interrupted run, build it from its journal."""
    if folder.report.is_file():
        return Report.model_validate_json(folder.report.read_bytes())
    events = {event.type: event.data for event in read_events(folder.journal)}
    if "run.finished" in events:  # interrupted after its last event, before its report was written
        return Report.model_validate(events["run.finished"]["report"])
    question = str(events.get("run.started", {}).get("question", ""))
    return Report(
        run=folder.id, question=question, status="partial", answer="The run was interrupted."
    )


def to_the_minute(at: str) -> str:
    """Format an ISO time as `2026-11-21 08:40 UTC`."""
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def seconds_between(earlier: str, later: str) -> float:
    """Return the seconds from one ISO time to another."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def render_report(folder: Path) -> bytes:
    """Return the report's JSON, with control characters escaped."""
    return _with_escapes(folder / "report.json")


def render_journal(folder: Path) -> bytes:
    """Return the journal's JSON Lines, with control characters escaped."""
    return _with_escapes(folder / "journal.jsonl")


def _with_escapes(path: Path) -> bytes:
    """Escape characters that a terminal would interpret or an editor would hide."""
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    return escaped(text).encode("utf-8", "surrogateescape")
