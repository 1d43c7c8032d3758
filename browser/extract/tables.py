"""Tables that hold data, told from tables that lay out a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.tree import raw_text
from browser.types import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lxml import etree

    CellText = Callable[[etree._Element], str]  # noqa: SLF001 - lxml names its public type so

# Longer cells are columns of a page, not values.
_LONGEST_CELL = 1_500
# Spans are page-controlled: HTML itself allows 1000 columns.
_LARGEST_SPAN = 100


def is_data_table(node: etree._Element) -> bool:
    """Tell by structure: header cells or a regular grid, and no table, rule or heading within."""
    if (
        node.get("role") in {"presentation", "none"}
        or next(node.iterdescendants("table", "form", "hr", "blockquote"), None) is not None
    ):
        return False
    rows = list(node.iter("tr"))
    wide = sum(1 for row in rows if len(_cells(row)) > 1)
    if wide == 0 or next(node.iterdescendants("h1", "h2", "article"), None) is not None:
        return False
    if next(node.iterdescendants("th", "caption"), None) is not None:
        return True
    longest = max(len(raw_text(cell)) for row in rows for cell in _cells(row))
    return wide > 1 and longest <= _LONGEST_CELL


def read_table(node: etree._Element, cell_text: CellText) -> Table:
    """Read the rows; a cell that spans rows is repeated in each of them, as a reader takes it."""
    caption = next(node.iterchildren("caption"), None)
    rows = [row for row in _grid(node, cell_text) if any(row)]
    width = max((len(row) for row in rows), default=0)
    return Table(
        rows=tuple(tuple(row + [""] * (width - len(row))) for row in rows),
        caption=cell_text(caption) if caption is not None else "",
        header=_has_header(node),
    )


def table_text(table: Table) -> str:
    """The table as saved text: its caption, then `| a | b |` rows."""
    lines = [table.caption] if table.caption else []
    return "\n".join(lines + [_row(row) for row in table.rows])


def table_markdown(table: Table) -> str:
    """The table in Markdown proper, with the rule below the header."""
    rows = [_row(cell.replace("|", "\\|") for cell in row) for row in table.rows]
    width = len(table.rows[0]) if table.rows else 0
    rule = _row(["---"] * width)
    lines = [rows[0], rule, *rows[1:]] if table.header else [_row([""] * width), rule, *rows]
    return "\n".join(([f"{table.caption}\n"] if table.caption else []) + lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: etree._Element) -> list[etree._Element]:
    return [cell for cell in row if cell.tag in {"td", "th"}]


def _has_header(node: etree._Element) -> bool:
    first = next(node.iter("tr"), None)
    if first is None:
        return False
    cells = _cells(first)
    return len(cells) > 1 and all(cell.tag == "th" for cell in cells)


def _grid(node: etree._Element, cell_text: CellText) -> list[list[str]]:
    rows: list[list[str]] = []
    pending: dict[int, tuple[int, str]] = {}
    for row in node.iter("tr"):
        filled: list[str] = []
        for cell in _cells(row):
            _fill(filled, pending)
            text, across, down = cell_text(cell), _span(cell, "colspan"), _span(cell, "rowspan")
            for extra in range(across):
                value = text if extra == 0 else ""
                if down > 1:
                    pending[len(filled)] = (down - 1, value)
                filled.append(value)
        _fill(filled, pending)
        rows.append(filled)
    return rows


def _fill(filled: list[str], pending: dict[int, tuple[int, str]]) -> None:
    while len(filled) in pending:
        left, text = pending.pop(len(filled))
        if left > 1:
            pending[len(filled)] = (left - 1, text)
        filled.append(text)


def _span(cell: etree._Element, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return max(1, min(int(value), _LARGEST_SPAN)) if value.isdecimal() else 1
