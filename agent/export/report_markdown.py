"""A run as Markdown: answer, verdicts, sources with quotes, searches, steps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from agent.export import report_view
from agent.export.run_record import FinishedRun
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from agent.journal.events import Event
    from agent.types import DataValue, Report, ReportSource

_ADDRESS = "%/:?#[]@!$&'*+,;=~"
"""Characters of an address that end no link of Markdown's."""


def render_markdown(folder: Path) -> bytes:
    """Write the run as Markdown."""
    record = FinishedRun.read(folder)
    parts = [
        f"# {record.report.question}",
        report_view.low_confidence_warning(record.report),
        record.report.answer,
        _data(record.report),
        _conflicts(record.report),
        _references(record.report),
        _verdicts(record.report),
        _markdown_sources(record.report),
        _searches(record.report),
        _steps(record),
        _footer(record.report),
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    # Of what pages and models say nothing is a tag, and nothing is fetched to be shown.
    safe = clean(text).replace("<", "&lt;").replace("![", "!\\[")
    return safe.encode("utf-8", "replace")


def _data(report: Report) -> str:
    """Write the data and its values as Markdown; empty where no schema was given."""
    if not (report.values or report.data_notes):
        return ""
    text = report_view.data_as_json(report)
    fence = "```"
    while fence in text:
        fence += "`"
    parts = [f"## Data\n\n{fence}json\n{text}\n{fence}"]
    if report.values:
        names = ("value", "", "sources", "verdict", "stands in")
        parts.append(_table(names, map(_value, report.values)))
    if report.data_notes:
        parts.append("\n".join(f"- {_cell(note)}" for note in report.data_notes))
    return "\n\n".join(parts)


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (" | ".join(cells) for cells in [names, *rows])
    head, *body = (f"| {line} |" for line in lines)
    return "\n".join([head, f"|{'---|' * len(names)}", *body])


def _value(value: DataValue) -> list[str]:
    cited = "".join(f"[{n}]" for n in value.citations)
    verdict = report_view.VERDICT_LABELS[value.verdict]
    cells = (value.pointer, json.dumps(value.value, ensure_ascii=False), cited, verdict)
    return [_cell(cell) for cell in (*cells, value.quote)]


def _conflicts(report: Report) -> str:
    lines = [f"- {line}" for line in report_view.conflict_lines(report)]
    return "\n".join(["## Where sources disagree", "", *lines]) if lines else ""


def _references(report: Report) -> str:
    """Write the references of an audited draft, and before them what does not hold in it."""
    if not report.references:
        return ""
    look = [f"- {_cell(one.text)} — {_cell(one.reason)}" for one in report_view.to_check(report)]
    wrong = [f"- {_cell(text)} — {_cell(why)}" for text, why in report_view.faults(report)]
    rows = [
        f"| {' | '.join(map(_cell, report_view.reference_cells(one)))} |"
        for one in report.references
    ]
    head = ["## References", "", "| reference | | found |", "|---|---|---|"]
    first = ["## What does not hold", "", *wrong, ""] if wrong else []
    first += [f"## {report_view.TO_CHECK}", "", *look, ""] if look else []
    return "\n".join([*first, *head, *rows])


def _verdicts(report: Report) -> str:
    if not report.sentences:
        return ""
    rows = [
        (
            _cell(s.text),
            ", ".join(f"[{n}]" for n in s.citations),
            report_view.verdict_label(s, report),
            _cell(s.reason),
        )
        for s in report.sentences
    ]
    return f"## Sentences\n\n{_table(('sentence', 'sources', 'verdict', 'why'), rows)}"


def _markdown_sources(report: Report) -> str:
    blocks = [_markdown_source(source) for source in report.sources]
    return "\n\n".join(["## Sources", *blocks]) if blocks else ""


def _markdown_source(source: ReportSource) -> str:
    head = f"{source.n}. [{source.title or source.url}]({quote(source.url, safe=_ADDRESS)})"
    facts = f"   {report_view.source_note(source, source.fetched_at)}, sha256 `{source.sha256}`"
    quotes = [f"   > {' '.join(quote.split())}" for quote in source.quotes]
    return "\n".join([head, facts, *([""] if quotes else []), *quotes])


def _searches(report: Report) -> str:
    if not report.searches:
        return ""
    rows = [
        (_cell(s.query), s.provider, s.outcome, str(s.results), str(s.ms)) for s in report.searches
    ]
    return f"## Searches\n\n{_table(('query', 'provider', 'outcome', 'results', 'ms'), rows)}"


def _steps(record: FinishedRun) -> str:
    rows = [_step(event) for event in record.events if event.type == "tool.result"]
    return "\n".join(["## Steps", "", *rows]) if rows else ""


def _step(event: Event) -> str:
    said = event.data
    failed = report_view.tool_error(said["data"])
    outcome = f" — failed: {failed}" if failed else ""
    return f"- `{event.place}` {said['name']} `{_cell(str(said['param']))}`{outcome}"


def _footer(report: Report) -> str:
    usage = report.usage
    state = ", ".join([f"Status {report.status}", *report_view.confidence_facts(report)])
    return (
        f"{state}. {report.steps} steps in "
        f"{report.elapsed_s:.1f} s with {usage.model}: {usage.input_tokens} tokens in, "
        f"{usage.output_tokens} out, ${usage.usd:.4f}. Run `{report.run}`."
    )


def _cell(text: str) -> str:
    """Write text on one line that ends neither a cell of a Markdown table nor a code span."""
    return " ".join(text.split()).replace("|", "\\|").replace("`", "'")
