"""Reads workbooks: .xlsx with openpyxl, .xls with xlrd. Each sheet becomes a heading.

Comments, text boxes and chart titles follow the cells of their sheet.
"""

from __future__ import annotations

import re
import struct
from datetime import date, datetime, time
from functools import partial
from io import BytesIO, StringIO
from itertools import groupby
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

from lxml import etree

from browser.errors import Encrypted, ExtractError
from browser.extract.documents.archive import BROKEN_ZIP, missing_extra_error
from browser.extract.documents.composer import Composer, dublin_core
from browser.extract.tables import MAX_ROWS
from browser.extract.tree import text_content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from browser.extract.documents.archive import Archive
    from browser.types import Document

_MAX_COLUMNS = 200  # the others are for calculation, as for `MAX_ROWS`
# Empty cells count too: a single cell at the far end of a row adds 16,384 of them.
_MAX_CELLS = 1_000_000
# If there are more consecutive one-cell rows than this, they are a table column, not titles.
_MAX_TITLE_LINES = 3
# Matches a cell with a formula but without a stored value.
_FORMULA_WITHOUT_VALUE = re.compile(rb"</f>\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_PERCENT = re.compile(r"0(?:\.(0+))?%")
# Errors that openpyxl and xlrd raise for damaged files.
_BROKEN_FILE_ERRORS = (
    *BROKEN_ZIP, KeyError, TypeError, AttributeError, IndexError, ParseError, etree.LxmlError,
    struct.error,
)  # fmt: skip


def read_xlsx(archive: Archive, body: bytes, url: str, name: str) -> Document:
    """Read the visible sheets: values, or formulas if there is no value; macros are not run.

    Raises ExtractError for a broken file, or without the extra `office`.
    """
    try:
        from openpyxl import load_workbook  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise missing_extra_error("xlsx", "office", ".csv") from error
    archive.check_all()  # openpyxl has no size limit
    reader = _SheetReader()
    try:
        parts = archive.related(archive.part("", "officeDocument"))
        uncomputed = any(
            _FORMULA_WITHOUT_VALUE.search(archive.read(part))
            for kind, part in parts.values()
            if kind == "worksheet"
        )
        books = [
            load_workbook(BytesIO(body), read_only=True, data_only=not formulas, keep_links=False)
            for formulas in ((False, True) if uncomputed else (False,))
        ]
        if uncomputed:
            reader.composer.notes.append("formulas without a stored value are shown as written")
        try:
            for sheets in zip(*(book.worksheets for book in books), strict=True):
                for sheet in sheets:
                    sheet.reset_dimensions()  # the declared size may be wrong
                rows = zip(*(sheet.iter_rows() for sheet in sheets), strict=True)
                shown = (map(_format_cell, *row) for row in rows)
                visible = sheets[0].sheet_state == "visible"
                reader.read(sheets[0].title, shown, visible=visible)
                if visible:
                    _read_annotations(archive, sheets[0]._worksheet_path, reader.composer)  # noqa: SLF001
            macros = sum(name.startswith("xl/macrosheets/sheet") for name in archive.names)
            if macros:
                reader.composer.notes.append(f"sheets with Excel 4 macros not read: {macros}")
        finally:
            for book in books:
                book.close()
    except _BROKEN_FILE_ERRORS as error:
        raise ExtractError(f"not readable as a workbook: {error}") from error
    return reader.composer.document(
        url, "xlsx", name, dublin_core(archive.tree("docProps/core.xml"))
    )


def _read_annotations(archive: Archive, part: str, composer: Composer) -> None:
    """Add a sheet's comments, text boxes and chart titles."""
    for kind, target in archive.related(part).values():
        root = archive.tree(target) if kind in {"comments", "threadedComment", "drawing"} else None
        for comment in root.iter("{*}comment", "{*}threadedComment") if root is not None else ():
            composer.paragraph(f"Comment on {comment.get('ref')}: {text_content(comment)}")
        if kind != "drawing" or root is None:
            continue
        charts = (
            archive.tree(to) for what, to in archive.related(target).values() if what == "chart"
        )
        titles = [
            title for chart in charts if chart is not None for title in chart.iter("{*}title")
        ]
        for box in (*titles, *root.iter("{*}txBody")):
            composer.paragraph("\n".join(map(text_content, box.iter("{*}p"))))


def read_xls(body: bytes, url: str, name: str) -> Document:
    """Read an .xls file (Excel 5 to 2003), as `read_xlsx` does for newer files.

    Raises ExtractError for a broken or encrypted file, or without the extra `office`.
    """
    try:
        import xlrd  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise missing_extra_error("xls", "office", ".csv") from error
    reader, log = _SheetReader(), StringIO()
    try:
        _check_chains(xlrd.compdoc.CompDoc(body, logfile=log))
        # With `ragged_rows`, a single cell in the last row and column does not fill up the sheet.
        book = xlrd.open_workbook(
            file_contents=body, formatting_info=True, ragged_rows=True, logfile=log, verbosity=1
        )
        reader.composer.notes.extend(_skipped_sheets(log.getvalue()))
        for sheet in book.sheets():
            rows = (map(partial(_format_xls_cell, book), sheet.row(n)) for n in range(sheet.nrows))
            reader.read(sheet.name, rows, visible=sheet.visibility == 0)
    except (
        xlrd.XLRDError, xlrd.compdoc.CompDocError, AssertionError, RecursionError,
        *_BROKEN_FILE_ERRORS,
    ) as error:  # fmt: skip
        if "encrypted" in str(error):
            raise Encrypted("the workbook is encrypted") from error
        raise ExtractError(f"not readable as a workbook: {error}") from error
    return reader.composer.document(url, "xls", name)


def _check_chains(file: Any) -> None:
    """Raise ExtractError if a stream's short sectors form a loop.

    xlrd checks only the regular sectors: it would follow such a loop until memory is exhausted.
    """
    short = [e for e in file.dirlist if e.tot_size < file.min_size_std_stream]
    for entry in short:
        steps, sector = len(file.SSAT), entry.first_SID
        while 0 <= sector < len(file.SSAT):
            if not steps:
                raise ExtractError("not readable as a workbook: its sector chain has a loop")
            steps, sector = steps - 1, file.SSAT[sector]


def _skipped_sheets(log: str) -> Iterator[str]:
    """Yield notes on the sheets that xlrd's log reports as skipped (macros, charts, modules)."""
    for line in log.splitlines():
        _, found, rest = line.partition("Ignoring non-worksheet data named ")
        name, _, kind = rest.rpartition(" (type ")
        if found:
            yield f"the sheet {name} ({kind.partition('= ')[2].rstrip(')')}) was not read"


def _format_xls_cell(book: Any, cell: Any) -> str:
    import xlrd  # noqa: PLC0415 - as above

    if cell.ctype == xlrd.XL_CELL_NUMBER:
        pattern = book.format_map[book.xf_list[cell.xf_index].format_key].format_str
        return _format_number(cell.value, pattern)
    if cell.ctype == xlrd.XL_CELL_DATE:
        moment = xlrd.xldate.xldate_as_datetime(cell.value, book.datemode)
        return _format_value(moment if cell.value >= 1 else moment.time())
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return _format_value(bool(cell.value))
    return xlrd.error_text_from_code.get(cell.value, "") if cell.ctype == 5 else str(cell.value)


class _SheetReader:
    def __init__(self) -> None:
        self.composer = Composer()
        self._cells = _MAX_CELLS

    def read(self, title: str, rows: Iterable[Iterable[str]], *, visible: bool) -> None:
        """Add a sheet; empty rows separate its tables."""
        if not visible:
            self.composer.notes.append(f"the sheet {title} is hidden and was not read")
            return
        self.composer.heading(2, title)
        for empty, group in groupby(self._limit_rows(title, rows), key=lambda row: not any(row)):
            if not empty:
                self._add_block(list(group))

    def _limit_rows(self, title: str, rows: Iterable[Iterable[str]]) -> Iterator[list[str]]:
        for number, row in enumerate(rows):
            cells = list(row)
            self._cells -= len(cells) + 1
            if number >= MAX_ROWS or self._cells < 0:
                note = f"only the first {number} rows of the sheet {title} were read"
                self.composer.notes.append(note)
                return
            if any(cells[_MAX_COLUMNS:]) and not number:
                note = f"only the first {_MAX_COLUMNS} columns of the sheet {title} were read"
                self.composer.notes.append(note)
            yield cells[:_MAX_COLUMNS]

    def _add_block(self, rows: list[list[str]]) -> None:
        """Add adjacent rows as a table, and one-cell rows, such as titles, as paragraphs."""
        left = min(next(n for n, cell in enumerate(row) if cell) for row in rows)
        for alone, group in groupby(rows, key=lambda row: sum(map(bool, row)) == 1):
            table = [row[left:] for row in group]
            is_column = 1 < len(rows) == len(table) or len(table) > _MAX_TITLE_LINES
            if not alone or is_column:
                self.composer.table(table)
            else:
                for row in table:
                    self.composer.paragraph("".join(row))


def _format_cell(cell: Any, written: Any = None) -> str:
    """Format a cell's value, or if it has none, the formula in `written`."""
    value = cell.value if cell.value is not None or written is None else written.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _format_number(value, str(cell.number_format or ""))
    return _format_value(value)


def _format_number(value: float, pattern: str) -> str:
    """Format a number with 15 digits (Excel's precision), or as a percentage as in `pattern`."""
    if match := _PERCENT.search(pattern):
        return f"{value * 100:.{len(match[1] or '')}f}%"
    text = f"{value:.15g}"
    return str(int(float(text))) if "e" in text and float(text).is_integer() else text


def _format_value(value: object) -> str:
    """Format a non-numeric value; dates in ISO 8601."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        is_midnight = value.time() == time()
        return value.date().isoformat() if is_midnight else value.isoformat(" ", "seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    return "" if value is None else str(value)
