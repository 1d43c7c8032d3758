"""The lines of a PDF's page as headings, paragraphs and tables."""

from __future__ import annotations

import re
from statistics import median
from typing import TYPE_CHECKING

from browser.extract.pdf.grids import Grid, find_grid
from browser.extract.pdf.lines import Cell, Line
from browser.extract.pdf.outline import key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from browser.extract.documents.composer import Composer

_ENDS_SENTENCE = re.compile(r"[.!?:…][\"'”’)\]]*$")
# A line this long, against the page's longest, runs on into the next one.
_FULL_LINE = 0.75
_SHORTEST_FULL_LINE = 40
# Letters that are larger than most of the page's by so much set a heading.
_LARGE, _LARGER, _LARGEST = 1.15, 1.35, 1.7
_LONGEST_HEADING = 150
# A heading wraps where its line reaches so far towards the right edge of the page's text.
_FULL_HEADING = 0.6
_SAME_SIZE = 0.1
_ITEM = re.compile(r"(?:\(?\d{1,2}[.)]|[•●▪◦–*-])\s")
# A gap between lines wider than this many lines parts paragraphs.
_WIDE_GAP = 1.9


def add_lines(composer: Composer, lines: Sequence[Line], titles: Mapping[str, int]) -> None:
    """Add a page; `titles` are its headings by the outline."""
    page = _Page(composer, lines, titles)
    at = 0
    while at < len(lines):
        at += page.take(at)
    page.end()


class _Page:
    def __init__(
        self, composer: Composer, lines: Sequence[Line], titles: Mapping[str, int]
    ) -> None:
        self._composer = composer
        self._lines = lines
        self._titles = titles
        self._usual = median(_heights(lines)) if lines else 0.0
        longest = max((len(line.text) for line in lines), default=0)
        self._full = max(_SHORTEST_FULL_LINE, _FULL_LINE * longest)
        self._edge = max((line.cells[-1].right for line in lines), default=0.0)
        self._open: list[Line] = []

    def take(self, at: int) -> int:
        """Read on from a line; how many lines that took."""
        if len(self._lines[at].cells) > 1 and (found := find_grid(self._lines, at)):
            grid, taken = found
            self.end()
            self._add_grid(grid)
            return taken
        if heading := self._heading(at):
            level, taken = heading
            self.end()
            lines = self._lines[at : at + taken]
            self._composer.heading(level, " ".join(line.text for line in lines))
            return taken
        self._open.append(self._lines[at])
        return 1

    def end(self) -> None:
        """Add the paragraphs that are open."""
        lines, self._open = self._open, []
        parts: list[str] = []
        for line, following in zip(lines, [*lines[1:], None], strict=bool(lines)):
            parts.append(line.text)
            separator = self._separator(line, following) if following else "\n\n"
            if separator == "\n\n":
                self._composer.paragraph("".join(parts))
                parts = []
            else:
                parts.append(separator)

    def _separator(self, line: Line, following: Line) -> str:
        if line.hyphenated:
            return ""
        gap = line.bottom - following.bottom
        if self._usual and gap > _WIDE_GAP * max(line.height, self._usual):
            return "\n\n"
        if _ITEM.match(following.text):
            return "\n"
        if len(line.text) >= self._full:
            return " "
        if _ENDS_SENTENCE.search(line.text) or len(following.text) >= self._full:
            return "\n\n"
        return "\n"

    def _heading(self, at: int) -> tuple[int, int] | None:
        """The level of the heading that begins at a line, and how many lines it has."""
        text = ""
        for taken, line in enumerate(self._lines[at : at + 3], 1):
            text += key(line.text)
            if level := self._titles.get(text):
                return level, taken
        return None if self._titles else self._by_size(at)

    def _by_size(self, at: int) -> tuple[int, int] | None:
        size = self._lines[at].height
        ratio = size / self._usual if self._usual else 1.0
        if ratio < _LARGE:
            return None
        taken = 1
        while at + taken < len(self._lines) and self._wraps(at + taken - 1):
            taken += 1
        text = " ".join(line.text for line in self._lines[at : at + taken])
        if len(text) > _LONGEST_HEADING or not any(map(str.isalpha, text)):
            return None
        return (1 if ratio >= _LARGEST else 2 if ratio >= _LARGER else 3), taken

    def _wraps(self, at: int) -> bool:
        """Whether a heading goes on in the next line, set in letters of the same size."""
        line, following = self._lines[at], self._lines[at + 1]
        below = 0 < line.bottom - following.bottom < _WIDE_GAP * line.height
        wide = line.cells[-1].right >= _FULL_HEADING * self._edge
        return below and wide and abs(following.height - line.height) < _SAME_SIZE

    def _add_grid(self, grid: Grid) -> None:
        if not grid.is_prose:
            self._composer.table(grid.rows)
            return
        for column in zip(*grid.rows, strict=True):
            # Columns set side by side that the document has line by line: read down, not across.
            lines = [Line((Cell(text, 0, 0),)) for text in column if text]
            inner = _Page(self._composer, lines, {})
            inner._full = max(len(line.text) for line in lines) * _FULL_LINE
            inner._open = lines
            inner.end()


def _heights(lines: Sequence[Line]) -> list[float]:
    """One height for each letter, so that long lines count for more."""
    return [line.height for line in lines for _ in range(max(1, len(line.text) // 10))]
