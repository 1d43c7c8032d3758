"""Tables of a PDF's page: lines whose cells stand below one another."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.extract.pdf.lines import Cell, Line

# A table has at least two rows; two rows of two cells may be anything.
_FEWEST_ROWS = 2
_MOST_COLUMNS = 20
# Columns of prose set side by side hold long pieces; a table's are short.
_LONGEST_MEAN = 28
_PROSE_ROWS = 4


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cell texts, all equally long."""

    rows: tuple[tuple[str, ...], ...]

    @property
    def is_prose(self) -> bool:
        """Whether it is two columns of running text, read across."""
        if len(self.rows) < _PROSE_ROWS or len(self.rows[0]) > 3:
            return False
        cells = [cell for row in self.rows for cell in row if cell]
        return sum(map(len, cells)) / max(1, len(cells)) > _LONGEST_MEAN


def find_grid(lines: Sequence[Line], start: int) -> tuple[Grid, int] | None:
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
    return (Grid(rows), end - start) if rows else None


def _continues(lines: Sequence[Line], at: int, start: int) -> bool:
    """Whether a line of one cell goes on with a cell of the row above, and the table with it."""
    if not start < at < len(lines) - 1:
        return False
    cell, above, below = lines[at].cells[0], lines[at - 1], lines[at + 1]
    aligned = any(abs(cell.left - other.left) < lines[at].height for other in above.cells)
    narrow = cell.right <= max(other.right for other in above.cells) + lines[at].height
    return aligned and narrow and len(below.cells) > 1


def _columns(block: Sequence[Line]) -> list[tuple[float, float]]:
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


def _rows(block: Sequence[Line], columns: list[tuple[float, float]]) -> tuple[tuple[str, ...], ...]:
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


def _place(cell: Cell, columns: list[tuple[float, float]]) -> int:
    """The column that a cell overlaps most, or the nearest."""

    def overlap(span: tuple[float, float]) -> float:
        return min(cell.right, span[1]) - max(cell.left, span[0])

    return max(range(len(columns)), key=lambda n: overlap(columns[n]))
