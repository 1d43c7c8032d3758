"""Recognises data tables (as opposed to layout tables), reads them, and renders them as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.tree import raw_text
from browser.types import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lxml import etree

    CellText = Callable[[etree._Element], str]  # noqa: SLF001 - the name of lxml's public type

MAX_ROWS = 20_000
"""Maximum number of rows read from a sheet or a file; more are for calculation, not for reading."""
# Cells with more characters are layout columns, not values.
_MAX_CELL_CHARS = 1_500
# Spans are limited because the page controls them; HTML allows 1,000 columns.
_MAX_SPAN = 100


def is_data_table(node: etree._Element) -> bool:
    """Whether a table contains data rather than layout.

    A data table has a caption, header cells or at least two rows of short cells, and contains no
    table, form, rule, quotation or heading.
    """
    layout_tags = ("table", "form", "hr", "blockquote", "h1", "h2", "article")
    wide = [cells for row in node.iter("tr") if len(cells := _cells(row)) > 1]
    if (
        not wide
        or node.get("role") in {"presentation", "none"}
        or next(node.iterdescendants(*layout_tags), None) is not None
    ):
        return False
    if next(node.iterdescendants("th", "caption"), None) is not None:
        return True
    longest = max(len(raw_text(cell)) for row in node.iter("tr") for cell in _cells(row))
    return len(wide) > 1 and longest <= _MAX_CELL_CHARS


def read_table(node: etree._Element, cell_text: CellText) -> Table:
    """Read the rows; a cell that spans several rows is repeated in each one."""
    rows: list[list[str]] = []
    # For each column: how many more rows a cell spans, and its text.
    pending: dict[int, tuple[int, str]] = {}
    for row in node.iter("tr"):
        filled: list[str] = []
        for cell in (*_cells(row), None):
            while len(filled) in pending:
                left, text = pending.pop(len(filled))
                if left > 1:
                    pending[len(filled)] = (left - 1, text)
                filled.append(text)
            if cell is None:
                break
            text, down = cell_text(cell), _span(cell, "rowspan")
            for value in (text, *[""] * (_span(cell, "colspan") - 1)):
                if down > 1:
                    pending[len(filled)] = (down - 1, value)
                filled.append(value)
        if any(filled):
            rows.append(filled)
    caption = next(node.iterchildren("caption"), None)
    width = max(map(len, rows), default=0)
    return Table(
        rows=tuple(tuple(row + [""] * (width - len(row))) for row in rows),
        caption=cell_text(caption) if caption is not None else "",
        header=_has_header(node),
    )


def table_text(table: Table, *, ruled: bool = False) -> str:
    """Render a table as text: its caption, then `| a | b |` rows.

    With `ruled`, a rule below the first row marks it as the header.
    """
    rows = [_row(row) for row in table.rows]
    if ruled and len(rows) > 1:
        rows.insert(1, _row(["---"] * len(table.rows[0])))
    return "\n".join([*([table.caption] if table.caption else []), *rows])


def fact_lines(table: Table) -> str:
    """Render name-value rows as `- Built: 1829`, and single cells as lines."""
    lines = [table.caption] if table.caption else []
    for row in table.rows:
        first, *others = filter(None, row)
        lines.append(f"- {first.rstrip(' :')}: {others[0]}" if others else first)
    return "\n".join(lines)


def table_markdown(table: Table) -> str:
    """Render a table in Markdown, with the rule below the header."""
    width = len(table.rows[0]) if table.rows else 0
    rows = [_row(cell.replace("|", "\\|") for cell in row) for row in table.rows]
    if not table.header:
        rows.insert(0, _row([""] * width))
    rows.insert(1, _row(["---"] * width))
    return "\n".join([*([f"{table.caption}\n"] if table.caption else []), *rows])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: etree._Element) -> list[etree._Element]:
    return [cell for cell in row if cell.tag in {"td", "th"}]


def _has_header(node: etree._Element) -> bool:
    """Whether the first row is a header; its first cell may be empty."""
    cells = next((_cells(row) for row in node.iter("tr")), [])
    names = sum(cell.tag == "th" for cell in cells)
    corner = "".join(raw_text(cell) for cell in cells[:1] if cell.tag == "td")
    return names > 1 and not corner.strip() and names >= len(cells) - 1


def is_name_value_table(node: etree._Element) -> bool:
    """Whether each row, except for titles in a single cell, is a name and its value."""
    rows = [[cell.tag for cell in _cells(row)] for row in node.iter("tr")]
    pairs = rows.count(["th", "td"])
    return pairs > 1 and all(len(row) < 2 or row == ["th", "td"] for row in rows)


def _span(cell: etree._Element, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return max(1, min(int(value), _MAX_SPAN)) if value.isdecimal() else 1
