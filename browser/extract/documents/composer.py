"""Builds a Document from headings, paragraphs, lists and tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lxml import etree

from browser.extract.blocks import Block, render_markdown, render_text, walk
from browser.extract.dates import iso_date
from browser.extract.hidden import strip_hidden
from browser.extract.links import MAX_LINKS
from browser.extract.tables import table_markdown, table_text
from browser.extract.tree import local_name, text_content
from browser.text.words import clean, one_line
from browser.types import Document, Link, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

# A web page's blocks refer to their elements; blocks of other documents have no element.
_NO_ELEMENT = etree.Element("document")
_NO_METADATA = Document("")


@dataclass(slots=True)
class Composer:
    """Collects the parts of a document in reading order; `document` renders them."""

    blocks: list[Block] = field(default_factory=list)
    links: dict[str, Link] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    embedded: list[Table] = field(default_factory=list)

    def heading(self, level: int, text: str) -> None:
        """Add a heading of level 1 to 6."""
        self._add("heading", text, text, level=min(max(level, 1), 6))

    def paragraph(self, text: str, *, kind: str = "paragraph") -> None:
        """Add a paragraph or another kind of block, such as a list item, quote or code block."""
        self._add(kind, text, text)

    def picture(self, description: str) -> None:
        """Add the alternative text of a picture, if it has any."""
        if text := one_line(description):
            self.paragraph(f"Picture: {text}")

    def table(self, rows: Sequence[Sequence[str]], *, caption: str = "") -> None:
        """Add a table; empty rows are left out, and the others are padded to equal length."""
        kept = [cells for row in rows if any(cells := [one_line(cell) for cell in row])]
        if not kept:
            return
        width = max(map(len, kept))
        full = tuple(tuple(row + [""] * (width - len(row))) for row in kept)
        table = Table(full, caption, header=True)
        block = Block("table", table_text(table), table_markdown(table), _NO_ELEMENT, table=table)
        self.blocks.append(block)

    def text(self, document: Document) -> None:
        """Add the text, tables and links of an embedded document."""
        self._add("paragraph", document.text, document.markdown)
        self.embedded.extend(document.tables)
        for link in document.links:
            self.link(link.url, link.text)

    def markup(self, root: etree._Element) -> None:
        """Add the visible content of embedded HTML, including links."""
        strip_hidden(root)
        self.blocks.extend(walk(root, ""))
        for link in root.iter("a"):
            self.link((link.get("href") or "").strip(), text_content(link))

    def link(self, url: str, text: str) -> None:
        """Add a link to something outside the document."""
        if url.startswith(("http://", "https://")) and len(self.links) < MAX_LINKS:
            self.links.setdefault(url, Link(url, one_line(text)))

    @property
    def length(self) -> int:
        """An offset in the text between the last block and the next one."""
        return len(render_text(self.blocks)) + 1 if self.blocks else 0

    def document(
        self, url: str, kind: str, name: str, metadata: Document = _NO_METADATA
    ) -> Document:
        """Render the added parts, together with the document's `metadata`.

        `name` is used as the title if there is neither a title nor a heading.
        """
        heading = next((block.text for block in self.blocks if block.kind == "heading"), "")
        return replace(
            metadata, url=url, kind=kind, title=one_line(metadata.title) or heading or name,
            text=render_text(self.blocks), markdown=render_markdown(self.blocks),
            links=tuple(self.links.values()),
            tables=(*(b.table for b in self.blocks if b.table is not None), *self.embedded),
            notes=tuple(self.notes),
        )  # fmt: skip

    def _add(self, kind: str, text: str, markdown: str, *, level: int = 0) -> None:
        if text.strip():
            self.blocks.append(
                Block(kind, clean(text).strip(), clean(markdown).strip(), _NO_ELEMENT, level)
            )


def dublin_core(root: etree._Element | None) -> Document:
    """Read Dublin Core metadata (title, creators, dates and language) in any namespace."""
    found: dict[str, list[str]] = {}
    for element in root.iter("{*}*") if root is not None else ():
        if text := text_content(element):
            found.setdefault(local_name(element), []).append(text)

    def first(*names: str) -> str:
        return next((found[name][0] for name in names if name in found), "")

    creators = found.get("creator") or found.get("initial-creator") or ()
    return Document(
        "",
        title=first("title"),
        author=", ".join(dict.fromkeys(creators)) or None,
        published=iso_date(first("created", "creation-date", "date")),
        modified=iso_date(first("modified")),
        language=first("language") or None,
    )
