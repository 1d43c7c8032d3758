"""Formats a run as an Obsidian note: properties, citations as footnotes, quotes as callouts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from agent.export.finished_run import FinishedRun
from agent.export.report_view import (
    annotated_answer,
    closest_lines,
    closest_title,
    head_lines,
    other_unsupported,
    verdict_label,
)
from browser.text.words import clean

if TYPE_CHECKING:
    from pathlib import Path

    from agent.types import Report, ReportSource

_CITATION = re.compile(r"\[(\d+)\]")


def render_note(folder: Path) -> bytes:
    """Format the run as a note that links only to its sources."""
    record = FinishedRun.read(folder)
    report = record.report
    parts = [
        _properties(report, record.events[0].at[:10]),
        f"# {report.question}",
        "\n".join(f"> [!warning] {line}" for line in head_lines(report)),
        _CITATION.sub(r"[^\1]", annotated_answer(report)),
        "\n".join([closest_title(report), *closest_lines(report)]) if report.closest else "",
        _unsupported_callout(report),
        "\n".join(map(_footnote, report.sources)),
        "\n\n".join(_callout(source) for source in report.sources if source.quotes),
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    return clean(text).encode("utf-8", "replace")


def _properties(report: Report, asked: str) -> str:
    """Format properties as YAML, whose strings may be written as in JSON."""
    values = {
        "question": report.question,
        "asked": asked,
        "status": report.badge,
        "confidence": report.confidence,
        "run": report.run,
        "sources": [source.url for source in report.sources],
        "tags": ["research"],
    }
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    return "\n".join(["---", *lines, "---"])


def _unsupported_callout(report: Report) -> str:
    rows = [f"> - {s.text} ({verdict_label(s, report)})" for s in other_unsupported(report)]
    return "\n".join(["> [!warning] Not supported", *rows]) if rows else ""


def _footnote(source: ReportSource) -> str:
    return f"[^{source.n}]: [{_plain(source.title or source.url)}](<{source.url}>)"


def _callout(source: ReportSource) -> str:
    quotes = [f"> {_plain(quote)}" for quote in source.quotes]
    return "\n".join([f"> [!quote]- {source.n}. {_plain(source.title or source.url)}", *quotes])


def _plain(text: str) -> str:
    """Return a single line without links, tags, properties or markup."""
    return re.sub(r"([\\\[\]<>*_`#|])", r"\\\1", " ".join(text.split()))
