"""A page of a PDF: its lines, by place and size, as headings, paragraphs and tables.

A line has cells where wide gaps part it; lines whose cells stand below one another are a table.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import pypdfium2

from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from browser.extract.documents.composer import Composer

    _Box = tuple[float, float, float, float]
    _Rows = tuple[tuple[str, ...], ...]

# A gap wider than this share of the letters' height parts cells. The space between words is a
# quarter of it, up to a half in justified lines.
_CELL_GAP = 0.7
# Pdfium's mark for a hyphen that only breaks the line.
_SOFT_HYPHEN = "\ufffe"
_LINE = re.compile(r"[^\r\n]+")
_FLAT = 0.1
# A table has at least two rows; two rows of two cells may be anything.
_FEWEST_ROWS = 2
_MOST_COLUMNS = 20
# Columns of prose set side by side hold long pieces; a table's are short.
_LONGEST_MEAN = 28
_PROSE_ROWS = 4
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


def add_page(composer: Composer, text: pypdfium2.PdfTextPage, titles: Mapping[str, int]) -> None:
    """Add a page; `titles` are its headings by the outline: `key` of their words to their level."""
    lines = _page_lines(text)
    page = _Page(composer, lines, titles)
    at = 0
    while at < len(lines):
        at += page.take(at)
    page.end()


@dataclass(frozen=True, slots=True)
class _Cell:
    """A piece of a line, and from where to where it reaches (points from the left)."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class _Line:
    """One line: its cells from left to right, the height of its letters, where it stands."""

    cells: tuple[_Cell, ...]
    height: float = 0.0
    bottom: float = 0.0
    hyphenated: bool = False

    @property
    def text(self) -> str:
        """The whole line."""
        return " ".join(cell.text for cell in self.cells)


def _page_lines(page: pypdfium2.PdfTextPage) -> list[_Line]:
    """Read the lines of a page in the order in which the document has them."""
    text = page.get_text_range()
    # Where characters take two code units, places in the text are not pdfium's: no geometry then.
    measured = len(text) == page.count_chars()
    return [
        line
        for match in _LINE.finditer(text)
        if (line := _line(page, match, measured=measured)).text.strip()
    ]


def _line(page: pypdfium2.PdfTextPage, match: re.Match[str], *, measured: bool) -> _Line:
    raw = match[0]
    hyphenated = raw.rstrip().endswith(_SOFT_HYPHEN)
    words = [(m.start(), m.end()) for m in re.finditer(r"\S+", raw)]
    boxes = [_box(page, match.start() + a, match.start() + b - 1) for a, b in words]
    if not measured or not words or None in boxes:
        return _Line((_Cell(_tidy(raw), 0.0, 0.0),), hyphenated=hyphenated)
    found = [box for box in boxes if box]
    height = max(box[3] - box[1] for box in found)
    cells = tuple(_cells(raw, words, found, height))
    return _Line(cells, height, found[0][1], hyphenated)


def _cells(
    raw: str, words: list[tuple[int, int]], boxes: list[_Box], height: float
) -> Iterator[_Cell]:
    first = 0
    for n in range(1, len(words) + 1):
        apart = n == len(words) or boxes[n][0] - boxes[n - 1][2] > _CELL_GAP * height
        if apart:
            piece = _tidy(raw[words[first][0] : words[n - 1][1]])
            yield _Cell(piece, boxes[first][0], boxes[n - 1][2])
            first = n


def _box(page: pypdfium2.PdfTextPage, first: int, last: int) -> _Box | None:
    """The box around a word, by its first and last letter."""
    try:
        left, bottom, _, top = page.get_charbox(first, loose=True)
        right = page.get_charbox(last, loose=True)[2]
    except pypdfium2.PdfiumError:  # a generated character has none
        return None
    return (left, bottom, right, top) if top - bottom > _FLAT else None


def _tidy(text: str) -> str:
    return " ".join(clean(text.replace(_SOFT_HYPHEN, "")).split())


