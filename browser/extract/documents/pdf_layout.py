"""Recognises headings, paragraphs and tables in a PDF page by the position and size of lines.

Wide gaps divide a line into cells; lines with aligned cells form a table.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from browser.text.words import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from browser.extract.documents.composer import Composer

    _Span = tuple[float, float]
    _Rows = tuple[tuple[str, ...], ...]

# A gap wider than this share of the letter height separates cells. A space between words is a
# quarter of the height wide, or up to half of it in justified lines.
_CELL_GAP = 0.7
LINE_HYPHEN = "\ufffe"
"""The character that pdfium returns for a hyphen at the end of a line, followed by the next line
without a break. It stays in the text until `resolve_line_hyphens` knows the document's words."""
_LINE = re.compile(rf"[^\r\n{LINE_HYPHEN}]+{LINE_HYPHEN}?")
_WORD_AT_LINE_HYPHEN = re.compile(rf"([^\s{LINE_HYPHEN}]*){LINE_HYPHEN}[ \n]?([^\s{LINE_HYPHEN}]*)")
_FIRST_WORD, _LAST_WORD = re.compile(r"[^\W\d_]+"), re.compile(r"[^\W\d_]+$")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_MIN_HEIGHT = 0.1
# Hebrew, Arabic and related scripts, including their presentation forms.
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# TeX's bitmap fonts often do not declare which characters they contain. These are the codes of its
# T1 (Cork) encoding for quotation marks, dashes and ligatures; 22 of 96 unseen vignettes contain
# some.
_CORK = dict(zip("\x10\x11\x12\x13\x14\x15\x16\x1b\x1c\x1d\x1e\x1f", "“”„«»–—ﬀﬁﬂﬃﬄ", strict=True))
_CORK_CODE = re.compile(r"(?<=\w)[\x10-\x16\x1b-\x1f]|[\x10-\x16\x1b-\x1f](?=\w)")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})
# A table has at least two rows; two rows with two cells each need not be a table.
_MIN_ROWS = 2
_MIN_CELLS = 6
_MAX_COLUMNS = 20
# In columns of prose, the pieces of each line are long or continue on the next line; table cells
# are short.
_MAX_MEAN_CHARS = 28
_MIN_MEAN_CHARS = 14
_PROSE_ROWS = 4
_MAX_PROSE_COLUMNS = 3
_SENTENCE_END = re.compile(r"[.!?:…][\"'”’)\]]*$")
# A line that has this share of the longest line's length continues on the next line.
_FULL_LINE_SHARE = 0.75
_MIN_FULL_LINE_CHARS = 40
# Minimum letter height of headings of level 3, 2 and 1, relative to the page's usual height.
_LEVEL_3_RATIO, _LEVEL_2_RATIO, _LEVEL_1_RATIO = 1.15, 1.35, 1.7
_MAX_HEADING_CHARS = 150
# A heading continues on the next line if it extends this far towards the text's right edge.
_FULL_HEADING_SHARE = 0.6
_MAX_SIZE_DIFFERENCE = 0.1
_ITEM = re.compile(r"(?:\(?\d{1,2}[.)]|[•●▪◦–*-])\s")
PARAGRAPH_GAP = 1.9
"""A gap larger than this many line heights separates paragraphs."""


def add_page(composer: Composer, lines: Sequence[Line], titles: Mapping[str, int]) -> None:
    """Add a page; `titles` maps the `key` of each heading from the outline to its level."""
    _Page(composer, lines, titles).add()


