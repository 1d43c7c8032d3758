"""The journal: a run is a folder, its events append-only, its pages kept by content."""

from agent.journal.events import Event, read_events
from agent.journal.runs import RunFolder, Runs
from agent.journal.writer import Journal, utc_now

__all__ = ["Event", "Journal", "RunFolder", "Runs", "read_events", "utc_now"]
