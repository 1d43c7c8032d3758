"""OpenDocument files (.odt, .ods, .odp): text, sheets and slides share one markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.errors import ExtractError
from browser.extract.documents.archive import Archive, drop, stream_xml
from browser.extract.documents.composer import Composer, dublin_core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from browser.types import Document

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_COMMENT = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}annotation"
_HEADING, _PARAGRAPH, _GRID = f"{_TEXT}h", f"{_TEXT}p", f"{_TABLE}table"
_AROUND = (
    f"{_TABLE}table-row",
    f"{_TEXT}note",
    f"{_TEXT}tracked-changes",
    _COMMENT,
    _HEADING,
    _PARAGRAPH,
)
_SIGNS = {f"{_TEXT}s": " ", f"{_TEXT}tab": " ", f"{_TEXT}line-break": "\n"}
# Empty cells and rows are written once with a count that fills the sheet.
_MOST_REPEATED = 50
_MOST_ROWS = 20_000


_KINDS = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}


def read_odf(body: bytes, url: str, name: str) -> Document:
    """Read headings, paragraphs, lists, tables, links and notes; comments are left out.

    Raises ExtractError for a broken file.
    """
    archive = Archive(body)
    what = archive.read("mimetype").decode("ascii", "replace").strip().rpartition(".")[2]
    kind = _KINDS.get(what.partition("-")[0], "odf")
    data = archive.read("content.xml")
    if not data:
        raise ExtractError("the OpenDocument file lacks its text")
    reader = _OdfReader()
    reader.read(data)
    return reader.composer.document(url, kind, name, dublin_core(archive.tree("meta.xml")))


class _OdfReader:
    def __init__(self) -> None:
        self.composer = Composer()
        self._rows: list[list[str]] = []

    def read(self, data: bytes) -> None:
        """Read the content part."""
        row, slide = f"{_TABLE}table-row", f"{_DRAW}page"
        for element in stream_xml(data, _HEADING, _PARAGRAPH, row, _GRID, slide):
            if next(element.iterancestors(*_AROUND), None) is not None:
                continue
            if element.tag == row:
                self._row(element)
            elif element.tag == _GRID:
                self._table(element)
            elif element.tag != slide:
                self._paragraph(element)
            drop(element)

    def _paragraph(self, element: etree._Element) -> None:
        text = "".join(_text(element)).strip()
        level = element.get(f"{_TEXT}outline-level", "1")
        if element.tag == _HEADING:
            self.composer.heading(int(level) if level.isdecimal() else 1, text)
        else:
            listed = next(element.iterancestors(f"{_TEXT}list-item"), None) is not None
            self.composer.paragraph(text, kind="item" if listed else "paragraph")
        for link in element.iter(f"{_TEXT}a"):
            self.composer.link(link.get(_HREF, ""), "".join(_text(link)))
        for note in element.iter(f"{_TEXT}note-body"):
            self.composer.paragraph("".join(_text(note)), kind="item")

    def _row(self, element: etree._Element) -> None:
        cells: list[str] = []
        for cell in element:
            paragraphs = (
                "".join(_text(paragraph))
                for paragraph in cell.iter(_PARAGRAPH)
                if next(paragraph.iterancestors(_COMMENT), None) is None
            )
            text = " ".join(filter(None, paragraphs))
            cells += [text] * _repeated(cell, "columns")
        while cells and not cells[-1]:
            cells.pop()
        times = _repeated(element, "rows") if cells else 1
        if len(self._rows) < _MOST_ROWS:
            self._rows += [cells] * times

    def _table(self, element: etree._Element) -> None:
        rows, self._rows = self._rows, []
        name = element.get(f"{_TABLE}name", "")
        if next(element.iterancestors("{*}spreadsheet"), None) is not None:
            self.composer.heading(2, name)
        self.composer.table(rows)


def _text(element: etree._Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag in _SIGNS:
            yield _SIGNS[child.tag]
        elif child.tag not in {f"{_TEXT}note", _COMMENT}:
            yield from _text(child)
        yield child.tail or ""


def _repeated(element: etree._Element, what: str) -> int:
    count = element.get(f"{_TABLE}number-{what}-repeated", "1")
    return min(max(int(count), 1), _MOST_REPEATED) if count.isdecimal() else 1
