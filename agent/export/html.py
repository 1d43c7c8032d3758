"""A run as one HTML file: no script, no remote request, readable in light, dark and print."""

from __future__ import annotations

from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from agent.export.markup import anchor, cited, prose
from agent.export.record import Record
from agent.export.steps import steps
from agent.types import VerdictState

if TYPE_CHECKING:
    from pathlib import Path

    from agent.types import Report, ReportSource, Sentence

_AROUND = 320
"""Characters of the saved text shown before and after a quote."""
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
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""  # noqa: E501 - a policy is one line


def render(folder: Path, _ending: str) -> bytes:
    """Write the run as one HTML file."""
    record = Record.read(folder)
    style = resources.files("agent.export").joinpath("report.css").read_text(encoding="utf-8")
    parts = [
        _head(record.report),
        _sentences(record.report),
        _sources(record),
        _searches(record.report),
        steps(record),
    ]
    body = "\n".join(part for part in parts if part)
    return _PAGE.format(title=escape(record.report.question), style=style, body=body).encode()


def _head(report: Report) -> str:
    usage = report.usage
    facts = [
        f'<span class="status {report.status}">{_WORDS[report.status]}</span>',
        f"confidence {report.confidence:.2f}",
        f"{report.steps} steps",
        f"{report.elapsed_s:.1f} s",
        escape(usage.model),
        f"${usage.usd:.4f}" if usage.usd else "",
    ]
    error = report.error
    failure = f'<p class="failed">{escape(error.message)} {escape(error.hint)}</p>' if error else ""
    return (
        f"<h1>{escape(report.question)}</h1>\n"
        f'<p class="facts">{" · ".join(fact for fact in facts if fact)}</p>\n'
        f'<div class="answer">{cited(prose(report.answer), report)}</div>{failure}'
    )


def _sentences(report: Report) -> str:
    if not report.sentences:
        return ""
    rows = "\n".join(_sentence(sentence, report) for sentence in report.sentences)
    return f'<h2>What carries each sentence</h2>\n<ul class="sentences">\n{rows}\n</ul>'


def _sentence(sentence: Sentence, report: Report) -> str:
    undecided = sentence.verdict is VerdictState.UNDECIDED
    name = "not verified" if undecided else sentence.verdict.value
    links = " ".join(
        f'<a class="cite" href="#{anchor(report, n, sentence.text)}">[{n}]</a>'
        for n in sentence.citations
    )
    reason = f' <span class="meta">{escape(sentence.reason)}</span>' if sentence.reason else ""
    verdict = f'<span class="verdict {sentence.verdict.value}">{name}</span>'
    return f"<li>{escape(sentence.text)} {links}<br>{verdict}{reason}</li>"


def _sources(record: Record) -> str:
    cards = "\n".join(_card(record, source) for source in record.report.sources)
    return f"<h2>Sources</h2>\n{cards}" if cards else ""


def _card(record: Record, source: ReportSource) -> str:
    text = record.source_text(source)
    quotes = "\n".join(
        f"<blockquote>{_excerpt(text, source, window)}</blockquote>"
        for window in _windows(text, source.quotes)
    )
    quotes += "".join(
        f"<blockquote>{_marked(source, quote)}</blockquote>"
        for quote in source.quotes
        if quote not in text
    )
    return (
        f'<section class="source" id="source-{source.n}">\n'
        f"<h3>[{source.n}] {_link(source)}</h3>\n"
        f'<p class="meta">{escape(source.url)}</p>\n'
        f'<p class="meta">read {escape(source.fetched_at)} via {source.via} · '
        f"sha256 {source.sha256[:16]}…</p>\n{quotes}\n</section>"
    )


def _link(source: ReportSource) -> str:
    title = escape(source.title or source.url)
    if not source.url.startswith(("http://", "https://")):
        return title
    return f'<a href="{escape(source.url)}" rel="noopener noreferrer nofollow">{title}</a>'


def _windows(text: str, quotes: list[str]) -> list[tuple[int, int]]:
    """Cut the pieces of the saved text that show all quotes, those that overlap joined."""
    windows: list[tuple[int, int]] = []
    for at, quote in sorted((text.find(quote), quote) for quote in quotes if quote in text):
        start, end = max(0, at - _AROUND), min(len(text), at + len(quote) + _AROUND)
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(end, windows[-1][1]))
        else:
            windows.append((start, end))
    return windows


def _excerpt(text: str, source: ReportSource, window: tuple[int, int]) -> str:
    start, end = window
    parts = ["…" if start else ""]
    at = start
    for begin, quote in sorted((text.find(quote), quote) for quote in source.quotes):
        if at <= begin < end:
            parts += [escape(text[at:begin]), _marked(source, quote)]
            at = begin + len(quote)
    return "".join([*parts, escape(text[at:end]), "…" if end < len(text) else ""])


def _marked(source: ReportSource, quote: str) -> str:
    number = source.quotes.index(quote) + 1
    return f'<mark id="quote-{source.n}-{number}">{escape(quote)}</mark>'


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
