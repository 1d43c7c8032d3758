"""The report as JSON, the record as JSON Lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def render(folder: Path, ending: str) -> bytes:
    """Give the report, or with `.jsonl` the journal, as it was written."""
    return (folder / ("journal.jsonl" if ending == ".jsonl" else "report.json")).read_bytes()
