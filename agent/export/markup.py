"""Markdown of an answer as safe HTML."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING

import nh3
from markdown_it import MarkdownIt

from agent.export.report_view import VERDICT_LABELS, WEAK
from agent.types import VerdictState
from browser.text.words import words

if TYPE_CHECKING:
    from markdown_it.token import Token

    from agent.types import Report

_INLINE = {"strong", "em", "code"}
_TAGS = _INLINE | set(
    "p br pre ul ol li table thead tbody tr th td h2 h3 h4 h5 h6 blockquote hr".split()
)
_TITLE, _DEEPEST = 1, 6
"""The page's own heading, and the last level that HTML has."""
_TAG = re.compile(r"<[^>]*>")
_BEFORE = 600
_LAST_WORDS = 40
"""Words before a marker that tell which quote it means: about one sentence."""
_UNCITED = "\ue000"
"""A character for private use: no text of the web means anything by it."""
_MARKER = re.compile(r"\[(\d{1,3})\]")


def prose(markdown: str) -> str:
    """Render Markdown; raw HTML, images and links in it come out as text or not at all."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(markdown)
    _below_the_title(tokens)
    return nh3.clean(parser.renderer.render(tokens, parser.options, {}), tags=_TAGS, attributes={})


def inline(markdown: str) -> str:
    """Render a sentence, or a row of a table, in the same way but without blocks."""
    html = MarkdownIt("commonmark", {"html": False}).renderInline(markdown.strip("| "))
    return nh3.clean(str(html), tags=_INLINE, attributes={})


def _below_the_title(tokens: list[Token]) -> None:
    """Let headings begin below the page's own, no level left out, as screen readers expect."""
    level = _TITLE
    for token in tokens:
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + _TITLE, level + 1, _DEEPEST)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"


def with_uncited(markdown: str, report: Report) -> str:
    """Put a sign behind each sentence of an answer that cites nothing; `cited` draws it."""
    markdown = markdown.replace(_UNCITED, "")
    for sentence in report.sentences:
        told = sentence.verdict is VerdictState.UNCITED and not sentence.about_search
        if told and sentence.text in markdown:
            markdown = markdown.replace(sentence.text, f"{sentence.text}{_UNCITED}", 1)
    return markdown


def cited(html: str, report: Report) -> str:
    """Make links of the markers `[1]` whose source the report has, each to its own quote."""
    known = {source.n for source in report.sources}

    def link(match: re.Match[str]) -> str:
        if int(match[1]) not in known:
            return match[0]
        before = _TAG.sub("", html[max(0, match.start() - _BEFORE) : match.start()])
        before = next((text for text in reversed(_MARKER.split(before)) if _said(text)), "")
        last = not _MARKER.match(html[match.end() :].lstrip())
        flag = _flag(report, unescape(before)) if last else ""
        return cite(report, int(match[1]), unescape(before)) + flag

    return _MARKER.sub(link, html).replace(_UNCITED, _small(VerdictState.UNCITED))


def cite(report: Report, n: int, sentence: str) -> str:
    """Link a sentence to the quote of source `n` that carries it; hovering shows the quote."""
    source = next(source for source in report.sources if source.n == n)
    k = _nearest(source.quotes, sentence)
    if k is None:
        return f'<a class="cite" href="#source-{n}">[{n}]</a>'
    quote = escape(" ".join(source.quotes[k - 1].split()))
    return f'<a class="cite" href="#quote-{n}-{k}" data-quote="{quote}">[{n}]</a>'


def _flag(report: Report, before: str) -> str:
    """Mark the sentence that ends here where it is not supported by what it cites, or weakly."""
    said = words(before)
    for sentence in report.sentences:
        own = words(sentence.text)
        if not own or said[-len(own) :] != own:
            continue
        if sentence.weak:
            return f' <small class="weak">{WEAK}</small>'
        if sentence.verdict is not VerdictState.SUPPORTED and not sentence.about_search:
            return _small(sentence.verdict)
    return ""


def _small(verdict: VerdictState) -> str:
    return f' <small class="{verdict.value}">{VERDICT_LABELS[verdict]}</small>'


def _nearest(quotes: list[str], sentence: str) -> int | None:
    """Count to the quote that shares most with the end of a text, from 1."""
    wanted = words(sentence)[-_LAST_WORDS:]
    scored = [
        (sum(word in set(words(quote)) for word in wanted), -k) for k, quote in enumerate(quotes, 1)
    ]
    return -max(scored)[1] if scored else None


def _said(text: str) -> bool:
    """Whether a piece between two markers is a sentence, not a number or a space."""
    return len(text.strip()) > 3  # the longest marker's number
