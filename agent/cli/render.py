"""A report on the terminal and in files, and what a run would do."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

import click

from agent.cli.terminal import complain
from agent.errors import NotFound
from agent.export import FORMATS, MORE, ending, export, report_view
from browser.plugins import plugins
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from agent.types import Report, ReportSource


_WORDS = {
    "not_found": "Not found.",
    "partial": "Stopped early; this is what is known so far.",
    "failed": "",
    "answered": "",
}
_SO_FAR = "this is what is known so far."
_LIMITS = {
    "steps": f"Stopped at the limit of steps (--max-steps, --depth); {_SO_FAR}",
    "timeout": f"Stopped at the limit of time (--timeout); {_SO_FAR}",
    "budget": f"Stopped at the limit of dollars (--budget); {_SO_FAR}",
    "tokens": f"Stopped at the limit of tokens (--max-tokens); {_SO_FAR}",
    "repetition": f"Stopped, since the model went in circles; {_SO_FAR}",
}
_QUOTE_CHARS = 240
_WIDEST = 100
"""Columns beyond which lines are hard to read."""
_BETWEEN = " · "
_KEPT = "\N{NO-BREAK SPACE}"


def print_report(report: Report, limit: str | None = None) -> None:
    """Print the answer, what is not verified, the sources with their quotes, and a last line.

    `limit` is what ended the run before its time, if anything did.
    """
    stopped = report.status == "partial" and limit in _LIMITS
    audited = bool(report.references)
    near = report.status == "not_found" and report.sources  # the answer says what they are
    blocks = [
        _LIMITS[limit or ""] if stopped else "" if near else _WORDS[report.status],
        report_view.low_confidence_warning(report),
        _audited(report) if audited else report.answer,
        _data(report),
        _listed("Not verified:", _unverified(report)),
        _listed(
            "By search results only:",
            [f"  ~ {one.text} ({one.reason})" for one in report.sentences if one.weak],
        ),
        _listed(
            "Sources disagree:", [f"  ! {line}" for line in report_view.conflict_lines(report)]
        ),
        "" if audited else "\n".join(_source(source) for source in report.sources),
        _last_line(report) if report.status != "failed" else "",
    ]
    text = clean("\n\n".join(block for block in blocks if block))
    if text:
        print(_for_terminal(text) if sys.stdout.isatty() else text)


def _audited(report: Report) -> str:
    """What does not hold in a draft, and how its references stand."""
    wrong = report_view.faults(report)
    rows = [" — ".join(filter(None, report_view.reference_cells(one))) for one in report.references]
    counted = f"{len(wrong)} do not hold:" if len(wrong) != 1 else "1 does not hold:"
    look = [f"  ? {one.text} ({one.reason})" for one in report_view.to_check(report)]
    return "\n\n".join(
        [
            _listed(counted, [f"  ✗ {text} ({why})" for text, why in wrong])
            or "No fault is known.",
            *([_listed(f"{report_view.TO_CHECK} ({len(look)}):", look)] if look else []),
            _listed("References:", [f"  {row}" for row in rows]),
        ]
    )


def _data(report: Report) -> str:
    """The values of a schema as a table, and what was left out of them; `--json` has the data."""
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


def _for_terminal(text: str) -> str:
    """Wrap to the width of the terminal; quotes and the last line in dim letters."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return "\n".join(_line(line, width) for line in text.split("\n"))


def _line(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip()))
    head, *facts = line.split(_BETWEEN)
    whole = _BETWEEN.join([head, *(fact.replace(" ", _KEPT) for fact in facts)])  # "4.6 s" is one
    whole = whole.replace(" [", f"{_KEPT}[")  # as a sentence and its citation are
    wrapped = textwrap.fill(
        whole, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ).replace(_KEPT, " ")
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    dim = line.startswith(("    “", "confidence ")) and not plain
    return f"\x1b[2m{wrapped}\x1b[0m" if dim else wrapped


def _unverified(report: Report) -> list[str]:
    return [
        f"  ? {one.text} ({report_view.verdict_label(one, report)}{_because(one.reason)})"
        for one in report_view.other_unsupported(report)
    ]


def _listed(head: str, rows: list[str]) -> str:
    return "\n".join([head, *rows]) if rows else ""


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""


def _source(source: ReportSource) -> str:
    result = " (search result, not read)" if source.via == "snippet" else ""
    where = f" — {source.url}" if source.via != "computed" else ""
    head = f"[{source.n}] {source.title or source.url}{where}{result}"
    quotes = [f"    “{_short(quote)}”" for quote in source.quotes]
    return "\n".join([head, *quotes])


def _short(quote: str) -> str:
    flat = " ".join(quote.split())
    return flat if len(flat) <= _QUOTE_CHARS else flat[:_QUOTE_CHARS] + "…"


def _last_line(report: Report) -> str:
    usage = report.usage
    rated, *made_of = report_view.confidence_facts(report) or [""]
    parts = [
        *([f"{rated} ({', '.join(made_of)})"] if rated else []),
        f"{report.steps} step{'s' * (report.steps != 1)}",
        f"{report.elapsed_s:.1f} s",
        usage.model,
    ]
    if usage.usd:
        parts.append(f"${usage.usd:.4f}")
    return _BETWEEN.join([*parts, f"run {report.run}"])


_OF_SOURCES = frozenset({".bib", ".biblatex.bib", ".ris", ".csl.json"})
"""Formats that hold the sources and nothing else."""


def write_exports(folder: Path, paths: Iterable[Path], tell: Callable[[str], None]) -> int:
    """Write the run in `folder` to each path and `tell` of it; gives the exit code.

    A list of sources is not written where there are none: the code is that of `NotFound` then.
    """
    code = 0
    for path in paths:
        if ending(path) in _OF_SOURCES and (reason := _without_sources(folder)):
            complain(f"{path.name} is not written: {reason}")
            code = NotFound.exit_code
            continue
        export(folder, path)
        tell(f"wrote {path}")
    return code


def _without_sources(folder: Path) -> str:
    """Say why a run has no sources; empty where it has some."""
    try:
        report = json.loads((folder / "report.json").read_bytes())
    except FileNotFoundError:
        return "the run was cut off"
    if report["sources"]:
        return ""
    error = report["error"]
    return f"the run failed: {error['message']}" if error else "the answer has no sources"


def export_paths(values: tuple[Path, ...]) -> tuple[Path, ...]:
    """Check endings and folders of `--export` before the run, not after it."""
    for path in values:
        if not path.parent.is_dir():
            raise click.BadParameter(f"{path}: there is no folder {path.parent}; make it first")
        if ending(path) not in FORMATS and not plugins("exports", ending(path)):
            known = " ".join(FORMATS)
            said = f"{path.name}: no such format; there are {known}; {MORE}"
            raise click.BadParameter(said)
    return values