class _Page:
    def __init__(
        self, composer: Composer, lines: Sequence[_Line], titles: Mapping[str, int]
    ) -> None:
        self._composer = composer
        self._lines = lines
        self._titles = titles
        self._usual = median(_heights(lines)) if lines else 0.0
        longest = max((len(line.text) for line in lines), default=0)
        self._full = max(_SHORTEST_FULL_LINE, _FULL_LINE * longest)
        self._edge = max((line.cells[-1].right for line in lines), default=0.0)
        self._open: list[_Line] = []

    def take(self, at: int) -> int:
        """Read on from a line; how many lines that took."""
        if len(self._lines[at].cells) > 1 and (found := _find_grid(self._lines, at)):
            rows, taken = found
            self.end()
            self._add_grid(rows)
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

    def _separator(self, line: _Line, following: _Line) -> str:
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

    def _add_grid(self, rows: _Rows) -> None:
        if not _is_prose(rows):
            self._composer.table(rows)
            return
        for column in zip(*rows, strict=True):
            # Columns set side by side that the document has line by line: read down, not across.
            lines = [_Line((_Cell(text, 0, 0),)) for text in column if text]
            inner = _Page(self._composer, lines, {})
            inner._full = max((len(line.text) for line in lines), default=0) * _FULL_LINE
            inner._open = lines
            inner.end()


def _heights(lines: Sequence[_Line]) -> list[float]:
    """One height for each letter, so that long lines count for more."""
    return [line.height for line in lines for _ in range(max(1, len(line.text) // 10))]


def _find_grid(lines: Sequence[_Line], start: int) -> tuple[_Rows, int] | None:
    """Find the table that begins at a line, and the number of lines that it takes."""
    end = start
    while end < len(lines) and (len(lines[end].cells) > 1 or _continues(lines, end, start)):
        end += 1
    while end > start and len(lines[end - 1].cells) < 2:
        end -= 1
    block = lines[start:end]
    if len(block) < _FEWEST_ROWS:
        return None
    columns = _columns(block)
    if not 2 <= len(columns) <= _MOST_COLUMNS or len(block) * len(columns) < 6:
        return None
    rows = _rows(block, columns)
    return (rows, end - start) if rows else None


def _continues(lines: Sequence[_Line], at: int, start: int) -> bool:
    """Whether a line of one cell goes on with a cell of the row above, and the table with it."""
    if not start < at < len(lines) - 1:
        return False
    cell, above, below = lines[at].cells[0], lines[at - 1], lines[at + 1]
    aligned = any(abs(cell.left - other.left) < lines[at].height for other in above.cells)
    narrow = cell.right <= max(other.right for other in above.cells) + lines[at].height
    return aligned and narrow and len(below.cells) > 1


def _columns(block: Sequence[_Line]) -> list[tuple[float, float]]:
    """Where columns stand: what the rows with most cells, or the commonest number, agree on."""
    counts = Counter(len(line.cells) for line in block if len(line.cells) > 1)
    usual = max(counts, key=lambda count: (counts[count], count))
    spans: list[tuple[float, float]] = []
    for line in block:
        if len(line.cells) == usual:
            for cell in line.cells:
                spans = _joined(spans, (cell.left, cell.right))
    return sorted(spans)


def _joined(
    spans: list[tuple[float, float]], new: tuple[float, float]
) -> list[tuple[float, float]]:
    apart = [span for span in spans if span[1] < new[0] or new[1] < span[0]]
    over = [span for span in spans if span not in apart]
    whole = (min([new[0], *(a for a, _ in over)]), max([new[1], *(b for _, b in over)]))
    return [*apart, whole]


def _rows(block: Sequence[_Line], columns: list[tuple[float, float]]) -> _Rows:
    rows: list[list[str]] = []
    for line in block:
        placed = [(_place(cell, columns), cell.text) for cell in line.cells]
        goes_on = len(placed) == 1 and bool(rows)
        row = rows[-1] if goes_on else [""] * len(columns)
        for column, text in placed:
            row[column] = f"{row[column]} {text}".strip()
        if not goes_on:
            rows.append(row)
    return tuple(map(tuple, rows))


def _place(cell: _Cell, columns: list[tuple[float, float]]) -> int:
    """The column that a cell overlaps most, or the nearest."""

    def overlap(span: tuple[float, float]) -> float:
        return min(cell.right, span[1]) - max(cell.left, span[0])

    return max(range(len(columns)), key=lambda n: overlap(columns[n]))


def _is_prose(rows: _Rows) -> bool:
    """Whether a table is really two columns of running text, read across."""
    cells = [cell for row in rows for cell in row if cell]
    long = sum(map(len, cells)) > _LONGEST_MEAN * len(cells)
    return len(rows) >= _PROSE_ROWS and len(rows[0]) <= 3 and long


def key(text: str) -> str:
    """What two writings of one heading have in common: letters and digits."""
    return "".join(character for character in clean(text).casefold() if character.isalnum())
