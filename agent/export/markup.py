"""Renders an answer's Markdown as safe HTML, with markers that link to their quotes."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from agent.export.charts import charts_of, to_svg
from agent.export.report_view import (
    CITATION_RE,
    annotated_answer,
    closest_place,
    closest_title,
    head_lines,
    mark_sentences,
    marker,
    nearest_quote,
    sentence_note,
    verdict_label,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.types import Report, Sentence

_INLINE = {"strong", "em", "code"}
_TAGS = _INLINE | set(
    "p br pre ul ol li table thead tbody tr th td h2 h3 h4 h5 h6 blockquote hr".split()
)
_TITLE_LEVEL, _MAX_LEVEL = 1, 6
"""Heading level of the page title, and the deepest level in HTML."""
_MARKERS = re.compile(rf" \ue000(\d+)\ue001((?:\s*{CITATION_RE.pattern})*)|{CITATION_RE.pattern}")
"""Matches a sentence's number (between private-use characters) and its markers, or one marker."""


def prose(markdown: str) -> str:
    """Render Markdown; raw HTML, images and links become text or are removed.

    Headings start one level below the page title and do not skip levels, as screen readers expect.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(markdown)
    level = _TITLE_LEVEL
    for token in tokens:
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + _TITLE_LEVEL, level + 1, _MAX_LEVEL)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"
    return nh3.clean(parser.renderer.render(tokens, parser.options, {}), tags=_TAGS, attributes={})


def inline(markdown: str) -> Markup:
    """Render a sentence or a table row in the same way, without block elements."""
    html = MarkdownIt("commonmark", {"html": False}).renderInline(markdown.strip("| "))
    return Markup(nh3.clean(str(html), tags=_INLINE, attributes={}))  # noqa: S704 - cleaned


def answer_html(report: Report) -> Markup:
    """Render an answer: each marker links to its quote, and unsupported sentences are flagged."""
    markdown, found = mark_sentences(report)
    known = {source.n for source in report.sources}

    def link(markers: str, text: str) -> str:
        numbers = map(int, CITATION_RE.findall(markers))
        return "".join(cite(report, n, text) if n in known else f"[{n}]" for n in numbers)

    def complete(match: re.Match[str]) -> str:
        place, markers = match[1], match[2]
        if place is None:
            return link(match[0], "")
        sentence = report.sentences[int(place)]
        return f"{' ' if markers else ''}{link(markers, sentence.text)}{flag(sentence)}"

    def flag(sentence: Sentence) -> str:
        kind, _, note = sentence_note(sentence, report).partition(": ")
        if not note:
            return str(_flag(sentence, report))
        linked = CITATION_RE.sub(lambda match: link(match[0], ""), escape(note))
        return f' <span class="note"><b class="contradicted">{kind}</b>: {linked}</span>'

    # Markers are linked in the finished HTML: Markdown would read them as its own links.
    html = _with_charts(_MARKERS.sub(complete, prose(markdown)), report)
    html += "".join(
        f"<p>{inline(sentence.text)}{flag(sentence)}</p>"
        for number, sentence in enumerate(report.sentences)
        if number not in found and sentence_note(sentence, report)
    )
    return Markup(html)  # noqa: S704 - cleaned, and all additions are escaped


def _with_charts(html: str, report: Report) -> str:
    """Insert each table's charts after the table."""
    drawn: dict[int, str] = {}
    for chart in charts_of(report):
        drawn[chart.table] = drawn.get(chart.table, "") + to_svg(chart, report)
    pieces = html.split("</table>")
    return "</table>".join(f"{drawn.get(n - 1, '')}{piece}" for n, piece in enumerate(pieces))


def notebook_html(report: Report) -> Markup:
    """Render a report for a notebook cell, without styles or anchors that might clash."""
    parts = [Markup("<p><b>{}</b></p>").format(report.question)]
    parts += [Markup("<p><em>{}</em></p>").format(line) for line in head_lines(report, "python")]
    parts.append(Markup(prose(annotated_answer(report))))  # noqa: S704 - cleaned
    if report.closest:
        passage = Markup("<li><q>{}</q> [{}] {}</li>")
        items = (passage.format(p.text, p.source, closest_place(p)) for p in report.closest)
        parts.append(Markup("<p>{}</p><ol>{}</ol>").format(closest_title(report), _join(items)))
    sources = []
    for source in report.sources:
        title = source.title or source.url
        if source.url.startswith(("http://", "https://")):
            title = Markup('<a href="{}">{}</a>').format(source.url, title)
        quotes = _join(Markup("<br><q>{}</q>").format(quote) for quote in source.quotes)
        sources.append(Markup("<li value={}>{}{}</li>").format(source.n, title, quotes))
    if sources:
        parts.append(Markup("<p>Sources</p><ol>{}</ol>").format(_join(sources)))
    return _join(parts)


def _join(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)


def cite(report: Report, n: int, sentence: str) -> Markup:
    """Render a link from a sentence to its quote in source `n`; the tooltip shows the quote."""
    source = next(source for source in report.sources if source.n == n)
    if not source.quotes:
        return Markup('<a class="cite" href="#source-{0}">[{0}]</a>').format(n)
    number = nearest_quote(source, sentence)
    link = Markup('<a class="cite" href="#quote-{0}-{1}" data-quote="{2}">[{3}]</a>')
    quote = " ".join(source.quotes[number].split())
    return link.format(n, number + 1, quote, marker(source, sentence))


def _flag(sentence: Sentence, report: Report) -> Markup:
    """Mark a sentence that is unsupported, or supported only by search results."""
    label = verdict_label(sentence, report)
    if sentence.step:
        step = "-".join(sentence.step.split("/")[:2])
        return Markup(' <small class="{}"><a href="#step-{}">{}</a></small>').format(
            sentence.verdict.value, step, label
        )
    if sentence.about_search or (sentence.holds and not sentence.weak):
        return Markup()
    kind = "weak" if sentence.weak else sentence.verdict.value
    return Markup(' <small class="{}">{}</small>').format(kind, label)
