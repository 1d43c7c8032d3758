"""Wikipedia and other MediaWiki sites: lead, sections, infobox, tables, references, categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lxml import etree

from browser.extract.blocks import walk
from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.postings import date_of, node_of
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.render import render_text
from browser.extract.tables import read_table
from browser.extract.tree import text_content
from browser.types import Link

if TYPE_CHECKING:
    from browser.extract.blocks import Block
    from browser.extract.platforms.source import Source

_INFOBOX = "table.infobox, table.vcard, table.infobox_v2, table.sinottico, .infobox_v3"
_CONTENT = "#mw-content-text .mw-parser-output, #mw-content-text, .mw-parser-output"
# What the software puts into the text around the article.
_APPARATUS = (
    ".toc, #toc, .mw-editsection, .navbox, .vertical-navbox, .sidebar, .metadata, .ambox, .reflist,"
    " .references, .hatnote, .noprint, .shortdescription, .mw-jump-link, .mw-empty-elt"
)
_LINE_TAGS = frozenset(("br", "li", "div", "p"))
_DISAMBIGUATION = "#disambigbox, .dmbox-disambig, .disambigbox, #disambig, [data-mw-disambig]"
_MISSING = ".noarticletext, .mw-noarticletext, #noarticletext"


class Wikipedia(Platform):
    """The parser output, as MediaWiki renders it with any skin."""

    name = "wikipedia"
    marks = (b"MediaWiki",)
    hosts = ("wikipedia.org", "wiktionary.org", "wikiquote.org", "wikivoyage.org", "wikibooks.org")

    def claims(self, source: Source) -> bool:
        """Wikimedia's own sites by host, others by their generator."""
        if super().claims(source):
            return True
        return source.json is None and source.meta.get("generator", "").startswith("MediaWiki")

    def parse(self, source: Source) -> Record | None:
        """Read an article; `items` are its sections, the lead first."""
        content, title = source.first(_CONTENT), source.text("#firstHeading, h1")
        if content is None or not title or source.first(_MISSING) is not None:
            return None
        node = node_of(source, "Article")
        facts = _facts(source, content, node)
        infobox = source.first(_INFOBOX, content)
        references = tuple(_references(source))
        box = read_table(infobox, _cell) if infobox is not None else None
        for element in source.all(_APPARATUS, content) + ([infobox] if infobox is not None else []):
            tail = element.tail
            element.clear()
            element.tail = tail
        blocks = walk(content, source.url).blocks
        return Record(
            self.name, facts.pop("kind"), source.canonical, title=title, text=render_text(blocks),
            id=source.path[-1] if source.path else None, published=date_of(node, "datePublished"),
            modified=date_of(node, "dateModified") or iso_date(source.text("#footer-info-lastmod")),
            fields={**facts, **_pairs(box.rows if box else ())},
            tags=tuple(text_content(e) for e in source.all("#mw-normal-catlinks li a")),
            tables=tuple(block.table for block in blocks if block.table) + ((box,) if box else ()),
            links=references, items=tuple(_sections(blocks, title)),
        )  # fmt: skip


def _facts(source: Source, content: etree._Element, node: dict[str, Any]) -> dict[str, str]:
    """What a page is, and what stands around its text; read before the text is cut out."""
    apart = source.first(_DISAMBIGUATION) is not None
    return fields(
        kind="disambiguation" if apart else "article", description=node.get("headline")
        or source.text(".shortdescription", content),
        language=source.attr("html", "lang"),
        coordinates=source.text(".geo", content) or source.text("#coordinates .geo-dec"),
        redirected_from=source.text(".mw-redirectedfrom a"),
    )  # fmt: skip


def _cell(cell: etree._Element) -> str:
    """A cell of an infobox: its lines and list items parted by commas, without note marks."""
    pieces: list[str] = []
    for event, node in etree.iterwalk(cell, events=("start", "end")):
        if node is not cell and node.tag in _LINE_TAGS:
            pieces.append("\n")
        if event == "start":
            pieces.append("" if _is_mark(node) else node.text or "")
        elif node is not cell:
            pieces.append("" if any(map(_is_mark, node.iterancestors("sup"))) else node.tail or "")
    lines = (" ".join(line.split()).strip(" ,") for line in "".join(pieces).split("\n"))
    return ", ".join(line for line in lines if line)


def _is_mark(node: etree._Element) -> bool:
    around = (node, *node.iterancestors("sup"))
    noted = any("reference" in (part.get("class") or "").split() for part in around)
    return noted or node.tag in ("style", "script")


def _pairs(rows: tuple[tuple[str, ...], ...]) -> dict[str, str]:
    return {f"infobox: {row[0]}": row[1] for row in rows if len(row) == 2 and all(row)}


def _sections(blocks: list[Block], title: str) -> list[Record]:
    groups: list[tuple[str, list[Block]]] = [(title, [])]
    for block in blocks:
        if block.kind == "heading":
            groups.append((block.text, []))
        else:
            groups[-1][1].append(block)
    found = [(name, render_text(part)) for name, part in groups]
    return [Record("wikipedia", "section", title=name, text=text) for name, text in found if text]


def _references(source: Source) -> list[Link]:
    found = []
    for item in source.all("li[id^=cite_note]"):
        text = source.text(".reference-text", item) or text_content(item)
        target = source.link("a.external", item)
        found.append(Link(target, text, "reference"))
    return found
