"""Reads OpenDocument files (.odt, .ods, .odp); text, sheets and slides share one markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.errors import ExtractError
from browser.extract.documents.archive import Archive, drop, stream_xml
from browser.extract.documents.composer import Composer, dublin_core
from browser.extract.tables import MAX_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from browser.types import Document

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_COMMENT = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}annotation"
_FORMULA = "{http://www.w3.org/1998/Math/MathML}annotation"
_HEADING, _PARAGRAPH = f"{_TEXT}h", f"{_TEXT}p"
_TABLE_ELEMENT, _TABLE_ROW = f"{_TABLE}table", f"{_TABLE}table-row"
# Content inside these elements is read together with the element, or is never shown.
_HANDLED_CONTAINERS = (
    _TABLE_ROW,
    f"{_TEXT}note",
    f"{_TEXT}tracked-changes",
    _COMMENT,
    _HEADING,
    _PARAGRAPH,
)
_READ_ELEMENTS = (
    _HEADING, _PARAGRAPH, _TABLE_ROW, _TABLE_ELEMENT, f"{_DRAW}page", _COMMENT, _FORMULA
)  # fmt: skip
_SPACE_ELEMENTS = {f"{_TEXT}s": " ", f"{_TEXT}tab": " ", f"{_TEXT}line-break": "\n"}
# In the file, empty cells and rows occur once, with a repeat count that fills the sheet.
_MAX_REPEATED = 50
# Matches the parts that contain charts and formulas.
_EMBEDDED = re.compile(r"Object \d+/content\.xml")
_PICTURE = re.compile(rb'<draw:image\b[^>]*?href="(?!\./Object)([^"]*)"')
_FILE_TYPES = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}


def read_odf(body: bytes, url: str, name: str) -> Document:
    """Read headings, paragraphs, lists, tables, links, notes and comments.

    Headers and footers of text documents, charts and formulas are read too. Raises ExtractError for
    a broken file.
    """
    archive = Archive(body)
    what = archive.read("mimetype").decode("ascii", "replace").strip().rpartition(".")[2]
    kind = _FILE_TYPES.get(what.partition("-")[0], "odf")
    data = archive.read("content.xml")
    if not data:
        raise ExtractError("the OpenDocument file has no text part")
    composer = Composer()
    styles = archive.tree("styles.xml") if kind == "odt" else None
    _add_headers_or_footers(styles, "header", composer)
    _read_content(data, composer)
    for part in sorted(filter(_EMBEDDED.fullmatch, archive.names)):
        _read_content(archive.read(part), composer)
    _add_headers_or_footers(styles, "footer", composer)
    if pictures := len(set(_PICTURE.findall(data))):
        composer.notes.append(f"{pictures} pictures were not read")
    return composer.document(url, kind, name, dublin_core(archive.tree("meta.xml")))


def _read_content(data: bytes, composer: Composer) -> None:
    rows: list[list[str]] = []
    comments: list[str] = []
    for element in stream_xml(data, *_READ_ELEMENTS):
        if element.tag == _COMMENT:
            lines = ("".join(_text(line)) for line in element.iter(_PARAGRAPH))
            comments.append(f"Comment: {' '.join(lines)}")
            continue
        if next(element.iterancestors(*_HANDLED_CONTAINERS), None) is not None:
            continue
        if element.tag == _TABLE_ROW:
            rows += _rows(element) if len(rows) < MAX_ROWS else ()
            drop(element)
            continue
        if element.tag == _TABLE_ELEMENT:
            if next(element.iterancestors("{*}spreadsheet"), None) is not None:
                composer.heading(2, element.get(f"{_TABLE}name", ""))
            composer.table(rows)
            rows = []
        elif element.tag == _FORMULA:
            composer.paragraph(element.text or "")
        elif element.tag in {_HEADING, _PARAGRAPH}:
            _add_paragraph(element, composer)
        for comment in comments:  # after the paragraph or table that they belong to
            composer.paragraph(comment)
        comments = []
        drop(element)


def _add_headers_or_footers(styles: etree._Element | None, what: str, composer: Composer) -> None:
    """Add the paragraphs of headers or footers, without duplicates."""
    areas = (
        styles.iter(*(f"{{*}}{what}{page}" for page in ("", "-first", "-left")))
        if styles is not None
        else ()
    )
    texts = {
        "".join(_text(paragraph)).strip()
        for area in areas
        for paragraph in area.iter(_HEADING, _PARAGRAPH)
    }
    for text in texts:
        if any(map(str.isalpha, text)):  # skips page numbers
            composer.paragraph(text)


def _add_paragraph(element: etree._Element, composer: Composer) -> None:
    """Add a heading, paragraph or item with its links and notes."""
    text = "".join(_text(element)).strip()
    if element.tag == _HEADING:
        level = element.get(f"{_TEXT}outline-level", "1")
        composer.heading(int(level) if level.isdecimal() else 1, text)
    else:
        listed = next(element.iterancestors(f"{_TEXT}list-item"), None) is not None
        composer.paragraph(text, kind="item" if listed else "paragraph")
    for link in element.iter(f"{_TEXT}a"):
        composer.link(link.get(_HREF, ""), "".join(_text(link)))
    for note in element.iter(f"{_TEXT}note-body"):
        composer.paragraph("".join(_text(note)), kind="item")


def _rows(row: etree._Element) -> list[list[str]]:
    """Return a row's cells, once for each repetition of the row."""
    cells: list[str] = []
    for cell in row:
        paragraphs = (
            "".join(_text(paragraph))
            for paragraph in cell.iter(_PARAGRAPH)
            if next(paragraph.iterancestors(_COMMENT), None) is None
        )
        cells += [" ".join(filter(None, paragraphs))] * _repeat_count(cell, "columns")
    while cells and not cells[-1]:
        cells.pop()
    return [cells] * (_repeat_count(row, "rows") if cells else 1)


def _text(element: etree._Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag in _SPACE_ELEMENTS:
            yield _SPACE_ELEMENTS[child.tag]
        elif child.tag in {_HEADING, _PARAGRAPH}:  # from a box within the paragraph
            yield "\n"
            yield from _text(child)
            yield "\n"
        elif child.tag not in {f"{_TEXT}note", _COMMENT}:
            yield from _text(child)
        yield child.tail or ""


def _repeat_count(element: etree._Element, what: str) -> int:
    count = element.get(f"{_TABLE}number-{what}-repeated", "1")
    return min(max(int(count), 1), _MAX_REPEATED) if count.isdecimal() else 1
