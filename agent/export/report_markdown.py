"""Renders a run as Markdown: answer, verdicts, sources with quotes, searches, steps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from agent.export import report_view
from agent.export.finished_run import FinishedRun
from agent.types import format_usd
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from agent.types import Report

_URL_SAFE_CHARS = "%/:?#[]@!$&'*+,;=~"
"""Characters of a URL that are safe inside a Markdown link."""


def render_markdown(folder: Path) -> bytes:
    """Render the run as Markdown."""
    record = FinishedRun.read(folder)
    report, usage = record.report, record.report.usage
    text = "\n\n".join(filter(None, _parts(record)))
    state = ", ".join([f"Status {report.badge}", *report_view.confidence_facts(report)])
    cost = format_usd(usage.usd) or "no known cost"
    model = ""
    if usage.model:
        tokens = f"{usage.input_tokens} tokens in, {usage.output_tokens} out"
        model = f" with {usage.model}: {tokens}, {cost}"
    text += (
        f"\n\n{state}. {report.steps} steps in {report.elapsed_s:.1f} s{model}."
        f" Run `{report.run}`.\n"
    )
    # Text from pages and models must not turn into HTML tags, or into images that a viewer fetches.
    safe = clean(text).replace("<", "&lt;").replace("![", "!\\[")
    return safe.encode("utf-8", "replace")


def _parts(record: FinishedRun) -> Iterator[str]:
    report = record.report
    sources = {source.n: source for source in report.sources}
    yield f"# {report.question}"
    yield " ".join(report_view.head_lines(report))
    yield report_view.annotated_answer(report)
    yield _section(report_view.closest_title(report), report_view.closest_lines(report))
    yield from _data(report)
    if report.references:
        faults = (f"- {_cell(text)} — {_cell(why)}" for text, why in report_view.faults(report))
        yield _section("Faults", faults)
        unsure = (
            f"- {_cell(s.text)} — {_cell(s.reason)}" for s in report_view.sentences_to_check(report)
        )
        yield _section(report_view.TO_CHECK, unsure)
        references = map(report_view.reference_cells, report.references)
        yield _section("References", _table(report_view.REFERENCE_COLUMNS, references))
    challenges = (f"- {_cell(line)}" for line in report_view.challenge_lines(report))
    yield _section(report_view.CHALLENGES.rstrip(":"), challenges)
    if report.rechecked:
        rechecked = _table(
            report_view.RECHECK_COLUMNS, map(report_view.recheck_cells, report.rechecked)
        )
        summary = report_view.recheck_summary(report)
        yield _section("Checked again", [summary, "", *rechecked])
    rows = (
        (
            s.text,
            ", ".join(f"[{report_view.marker(sources[n], s.text)}]" for n in s.citations),
            report_view.verdict_label(s, report),
            report_view.sentence_note(s, report) or s.reason,
        )
        for s in report.sentences
    )
    yield _section("Sentences", _table(("sentence", "sources", "verdict", "why"), rows))
    yield "## Sources" if report.sources else ""
    for source in report.sources:
        shown = report_view.shown_address(source.url)
        address = quote(shown, safe=_URL_SAFE_CHARS)
        note = report_view.source_note(source, source.fetched_at)
        lines = [f"{source.n}. [{source.title or shown}]({address})"]
        lines.append(f"   {note}, sha256 `{source.sha256}`")
        if source.quotes:
            lines.append("")
        lines += [f"   > {' '.join(words.split())}" for words in report_view.paged_quotes(source)]
        yield "\n".join(lines)
    searches = report_view.search_rows(report)
    yield _section("Searches", _table(report_view.SEARCH_COLUMNS, searches))
    yield _section("Steps", _steps(record))


def _data(report: Report) -> Iterator[str]:
    """Format a schema's data with the evidence for its values; empty without a schema."""
    if not (report.values or report.data_notes):
        return
    text = report_view.data_as_json(report)
    fence = "```"
    while fence in text:
        fence += "`"
    yield f"## Data\n\n{fence}json\n{text}\n{fence}"
    rows = (
        (
            value.pointer,
            json.dumps(value.value, ensure_ascii=False),
            "".join(f"[{n}]" for n in value.citations),
            report_view.VERDICT_LABELS[value.verdict],
            value.quote,
        )
        for value in report.values
    )
    yield "\n".join(_table(("value", "", "sources", "verdict", "found in"), rows))
    yield "\n".join(f"- {_cell(note)}" for note in report.data_notes)


def _steps(record: FinishedRun) -> Iterator[str]:
    for event in record.events:
        if event.type == "tool.result":
            error = report_view.tool_error(event.data["data"])
            outcome = f" — failed: {error}" if error else ""
            param = _cell(str(event.data["param"]))
            yield f"- `{event.place}` {event.data['name']} `{param}`{outcome}"


def _section(title: str, lines: Iterable[str]) -> str:
    """Format lines below a heading; empty if there are no lines."""
    body = "\n".join(lines)
    return f"## {title}\n\n{body}" if body else ""


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Format a table as lines; returns an empty list if it has no rows."""
    body = [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}", *body] if body else []


def _cell(text: str) -> str:
    """Put text on one line and escape it, so that it cannot close a table cell or a code span."""
    return " ".join(text.split()).replace("|", "\\|").replace("`", "'")
