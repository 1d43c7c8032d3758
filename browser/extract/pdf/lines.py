"""The lines of a PDF's page: their text, their cells where wide gaps part them, their height."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pypdfium2

from browser.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

# A gap wider than this share of the letters' height parts cells. The space between words is a
# quarter of it, up to a half in justified lines.
_CELL_GAP = 0.7
# Pdfium's mark for a hyphen that only breaks the line.
_SOFT_HYPHEN = "\ufffe"
_LINE = re.compile(r"[^\r\n]+")
_FLAT = 0.1


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a line, and from where to where it reaches (points from the left)."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its cells from left to right, the height of its letters, where it stands."""

    cells: tuple[Cell, ...]
    height: float = 0.0
    bottom: float = 0.0
    hyphenated: bool = False

    @property
    def text(self) -> str:
        """The whole line."""
        return " ".join(cell.text for cell in self.cells)


def page_lines(page: pypdfium2.PdfTextPage) -> list[Line]:
    """Read the lines of a page in the order in which the document has them."""
    text = page.get_text_range()
    # Where characters take two code units, places in the text are not pdfium's: no geometry then.
    measured = len(text) == page.count_chars()
    return [
        line
        for match in _LINE.finditer(text)
        if (line := _line(page, match, measured=measured)).text.strip()
    ]


def _line(page: pypdfium2.PdfTextPage, match: re.Match[str], *, measured: bool) -> Line:
    raw = match[0]
    hyphenated = raw.rstrip().endswith(_SOFT_HYPHEN)
    words = [(m.start(), m.end()) for m in re.finditer(r"\S+", raw)]
    boxes = [_box(page, match.start() + a, match.start() + b - 1) for a, b in words]
    if not measured or not words or None in boxes:
        return Line((Cell(_tidy(raw), 0.0, 0.0),), hyphenated=hyphenated)
    found = [box for box in boxes if box]
    height = max(box[3] - box[1] for box in found)
    cells = tuple(_cells(raw, words, found, height))
    return Line(cells, height, found[0][1], hyphenated)


Box = tuple[float, float, float, float]


def _cells(
    raw: str, words: list[tuple[int, int]], boxes: list[Box], height: float
) -> Iterator[Cell]:
    first = 0
    for n in range(1, len(words) + 1):
        apart = n == len(words) or boxes[n][0] - boxes[n - 1][2] > _CELL_GAP * height
        if apart:
            piece = _tidy(raw[words[first][0] : words[n - 1][1]])
            yield Cell(piece, boxes[first][0], boxes[n - 1][2])
            first = n


def _box(page: pypdfium2.PdfTextPage, first: int, last: int) -> Box | None:
    """The box around a word, by its first and last letter."""
    try:
        left, bottom, _, top = page.get_charbox(first, loose=True)
        right = page.get_charbox(last, loose=True)[2]
    except pypdfium2.PdfiumError:  # a generated character has none
        return None
    return (left, bottom, right, top) if top - bottom > _FLAT else None


def _tidy(text: str) -> str:
    return " ".join(clean(text.replace(_SOFT_HYPHEN, "")).split())
