"""Markdown of an answer as safe HTML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import nh3
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from agent.types import Report

_TAGS = set(
    "p br strong em code pre ul ol li table thead tbody tr th td h3 h4 h5 blockquote hr".split()
)
_MARKER = re.compile(r"\[(\d{1,3})\]")


def prose(markdown: str) -> str:
    """Render Markdown; raw HTML, images and links in it come out as text or not at all."""
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    return nh3.clean(html, tags=_TAGS, attributes={})


def cited(html: str, report: Report) -> str:
    """Make links of the markers `[1]` whose source the report has."""
    known = {source.n for source in report.sources}

    def link(match: re.Match[str]) -> str:
        n = int(match[1])
        return f'<a class="cite" href="#source-{n}">[{n}]</a>' if n in known else match[0]

    return _MARKER.sub(link, html)
