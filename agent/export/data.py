"""The values of a schema in a report that people read: the data, and what carries each value."""

from __future__ import annotations

import json
import re
from html import escape
from typing import TYPE_CHECKING

from agent.export.markup import cite
from agent.export.verdicts import VERDICTS

if TYPE_CHECKING:
    from agent.types import DataValue, Report

_TICKS = re.compile(r"`+")


def as_json(report: Report) -> str:
    """Write the data as JSON, two spaces deep."""
    return json.dumps(report.data, ensure_ascii=False, indent=2)


def markdown(report: Report) -> str:
    """Write the data and its values as Markdown; empty where no schema was given."""
    if not (report.values or report.data_notes):
        return ""
    text = as_json(report)
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    parts = [f"## Data\n\n{fence}json\n{text}\n{fence}"]
    if report.values:
        rows = "\n".join(map(_row, report.values))
        parts.append(f"| value | | sources | verdict | stands in |\n|---|---|---|---|---|\n{rows}")
    if report.data_notes:
        parts.append("\n".join(f"- {cell(note)}" for note in report.data_notes))
    return "\n\n".join(parts)


def html(report: Report) -> str:
    """Write the same as HTML."""
    if not (report.values or report.data_notes):
        return ""
    head = "".join(f'<th scope="col">{name}</th>' for name in ("value", "", "stands in"))
    rows = "\n".join(_html_row(report, value) for value in report.values)
    table = (
        '<div class="wide" role="region" aria-label="Values" tabindex="0">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in report.data_notes)
    return (
        f'<h2>Data</h2>\n<pre tabindex="0">{escape(as_json(report))}</pre>\n'
        f"{table if rows else ''}{f'<ul>{notes}</ul>' if notes else ''}"
    )


def _row(value: DataValue) -> str:
    cited = "".join(f"[{n}]" for n in value.citations)
    verdict = VERDICTS[value.verdict]
    cells = (value.pointer, json.dumps(value.value, ensure_ascii=False), cited, verdict)
    return f"| {' | '.join(map(cell, (*cells, value.quote)))} |"


def _html_row(report: Report, value: DataValue) -> str:
    links = " ".join(cite(report, n, value.quote) for n in value.citations)
    verdict = f'<span class="verdict {value.verdict.value}">{VERDICTS[value.verdict]}</span>'
    shown = escape(json.dumps(value.value, ensure_ascii=False))
    return (
        f"<tr><td><code>{escape(value.pointer)}</code></td><td>{shown}<br>{verdict}</td>"
        f"<td>{escape(value.quote)} {links}</td></tr>"
    )


def cell(text: str) -> str:
    """Write text on one line that ends neither a cell of a Markdown table nor a code span."""
    return " ".join(text.split()).replace("|", "\\|").replace("`", "'")
