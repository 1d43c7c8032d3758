"""Renders an answer's Markdown as safe HTML, with markers that link to their quotes."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from agent.export.report_view import VERDICT_LABELS, WEAK
from agent.types import VerdictState
from browser.text.words import words

if TYPE_CHECKING:
    from agent.types import Report

_INLINE = {"strong", "em", "code"}
_TAGS = _INLINE | set(
    "p br pre ul ol li table thead tbody tr th td h2 h3 h4 h5 h6 blockquote hr".split()
)
_TITLE, _DEEPEST = 1, 6
"""Heading levels: that of the page's title, and the deepest of HTML."""
_TAG = re.compile(r"<[^>]*>")
_MARKER = re.compile(r"\[(\d{1,3})\]")
_BEFORE = 600
"""Characters before a marker that are searched for the sentence it belongs to."""
_LAST_WORDS = 40
"""Words before a marker that are compared with the quotes: about one sentence."""
_UNCITED = "\ue000"
"""Placeholder for the mark of an uncited sentence: a private-use character."""


def prose(markdown: str) -> str:
    """Render Markdown; raw HTML, images and links become text or are removed.

    Headings begin below the page's title and skip no level, as screen readers expect.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(markdown)
    level = _TITLE
    for token in tokens:
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + _TITLE, level + 1, _DEEPEST)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"
    return nh3.clean(parser.renderer.render(tokens, parser.options, {}), tags=_TAGS, attributes={})


def inline(markdown: str) -> Markup:
    """Render a sentence or a table row in the same way, without block elements."""
    html = MarkdownIt("commonmark", {"html": False}).renderInline(markdown.strip("| "))
    return Markup(nh3.clean(str(html), tags=_INLINE, attributes={}))  # noqa: S704 - cleaned


def answer_html(report: Report) -> Markup:
    """Render an answer: each marker links to its quote, and unsupported sentences are flagged."""
    markdown = report.answer.replace(_UNCITED, "")
    for sentence in report.sentences:
        uncited = sentence.verdict is VerdictState.UNCITED and not sentence.about_search
        if uncited and sentence.text in markdown:
            markdown = markdown.replace(sentence.text, f"{sentence.text}{_UNCITED}", 1)
    # Markers are linked in the finished HTML: Markdown would read them as links of its own.
    html = prose(markdown)
    known = {source.n for source in report.sources}

    def link(match: re.Match[str]) -> str:
        if int(match[1]) not in known:
            return match[0]
        before = _TAG.sub("", html[max(0, match.start() - _BEFORE) : match.start()])
        # Between markers in a row there is no sentence: only longer pieces count.
        pieces = (piece for piece in reversed(_MARKER.split(before)) if len(piece.strip()) > 3)
        sentence = unescape(next(pieces, ""))
        # Of several markers in a row, the last one is followed by the sentence's flag.
        last = not _MARKER.match(html[match.end() :].lstrip())
        return cite(report, int(match[1]), sentence) + (
            _flag(report, sentence) if last else Markup()
        )

    uncited_mark = _small(VerdictState.UNCITED, VERDICT_LABELS[VerdictState.UNCITED])
    html = _MARKER.sub(link, html).replace(_UNCITED, uncited_mark)
    return Markup(html)  # noqa: S704 - cleaned, and what was added is escaped


def cite(report: Report, n: int, sentence: str) -> Markup:
    """Link a sentence to its quote in source `n`; hovering shows the quote."""
    quotes = next(source.quotes for source in report.sources if source.n == n)
    if not quotes:
        return Markup('<a class="cite" href="#source-{0}">[{0}]</a>').format(n)
    last_words = words(sentence)[-_LAST_WORDS:]

    def shared(k: int) -> int:
        quoted = set(words(quotes[k]))
        return sum(word in quoted for word in last_words)

    nearest = max(range(len(quotes)), key=shared)
    link = Markup('<a class="cite" href="#quote-{0}-{1}" data-quote="{2}">[{0}]</a>')
    return link.format(n, nearest + 1, " ".join(quotes[nearest].split()))


def _flag(report: Report, before: str) -> Markup:
    """Mark the sentence that ends here where it is not supported by what it cites, or weakly."""
    said = words(before)
    for sentence in report.sentences:
        own = words(sentence.text)
        if not own or said[-len(own) :] != own:
            continue
        if sentence.weak:
            return _small("weak", WEAK)
        if sentence.verdict is not VerdictState.SUPPORTED and not sentence.about_search:
            return _small(sentence.verdict, VERDICT_LABELS[sentence.verdict])
    return Markup()


def _small(kind: str, label: str) -> Markup:
    return Markup(' <small class="{}">{}</small>').format(kind, label)
