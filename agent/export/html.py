"""A run as one HTML file: no script, no remote request, readable in light, dark and print."""

from __future__ import annotations

from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from agent.export import data, verdicts
from agent.export.cards import sources
from agent.export.markup import cite, cited, inline, prose, with_uncited
from agent.export.run_record import Record, to_the_minute
from agent.export.steps import steps

if TYPE_CHECKING:
    from pathlib import Path

    from agent.types import Conflict, Report, Sentence

_WORDS = {
    "answered": "answered",
    "not_found": "not found",
    "partial": "partial",
    "failed": "failed",
}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
{footer}
</body>
</html>
"""  # noqa: E501 - a policy is one line


def render(folder: Path) -> bytes:
    """Write the run as one HTML file."""
    record = Record.read(folder)
    style = resources.files("agent.export").joinpath("report.css").read_text(encoding="utf-8")
    parts = [
        _head(record.report),
        data.html(record.report),
        _conflicts(record.report),
        _sentences(record.report),
        sources(record),
        _searches(record.report),
        steps(record),
    ]
    body = "\n".join(part for part in parts if part)
    title, footer = escape(record.report.question), _footer(record)
    return _PAGE.format(title=title, style=style, body=body, footer=footer).encode(
        "utf-8", "replace"
    )


def _head(report: Report) -> str:
    usage = report.usage
    facts = [
        f'<span class="status {report.status}">{_WORDS[report.status]}</span>',
        verdicts.confidence(report) if report.sources else "",
        *verdicts.made_of(report),
        f"{report.steps} step{'s' * (report.steps != 1)}",
        f"{report.elapsed_s:.1f} s",
        escape(usage.model),
        f"${usage.usd:.4f}" if usage.usd else "",
    ]
    error = report.error
    failure = f'<p class="failed">{escape(error.message)} {escape(error.hint)}</p>' if error else ""
    answer = cited(prose(with_uncited(report.answer, report)), report)
    return (
        f"<h1>{escape(report.question)}</h1>\n"
        f'<p class="facts">{" · ".join(fact for fact in facts if fact)}</p>\n'
        f'<div class="answer">{answer}</div>{failure}'
    )


def _sentences(report: Report) -> str:
    if not report.sentences:
        return ""
    rows = "\n".join(_sentence(sentence, report) for sentence in report.sentences)
    return f'<h2>What carries each sentence</h2>\n<ul class="sentences">\n{rows}\n</ul>'


def _sentence(sentence: Sentence, report: Report) -> str:
    known = {source.n for source in report.sources}
    links = " ".join(cite(report, n, sentence.text) for n in sentence.citations if n in known)
    reason = f' <span class="meta">{escape(sentence.reason)}</span>' if sentence.reason else ""
    kind = "weak" if sentence.weak else sentence.verdict.value
    verdict = f'<span class="verdict {kind}">{verdicts.verdict(sentence)}</span>'
    return f"<li>{inline(sentence.text)} {links}<br>{verdict}{reason}</li>"


def _conflicts(report: Report) -> str:
    rows = "\n".join(_conflict(conflict, report) for conflict in report.conflicts)
    return f'<h2>Where sources disagree</h2>\n<ul class="sentences">\n{rows}\n</ul>' if rows else ""


def _conflict(conflict: Conflict, report: Report) -> str:
    carried = " ".join(cite(report, n, conflict.text) for n in conflict.citations)
    against = cite(report, conflict.source, conflict.quote)
    reason = f' <span class="meta">{escape(conflict.reason)}</span>' if conflict.reason else ""
    return (
        f"<li>{inline(conflict.text)} {carried}<br>"
        f'<span class="verdict contradicted">disputed</span> '
        f"“{escape(' '.join(conflict.quote.split()))}” {against}{reason}</li>"
    )


def _searches(report: Report) -> str:
    if not report.searches:
        return ""
    rows = "\n".join(
        f"<tr><td>{escape(s.query)}</td><td>{escape(s.provider)}</td><td>{escape(s.outcome)}</td>"
        f"<td>{s.results}</td><td>{s.ms}</td></tr>"
        for s in report.searches
    )
    names = ("query", "provider", "outcome", "results", "ms")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        '<h2>Searches</h2>\n<div class="wide" role="region" aria-label="Searches" tabindex="0">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )


def _footer(record: Record) -> str:
    """Say what is needed to find the run again, and to check it."""
    report, usage = record.report, record.report.usage
    rows = {
        "run": report.run,
        "asked": to_the_minute(record.events[0].at),
        "model": usage.model,
        "model calls": f"{usage.model_calls:,}",
        "tokens": f"{usage.input_tokens:,} read, {usage.output_tokens:,} written",
        "cost": f"${usage.usd:.4f}" if usage.usd else "none",
        "head of the record": record.events[-1].hash,
    }
    facts = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in rows.items())
    return f"<footer>\n<dl>{facts}</dl>\n</footer>"