def usual_height(lines: Sequence[Line]) -> float:
    """The median letter height; a line counts once for every ten letters."""
    heights = [line.height for line in lines for _ in range(max(1, len(line.text) // 10))]
    return median(heights) if heights else 0.0


def key(text: str) -> str:
    """Reduce a heading to letters and digits, for comparison with the outline."""
    return _NOT_ALPHANUMERIC.sub("", clean(text).casefold())


class Cell(NamedTuple):
    """Part of a line, with its left and right edges in points from the left edge of the page."""

    text: str
    left: float = 0.0
    right: float = 0.0


class Line(NamedTuple):
    """A line: its cells from left to right, its letter height and its bottom, both in points."""

    cells: tuple[Cell, ...]
    height: float = 0.0
    bottom: float = 0.0

    @property
    def text(self) -> str:
        """The text of all cells."""
        if len(self.cells) == 1:
            return self.cells[0].text
        return " ".join(cell.text for cell in self.cells)


def page_lines(page: pypdfium2.PdfTextPage, *, layout: bool = True) -> list[Line]:
    """Read a page's lines in document order; without `layout`, only their text."""
    text = _CORK_CODE.sub(lambda code: _CORK[code[0]], page.get_text_range())
    # Right-to-left letters are put in order by their positions, so positions are read even without
    # `layout`.
    wanted = layout or _RIGHT_TO_LEFT.search(text) is not None
    if wanted and len(text) < (count := page.count_chars()):
        # pdfium counts characters that it does not know, but leaves them out (26 of 1,621 pages).
        for place in (n for n in range(count) if not pdfium.FPDFText_GetUnicode(page, n)):
            text = f"{text[:place]}\0{text[place:]}"
    # With characters of two code units, our indexes would differ from pdfium's, so no positions are
    # read.
    if not wanted or len(text) != page.count_chars():
        texts = (" ".join(raw.split()) for raw in _LINE.findall(clean(text).translate(_LIGATURES)))
        return [Line((Cell(text),)) for text in texts if text]
    lines = (_line(page, match) for match in _LINE.finditer(text))
    return [line for line in lines if line.text.strip()]


def _line(page: pypdfium2.PdfTextPage, match: re.Match[str]) -> Line:
    raw, start = match[0], match.start()
    words = [(m.start(), m.end()) for m in re.finditer(r"\S+", raw)]
    try:
        firsts = [page.get_charbox(start + a, loose=True) for a, _ in words]
        lasts = [page.get_charbox(start + b - 1, loose=True) for _, b in words]
    except pypdfium2.PdfiumError:  # generated characters have no box
        firsts = []
    heights = [top - bottom for _, bottom, _, top in firsts]
    if not heights or min(heights) <= _MIN_HEIGHT:
        return Line((Cell(one_line(raw).translate(_LIGATURES)),))
    cells = []
    begun = 0
    texts = [m[0] for m in re.finditer(r"\S+", raw)]
    if _RIGHT_TO_LEFT.search(raw):
        texts = [
            _in_reading_order(page, start + at, t) for t, (at, _) in zip(texts, words, strict=True)
        ]
    for n in range(1, len(words) + 1):
        if n == len(words) or firsts[n][0] - lasts[n - 1][2] > _CELL_GAP * max(heights):
            piece = one_line(" ".join(texts[begun:n])).translate(_LIGATURES)
            cells.append(Cell(piece, firsts[begun][0], lasts[n - 1][2]))
            begun = n
    # The median, because symbols in a formula have boxes of any height.
    return Line(tuple(cells), median(heights), firsts[0][1])


def _in_reading_order(page: pypdfium2.PdfTextPage, start: int, word: str) -> str:
    """Put a word of a right-to-left line into logical order; pdfium returns some in visual order.

    The letters of a ligature share one box; if the word is reversed, they are reversed too.
    """
    if not _RIGHT_TO_LEFT.search(word):  # punctuation after a number is to the left of it
        number = word.lstrip(".,:;!?،؛؟")
        return number + word[: len(word) - len(number)] if number[:1].isdigit() else word
    letters: list[tuple[float, str]] = []
    for at, letter in enumerate(word, start):
        left = page.get_charbox(at)[0]
        if letters and abs(letters[-1][0] - left) < _MIN_HEIGHT:
            letters[-1] = (left, letters[-1][1] + letter)
        else:
            letters.append((left, letter))
    if letters[0][0] < letters[-1][0]:
        return "".join(text for _, text in reversed(letters))
    return "".join(text[::-1] for _, text in letters)


def resolve_line_hyphens(text: str, words: Container[str]) -> str:
    """Join words that were divided at the end of a line; `words` are the document's words.

    The hyphen is kept if the document only contains the word with a hyphen, if it is part of an
    address, or if it is not between lower-case letters.
    """

    def join(match: re.Match[str]) -> str:
        before, after = match[1], match[2]
        first, last = _FIRST_WORD.match(after), _LAST_WORD.search(before)
        if first is None or last is None or not first[0].islower() or not last[0][-1].islower():
            return f"{before}-{after}"
        whole, hyphenated = last[0] + first[0], f"{last[0]}-{first[0]}"
        is_address = not {"/", "@"}.isdisjoint(before + after)
        stays = is_address or (hyphenated.lower() in words and whole.lower() not in words)
        return f"{before}{'-' if stays else ''}{after}"

    while LINE_HYPHEN in text:  # a word that spans three lines has two of them
        text = _WORD_AT_LINE_HYPHEN.sub(join, text)
    return text


class _Page:
    def __init__(
        self, composer: Composer, lines: Sequence[Line], titles: Mapping[str, int]
    ) -> None:
        self._composer = composer
        self._lines = lines
        self._titles = titles
        self._usual = usual_height(lines)
        longest = max((len(line.text) for line in lines), default=0)
        self._full_line = max(_MIN_FULL_LINE_CHARS, _FULL_LINE_SHARE * longest)
        self._edge = max((line.cells[-1].right for line in lines), default=0.0)
        self._keys = [key(line.text) for line in lines] if titles else []

    def add(self) -> None:
        """Add the page: tables, headings, and the paragraphs between them."""
        at = start = 0  # `start`: the first line that has not been added
        while at < len(self._lines):
            grid = _find_grid(self._lines, at) if len(self._lines[at].cells) > 1 else None
            heading = None if grid else self._heading(at)
            if not (grid or heading):
                at += 1
                continue
            self._add_paragraphs(self._lines[start:at], self._full_line)
            if grid:
                self._add_grid(grid[0])
                at += grid[1]
            elif heading:
                level, count = heading
                words = " ".join(line.text for line in self._lines[at : at + count])
                self._composer.heading(level, words)
                at += count
            start = at
        self._add_paragraphs(self._lines[start:], self._full_line)

    def _add_paragraphs(self, lines: Sequence[Line], full: float) -> None:
        """Add lines as paragraphs; those of at least `full` characters do not end a paragraph."""
        text = ""
        for n, line in enumerate(lines):
            separator = "\n\n"
            if n + 1 < len(lines):
                separator = self._separator(line, lines[n + 1], full)
            text += line.text
            if separator == "\n\n":
                self._composer.paragraph(text)
                text = ""
            else:
                text += separator

    def _separator(self, line: Line, following: Line, full: float) -> str:
        """Return the separator between two lines: "", a space, or a line or paragraph break."""
        gap = line.bottom - following.bottom
        if line.text.endswith(LINE_HYPHEN):
            return ""
        if self._usual and gap > PARAGRAPH_GAP * max(line.height, self._usual):
            return "\n\n"
        if _ITEM.match(following.text):
            return "\n"
        if len(line.text) >= full:
            return " "
        # A short line ends its paragraph after a sentence, or before a full line.
        ends = _SENTENCE_END.search(line.text) or len(following.text) >= full
        return "\n\n" if ends else "\n"

    def _heading(self, at: int) -> tuple[int, int] | None:
        """Return the level and line count of the heading that starts at a line, or None.

        If the outline has headings for the page, they are used; otherwise, the letter size decides.
        """
        text = ""
        for count, part in enumerate(self._keys[at : at + 3], 1):
            text += part
            if level := self._titles.get(text):
                return level, count
        ratio = self._lines[at].height / self._usual if self._usual else 1.0
        if self._titles or ratio < _LEVEL_3_RATIO:
            return None
        count = 1
        while at + count < len(self._lines) and self._heading_continues(at + count - 1):
            count += 1
        text = " ".join(line.text for line in self._lines[at : at + count])
        if len(text) > _MAX_HEADING_CHARS or not any(map(str.isalpha, text)):
            return None
        return (1 if ratio >= _LEVEL_1_RATIO else 2 if ratio >= _LEVEL_2_RATIO else 3), count

    def _heading_continues(self, at: int) -> bool:
        """Whether a heading continues on the next line, in letters of the same size."""
        line, following = self._lines[at], self._lines[at + 1]
        below = 0 < line.bottom - following.bottom < PARAGRAPH_GAP * line.height
        wide = line.cells[-1].right >= _FULL_HEADING_SHARE * self._edge
        return below and wide and abs(following.height - line.height) < _MAX_SIZE_DIFFERENCE

    def _add_grid(self, rows: _Rows) -> None:
        by_column = ([text for text in column if text] for column in zip(*rows, strict=True))
        columns = [column for column in by_column if column]
        if len(rows) < _PROSE_ROWS or len(columns) > _MAX_PROSE_COLUMNS or not _is_prose(columns):
            self._composer.table(rows)
            return
        # These are columns of prose that were stored line by line: add one column after another.
        for column in columns:
            parts = [*itertools.pairwise(column), (column[-1], "")]
            texts = [
                f"{a[:-1]}{LINE_HYPHEN}" if a[-1] == "-" and b[:1].islower() else a
                for a, b in parts
            ]
            longest = max(map(len, texts))
            self._add_paragraphs([Line((Cell(t),)) for t in texts], _FULL_LINE_SHARE * longest)


def _is_prose(columns: Sequence[Sequence[str]]) -> bool:
    """Whether the columns' cells are lines of prose."""
    cells = [text for column in columns for text in column]
    mean = sum(map(len, cells)) / len(cells)
    pairs = [[*itertools.pairwise(column)] for column in columns]
    continued = [
        sum(b[0].islower() and not _SENTENCE_END.search(a) for a, b in found) >= len(found) / 2
        for found in pairs
    ]
    return mean > _MAX_MEAN_CHARS or (mean > _MIN_MEAN_CHARS and all(continued))


def _find_grid(lines: Sequence[Line], start: int) -> tuple[_Rows, int] | None:
    """Find the table that starts at a line; returns its rows and number of lines."""
    end = start
    while end < len(lines) and (len(lines[end].cells) > 1 or _continues_cell(lines, end, start)):
        end += 1
    block = lines[start:end]
    if len(block) < _MIN_ROWS:
        return None
    columns = _columns(block)
    if not 2 <= len(columns) <= _MAX_COLUMNS or len(block) * len(columns) < _MIN_CELLS:
        return None
    rows: list[list[str]] = []
    for line in block:
        if len(line.cells) > 1 or not rows:
            rows.append([""] * len(columns))
        for cell in line.cells:
            overlaps = [min(cell.right, right) - max(cell.left, left) for left, right in columns]
            column = overlaps.index(max(overlaps))
            rows[-1][column] = f"{rows[-1][column]} {cell.text}".strip()
    return tuple(map(tuple, rows)), len(block)


def _continues_cell(lines: Sequence[Line], at: int, start: int) -> bool:
    """Whether a one-cell line continues a cell in the row above, within a table."""
    if not start < at < len(lines) - 1:
        return False
    cell, above, below = lines[at].cells[0], lines[at - 1], lines[at + 1]
    aligned = any(abs(cell.left - other.left) < lines[at].height for other in above.cells)
    narrow = cell.right <= max(other.right for other in above.cells) + lines[at].height
    return aligned and narrow and len(below.cells) > 1


def _columns(block: Sequence[Line]) -> list[_Span]:
    """The columns' left and right edges, from the rows with the most common number of cells."""
    counts = Counter(len(line.cells) for line in block if len(line.cells) > 1)
    usual = max(counts, key=lambda count: (counts[count], count))
    cells = sorted(
        (cell.left, cell.right) for line in block if len(line.cells) == usual for cell in line.cells
    )
    spans = cells[:1]
    for left, right in cells[1:]:
        if left > spans[-1][1]:
            spans.append((left, right))
        else:
            spans[-1] = (spans[-1][0], max(right, spans[-1][1]))
    return spans
