"""Tables of Word documents, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.documents.word_runs import Runs, W

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.documents.composer import Composer

# Word itself allows 63 columns.
_MOST_COLUMNS = 63


class WordTable:
    """Gathers the rows of one table; merged cells are repeated in each row they span."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = []
        self._links: list[tuple[str, str]] = []

    def add(self, row: etree._Element, links: dict[str, str]) -> None:
        """Take the next row."""
        above = self._rows[-1] if self._rows else []
        cells: list[str] = []
        for cell in row.iter(f"{W}tc"):
            if next(cell.iterancestors(f"{W}tr"), None) is not row:
                continue  # of a table within a cell, whose text belongs to that cell
            text = self._text(cell, links)
            if _continues(cell) and len(cells) < len(above):
                text = above[len(cells)]
            cells += [text, *[""] * (_span(cell) - 1)]
        self._rows.append(cells[:_MOST_COLUMNS])

    def end(self, composer: Composer) -> None:
        """Hand over the table: one of a single column only lays out paragraphs."""
        rows, links = self._rows, self._links
        self._rows, self._links = [], []
        if all(len(row) <= 1 for row in rows):
            for row in rows:
                composer.paragraph("".join(row))
        else:
            composer.table(rows)
        for url, text in links:
            composer.link(url, text)

    def _text(self, cell: etree._Element, links: dict[str, str]) -> str:
        found = [Runs(links, paragraph, boxes=True) for paragraph in cell.iter(f"{W}p")]
        self._links += [link for runs in found for link in runs.links]
        return " ".join(runs.text for runs in found if runs.text)


def _continues(cell: etree._Element) -> bool:
    merge = cell.find(f"{W}tcPr/{W}vMerge")
    return merge is not None and merge.get(f"{W}val", "continue") == "continue"


def _span(cell: etree._Element) -> int:
    span = cell.find(f"{W}tcPr/{W}gridSpan")
    number = span.get(f"{W}val", "") if span is not None else ""
    return min(max(int(number), 1), _MOST_COLUMNS) if number.isdecimal() else 1
