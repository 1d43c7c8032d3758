"""The sources of an answer as cards: where they are, and the text around each quote."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from agent.export.run_record import to_the_minute
from agent.export.verdicts import how_it_came

if TYPE_CHECKING:
    from agent.export.run_record import Record
    from agent.types import ReportSource

_AROUND = 320
"""Characters of the saved text shown before and after a quote."""


def sources(record: Record) -> str:
    """Write a card for each source, each quote marked where it stands in the saved text."""
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
        f'<p class="meta">{how_it_came(source, to_the_minute(source.fetched_at))} · '
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
