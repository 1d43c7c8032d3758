"""Markdown of an answer as safe HTML."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import nh3
from markdown_it import MarkdownIt

from browser.text import words

if TYPE_CHECKING:
    from agent.types import Report

_TAGS = set(
    "p br strong em code pre ul ol li table thead tbody tr th td h3 h4 h5 blockquote hr".split()
)
_TAG = re.compile(r"<[^>]*>")
_BEFORE = 600
_LAST_WORDS = 40
"""Words before a marker that tell which quote it means: about one sentence."""
_MARKER = re.compile(r"\[(\d{1,3})\]")


def prose(markdown: str) -> str:
    """Render Markdown; raw HTML, images and links in it come out as text or not at all."""
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    return nh3.clean(html, tags=_TAGS, attributes={})


def cited(html: str, report: Report) -> str:
    """Make links of the markers `[1]` whose source the report has, each to its own quote."""
    known = {source.n for source in report.sources}

    def link(match: re.Match[str]) -> str:
        n = int(match[1])
        if n not in known:
            return match[0]
        before = _TAG.sub("", html[max(0, match.start() - _BEFORE) : match.start()])
        before = next((text for text in reversed(_MARKER.split(before)) if _said(text)), "")
        return f'<a class="cite" href="#{anchor(report, n, unescape(before))}">[{n}]</a>'

    return _MARKER.sub(link, html)


def _said(text: str) -> bool:
    """Whether a piece between two markers is a sentence, not a number or a space."""
    return len(text.strip()) > 3  # the longest marker's number


def anchor(report: Report, n: int, sentence: str) -> str:
    """Name the quote of source `n` that shares most with the end of a text, or the source."""
    source = next(source for source in report.sources if source.n == n)
    wanted = words(sentence)[-_LAST_WORDS:]
    scored = [
        (sum(word in set(words(quote)) for word in wanted), -k)
        for k, quote in enumerate(source.quotes, 1)
    ]
    return f"quote-{n}-{-max(scored)[1]}" if scored else f"source-{n}"
