"""Workbooks (.xlsx and its kin): each sheet a heading, each block of rows a table."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile

from lxml import etree

from browser.errors import ExtractError
from browser.extract.documents.composer import Composer
from browser.extract.documents.properties import core_properties

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.extract.documents.archive import Archive
    from browser.types import Document

# Rows beyond this are data to compute with, not to read; so are columns beyond a printed sheet.
_MOST_ROWS = 20_000
_MOST_COLUMNS = 200
# Cells looked at, empty ones included: a cell at the far end of each row costs 16,384.
_MOST_CELLS = 1_000_000
# More lines of one cell in a row are a column of the table that the others belong to.
_MOST_TITLE_LINES = 3
_PERCENT = re.compile(r"0(?:\.(0+))?%")
_BROKEN = (
    BadZipFile, KeyError, ValueError, TypeError, AttributeError, IndexError, ParseError,
    etree.LxmlError, OSError,
)  # fmt: skip


def read_xlsx(archive: Archive, body: bytes, url: str, name: str) -> Document:
    """Read what a person sees in each visible sheet: values, not formulas; no macro is run.

    Raises ExtractError for a broken file.
    """
    from openpyxl import load_workbook  # noqa: PLC0415 - 0.2 s, for the few pages that are sheets

    archive.check_all()  # openpyxl itself knows no limit
    reader = _Reader()
    try:
        book = load_workbook(BytesIO(body), read_only=True, data_only=True, keep_links=False)
        try:
            for sheet in book.worksheets:
                reader.read(sheet)
        finally:
            book.close()
    # openpyxl raises whatever its parts run into on files that are not what they claim to be.
    except _BROKEN as error:
        raise ExtractError(f"not readable as a workbook: {error}") from error
    return reader.composer.document(url, "xlsx", name, core_properties(archive))


class _Reader:
    def __init__(self) -> None:
        self.composer = Composer()
        self._cells = _MOST_CELLS

    def read(self, sheet: Any) -> None:
        if sheet.sheet_state != "visible":
            self.composer.notes.append(f"the sheet {sheet.title} is hidden and was not read")
            return
        self.composer.heading(2, sheet.title)
        sheet.reset_dimensions()  # what the file says of its size is not to be believed
        rows = list(self._rows(sheet))
        for empty, block in groupby(rows, key=lambda row: not any(row)):
            if not empty:
                self._block(list(block))

    def _rows(self, sheet: Any) -> Iterator[list[str]]:
        for number, row in enumerate(sheet.iter_rows()):
            self._cells -= len(row) + 1
            if number >= _MOST_ROWS or self._cells < 0:
                self.composer.notes.append(f"the first {number} rows of the sheet {sheet.title}")
                return
            yield [_shown(cell) for cell in row[:_MOST_COLUMNS]]

    def _block(self, rows: list[list[str]]) -> None:
        """Add rows that no empty one parts; lone cells above a table are lines of their own."""
        left = min(next(n for n, cell in enumerate(row) if cell) for row in rows)
        for alone, group in groupby(rows, key=lambda row: sum(map(bool, row)) == 1):
            found = [row[left:] for row in group]
            if alone and len(found) < len(rows) and len(found) <= _MOST_TITLE_LINES:
                for row in found:
                    self.composer.paragraph("".join(row))
            elif alone and len(rows) == 1:
                self.composer.paragraph("".join(found[0]))
            else:
                self.composer.table(found)


def _shown(cell: Any) -> str:
    value = cell.value
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        whole = value.time() == time()
        return value.date().isoformat() if whole else value.isoformat(" ", "seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, int | float):
        return _number(value, str(cell.number_format or ""))
    return str(value)


def _number(value: float, pattern: str) -> str:
    """A number to 15 digits, as the sheet keeps it; per cent where the sheet shows it so."""
    if match := _PERCENT.search(pattern):
        return f"{value * 100:.{len(match[1] or '')}f}%"
    text = f"{value:.15g}"
    return str(int(float(text))) if "e" in text and float(text).is_integer() else text
