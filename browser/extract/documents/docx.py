"""Word documents (.docx and its kin), read a paragraph or a table row at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.errors import ExtractError
from browser.extract.documents.archive import drop, stream_xml
from browser.extract.documents.composer import Composer
from browser.extract.documents.properties import core_properties
from browser.extract.documents.word_runs import Runs, W
from browser.extract.documents.word_styles import Styles
from browser.extract.documents.word_table import WordTable

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.documents.archive import Archive
    from browser.types import Document

_PARAGRAPH, _ROW, _TABLE = f"{W}p", f"{W}tr", f"{W}tbl"
# What stands in these is read with the row or the box around it.
_AROUND = frozenset((_ROW, f"{W}txbxContent"))
_NOTES = {"footnotes": f"{W}footnote", "endnotes": f"{W}endnote"}


def read_docx(archive: Archive, main: str, url: str, name: str) -> Document:
    """Read headings, paragraphs, lists, tables, links and notes; comments are left out.

    What tracked changes deleted, and hidden text, is not read. Raises ExtractError for a broken
    file.
    """
    reader = _Reader(archive, main)
    reader.read_body(main)
    for kind, tag in _NOTES.items():
        reader.read_notes(kind, tag)
    facts = core_properties(archive)
    facts.title = facts.title or reader.title
    return reader.composer.document(url, "docx", name, facts)


class _Reader:
    def __init__(self, archive: Archive, main: str) -> None:
        self.composer = Composer()
        self.title = ""
        self._archive = archive
        self._parts = archive.related(main)
        self._styles = Styles(archive.tree(self._part("styles")))
        self._table = WordTable()

    def read_body(self, main: str) -> None:
        """Read the main part."""
        data = self._archive.read(main)
        if not data:
            raise ExtractError("the Word file lacks its text")
        links = _links(self._parts)
        for element in stream_xml(data, _PARAGRAPH, _ROW, _TABLE):
            if next(element.iterancestors(*_AROUND), None) is not None:
                continue
            if element.tag == _ROW:
                self._table.add(element, links)
            elif element.tag == _TABLE:
                self._table.end(self.composer)
            elif next(element.iterancestors(_TABLE), None) is None:
                self._paragraph(element, links)
            drop(element)

    def read_notes(self, kind: str, tag: str) -> None:
        """Add footnotes or endnotes, each as an item of a list at the end."""
        part = self._part(kind)
        data = self._archive.read(part)
        if not data:
            return
        links = _links(self._archive.related(part))
        for note in stream_xml(data, tag):
            if note.get(f"{W}type") is None:  # separators have one
                self._add(Runs(links, note), "item")

    def _paragraph(self, element: etree._Element, links: dict[str, str]) -> None:
        style = self._styles.of(element)
        runs = Runs(links, element)
        if style.is_title and not self.title:
            self.title = runs.text
        if style.level:
            self.composer.heading(style.level, runs.text)
            for url, text in runs.links:
                self.composer.link(url, text)
        else:
            self._add(runs, style.kind)
        for box in runs.boxes:
            for inner in box.iter(_PARAGRAPH):
                self._add(Runs(links, inner), "paragraph")

    def _add(self, runs: Runs, kind: str) -> None:
        self.composer.paragraph(runs.text, runs.markdown, kind=kind)
        for url, text in runs.links:
            self.composer.link(url, text)

    def _part(self, kind: str) -> str:
        return next((to for what, to in self._parts.values() if what == kind), "")


def _links(parts: dict[str, tuple[str, str]]) -> dict[str, str]:
    return {key: to for key, (kind, to) in parts.items() if kind == "hyperlink"}
