"""Renders a schema's data as CSV, and writes CSV that is safe to open in spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from agent.errors import UsageError
from agent.export.finished_run import FinishedRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def render_csv(folder: Path) -> bytes:
    """Render the data of a run as CSV, one row per item; raises `UsageError` if it has none."""
    report = FinishedRun.read(folder).report
    rows = report.rows()
    if not rows:
        hint = "Ask for data with `--schema FILE`; `.md` and `.html` contain the answer."
        raise UsageError(f"{report.run} has no data to export as .csv", hint=hint)
    return to_csv(list(dict.fromkeys(name for row in rows for name in row)), rows)


def to_csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Write rows as CSV, with text escaped so that spreadsheets cannot run it as a formula."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _escape_formula(row.get(name)) for name in columns})
    return out.getvalue().encode("utf-8", "replace")


def _escape_formula(value: Any) -> Any:
    """Prevent a spreadsheet from running text as a formula (OWASP: CSV injection)."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
