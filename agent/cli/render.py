"""Shows a report on the terminal and writes it to files."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

import click

from agent.cli.terminal import plural, print_error
from agent.errors import NotFound
from agent.export import FORMATS, Content, export, format_extension, report_view
from agent.export.report_view import MAX_QUOTE_CHARS
from agent.types import files_note
from browser.plugins import extras_hint, plugins
from browser.text.words import clean, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from agent.types import ClosePassage, Report, ReportSource

_STATUS_LINES = {
    "not_found": "Not found.",
    "partial": "Stopped early; this is what was found so far.",
    "failed": "",
    "answered": "",
}
_PARTIAL_RESULT = "this is what was found so far."
_LIMIT_LINES = {
    "steps": f"Stopped at the step limit (--max-steps, --depth); {_PARTIAL_RESULT}",
    "timeout": f"Stopped at the time limit (--timeout); {_PARTIAL_RESULT}",
    "budget": f"Stopped at the cost limit (--budget); {_PARTIAL_RESULT}",
    "tokens": f"Stopped at the token limit (--max-tokens); {_PARTIAL_RESULT}",
    "repetition": f"Stopped because the model repeated itself; {_PARTIAL_RESULT}",
}
_MAX_WIDTH = 100
"""Maximum width of a readable line, in characters."""
_SEPARATOR = " · "
"""Separates the items in the summary line."""
_NO_BREAK = "\N{NO-BREAK SPACE}"
_ZOTERO_TARGET = "zotero:"
"""Given instead of a file name, saves the sources to the running Zotero app."""


def print_report(report: Report, limit: str | None = None) -> None:
    """Print the answer, unverified sentences, sources with quotes, and a summary line.

    `limit` is the limit that stopped the run early, if any.
    """
    head = _STATUS_LINES[report.status]
    if report.status == "partial" and limit in _LIMIT_LINES:
        head = _LIMIT_LINES[limit or ""]
    is_audit, is_recheck = bool(report.references), bool(report.rechecked)
    badge = report.badge
    if report.status in ("answered", "partial") and badge != report.status:
        head = f"{badge.capitalize()}. {head}".strip()
    unverified = [
        f"  ? {one.text} ({report_view.verdict_label(one, report)}"
        f"{f': {one.reason}' if one.reason else ''})"
        for one in report_view.other_unsupported(report)
    ]
    weak = [f"  ~ {one.text} ({one.reason})" for one in report.sentences if one.weak]
    withheld = [f"  – {line.withheld}" for line in report.searches if line.withheld]
    closest = [_closest_passage(one) for one in report.closest]
    files = files_note(report.searches)
    blocks = [
        head,
        report_view.doubt_line(report),
        _audit(report) if is_audit else "",
        _recheck(report) if is_recheck else "",
        "" if is_audit or is_recheck else report_view.annotated_answer(report),
        _values_table(report),
        _section("Not verified:", unverified),
        _section(report_view.CHALLENGES, [f"  – {x}" for x in report_view.challenge_lines(report)]),
        _section("Supported only by search results:", weak),
        files if files not in report.answer else "",
        _section("Withheld from search engines (allow with --share KIND):", withheld),
        _section(report_view.closest_title(report), closest),
        "" if is_audit or is_recheck else "\n".join(_source(one, report) for one in report.sources),
        _summary_line(report) if report.status != "failed" else "",
    ]
    text = clean("\n\n".join(filter(None, blocks)))
    if not text:
        return
    if sys.stdout.isatty():
        width = min(shutil.get_terminal_size().columns, _MAX_WIDTH)
        text = "\n".join(_wrap_line(line, width) for line in text.split("\n"))
    print(text)


def _section(title: str, rows: Sequence[str]) -> str:
    return "\n".join([title, *rows]) if rows else ""


def _audit(report: Report) -> str:
    """Format a draft's faults and the status of its references."""
    faults = [f"  ✗ {text} ({why})" for text, why in report_view.faults(report)]
    title = f"{plural(len(faults), 'problem', 'problems')}:"
    look = [f"  ? {one.text} ({one.reason})" for one in report_view.sentences_to_check(report)]
    cells = map(report_view.reference_cells, report.references)
    references = [f"  {' — '.join(filter(None, row))}" for row in cells]
    blocks = [
        _section(title, faults) or ("" if look else "No problems found."),
        _section(f"{report_view.TO_CHECK} ({len(look)}):", look),
        _section("References:", references),
    ]
    return "\n\n".join(filter(None, blocks))


