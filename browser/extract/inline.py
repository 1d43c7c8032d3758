"""The running text of one block, gathered from its inline elements."""

from __future__ import annotations

from typing import NamedTuple

from browser.net.url import join
from browser.text import clean

# Stands for <br>. Pages cannot bring it: the parser drops NUL.
_BREAK = "\x00"
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "kbd": "`", "del": "~~"}
# Links beyond these keep their relative address: an index of more is not read as Markdown.
_MOST_LINKS = 10_000


class Piece(NamedTuple):
    """A paragraph: as plain text, as Markdown, and how many of its characters are links."""

    text: str
    markdown: str
    link_chars: int


class Inline:
    """Gathers text nodes until a block ends; `take` gives the paragraphs and starts anew."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._text: list[str] = []
        self._markdown: list[str] = []
        self._links: list[str] = []
        self._link_chars = 0
        self._joined = 0

    def add(self, text: str | None) -> None:
        """Add a text node."""
        if not text:
            return
        self._text.append(text)
        self._markdown.append(text)
        if self._links:
            self._link_chars += len(text.strip())

    def line_break(self) -> None:
        """Add a <br>; two in a row part paragraphs."""
        self._text.append(_BREAK)
        self._markdown.append(_BREAK)

    def open(self, tag: str, href: str | None) -> None:
        """Enter an inline element."""
        if tag == "a" and href is not None:
            self._links.append(href)
            self._markdown.append("[")
        elif tag in _MARKS:
            self._markdown.append(_MARKS[tag])

    def close(self, tag: str, href: str | None) -> None:
        """Leave an inline element."""
        if tag == "a" and href is not None and self._links:
            link = self._links.pop()
            self._joined += 1
            target = join(self._base, link) if self._joined <= _MOST_LINKS else ""
            self._markdown.append(f"]({target or link})")
        elif tag in _MARKS:
            self._markdown.append(_MARKS[tag])

    def take(self, *, verbatim: bool = False) -> list[Piece]:
        """Hand over the paragraphs gathered so far. `verbatim` keeps whitespace, as <pre> does."""
        text, markdown, links = "".join(self._text), "".join(self._markdown), self._link_chars
        self._text, self._markdown, self._link_chars = [], [], 0
        if not text or text.isspace():
            return []
        if verbatim:
            code = clean(text.replace(_BREAK, "\n")).strip("\n").rstrip()
            return [Piece(code, code, links)] if code.strip() else []
        texts, markdowns = _paragraphs(text), _paragraphs(markdown)
        if len(texts) != len(markdowns):  # a mark stood alone between two breaks
            markdowns = texts
        share = links / max(1, sum(map(len, texts)))
        return [Piece(t, m, round(share * len(t))) for t, m in zip(texts, markdowns, strict=True)]


def _paragraphs(raw: str) -> list[str]:
    if _BREAK not in raw:
        text = clean(" ".join(raw.split()))
        return [text] if text else []
    found: list[list[str]] = [[]]
    for line in raw.split(_BREAK):
        text = clean(" ".join(line.split()))
        if text:
            found[-1].append(text)
        elif found[-1]:
            found.append([])
    return ["\n".join(lines) for lines in found if lines]