def _recheck(report: Report) -> str:
    """Format the outcome for each sentence in an earlier report."""
    signs = {True: "✓", False: "✗", None: "?"}
    blocks = [report_view.recheck_summary(report)]
    for row in report.rechecked:
        lines = [f"  {signs[row.holds]} {report_view.recheck_label(row)}: {row.text}"]
        if row.state != "stands":
            lines += [f"      {line}" for line in report_view.recheck_lines(row)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _values_table(report: Report) -> str:
    """Format a schema's values as a table, followed by the omitted values."""
    rows = [
        (
            value.pointer.removeprefix("/"),
            " ".join(str(json.dumps(value.value, ensure_ascii=False)).strip('"').split()),
            "".join(f"[{n}]" for n in value.citations),
            report_view.VERDICT_LABELS[value.verdict],
        )
        for value in report.values
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join([*table, *(f"  ? {note}" for note in report.data_notes)])


def _closest_passage(passage: ClosePassage) -> str:
    place = f"  [{passage.source}] {report_view.closest_place(passage)}"
    return f"{place}\n    “{' '.join(passage.text.split())}”"


def _source(source: ReportSource, report: Report) -> str:
    not_read = " (search result, not read)" if source.via == "snippet" else ""
    where = f" — {source.url}" if source.via != "computed" else ""
    dated = f" ({source.published[:10]})" if source.published else ""
    copy = f" (same text as [{source.copy_of}])" if source.copy_of else ""
    lines = [f"[{source.n}] {source.title or source.url}{where}{dated}{not_read}{copy}"]
    shown = {passage.text for passage in report.closest}  # shown above
    quotes = [quote for quote in source.quotes if quote not in shown]
    return "\n".join([*lines, *(f"    “{shorten(quote, MAX_QUOTE_CHARS)}”" for quote in quotes)])


def _summary_line(report: Report) -> str:
    confidence, *reasons = report_view.confidence_facts(report) or [""]
    rated = f"{confidence} ({', '.join(reasons)})" if reasons else confidence
    facts = [rated, *report_view.run_facts(report)]
    return _SEPARATOR.join([*(fact for fact in facts if fact), f"run {report.run}"])


def _wrap_line(line: str, width: int) -> str:
    """Wrap to the terminal's width; dim quotes and the summary line."""
    head, *facts = line.split(_SEPARATOR)
    # Keep each fact on one line ("4.6 s"), and each citation with the word before it.
    joined = _SEPARATOR.join([head, *(fact.replace(" ", _NO_BREAK) for fact in facts)])
    wrapped = textwrap.fill(
        joined.replace(" [", f"{_NO_BREAK}["),
        width,
        subsequent_indent=" " * (len(line) - len(line.lstrip())),
        break_long_words=False,
        break_on_hyphens=False,
    ).replace(_NO_BREAK, " ")
    no_styles = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    dim = line.startswith(("    “", "confidence ")) and not no_styles
    return f"\x1b[2m{wrapped}\x1b[0m" if dim else wrapped


def write_exports(folder: Path, paths: Iterable[Path], report_file: Callable[[str], None]) -> int:
    """Export the run in `folder` to each path; return the exit code.

    `report_file` is called with a line for each file that was written.

    If the run has no sources, no source list is written, and the exit code is that of `NotFound`.
    """
    code = 0
    for path in paths:
        kind = FORMATS.get(format_extension(path))
        is_list = (kind and kind.content is Content.SOURCES) or str(path) == _ZOTERO_TARGET
        if is_list and (reason := _why_no_sources(folder)):
            print_error(f"{path.name} was not written: {reason}")
            code = NotFound.exit_code
            continue
        if str(path) == _ZOTERO_TARGET:
            from agent.export.zotero import save_to_zotero  # noqa: PLC0415 - loads an HTTP client

            save_to_zotero(folder)
            report_file("saved the sources to Zotero")
            continue
        export(folder, path)
        report_file(f"wrote {path}")
    return code


def _why_no_sources(folder: Path) -> str:
    """Return the reason why a run has no sources; empty if it has any."""
    try:
        report = json.loads((folder / "report.json").read_bytes())
    except FileNotFoundError:
        return "the run was interrupted"
    if report["sources"]:
        return ""
    error = report["error"]
    return f"the run failed: {error['message']}" if error else "the answer has no sources"


def export_paths(values: tuple[Path, ...]) -> tuple[Path, ...]:
    """Check the formats and folders of `--export` before the run starts."""
    for path in values:
        if str(path) == _ZOTERO_TARGET:
            continue
        if not path.parent.is_dir():
            raise click.BadParameter(
                f"{path}: the folder {path.parent} does not exist; create it first"
            )
        if format_extension(path) not in FORMATS and not plugins("exports", format_extension(path)):
            known = " ".join(FORMATS)
            more = extras_hint("exports")
            raise click.BadParameter(f"{path.name}: unknown format; use one of {known}; {more}")
    return values
