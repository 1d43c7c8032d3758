"""MediaWiki: articles on Wikipedia and on any other wiki that uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.blocks import render_text, walk
from browser.extract.platforms import Platform, Record, SitePage, line, parse_date
from browser.extract.tables import read_table
from browser.extract.tree import parse_html
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag
    from lxml import etree

    from browser.extract.blocks import Block
    from browser.types import Table

_INFOBOX = "table.infobox, table.vcard, table.infobox_v2, table.sinottico, .infobox_v3"
_CONTENT = "#mw-content-text .mw-parser-output, #mw-content-text, .mw-parser-output"
# Elements that the software adds to the article's text.
_ADDED_ELEMENTS = (
    ".toc, #toc, .mw-editsection, .editsection, .navbox, .vertical-navbox, .sidebar, .metadata,"
    " .ambox, .reflist, .references, .hatnote, .noprint, .shortdescription, .mw-jump-link,"
    " .mw-empty-elt"
)
_DISAMBIGUATION = "#disambigbox, .dmbox-disambig, .disambigbox"
_MISSING = ".noarticletext, .mw-noarticletext, #noarticletext"


class Wikipedia(Platform):
    """Uses MediaWiki's parser output, which is the same in every skin."""

    name = "wikipedia"
    marks = (b"MediaWiki",)
    hosts = ("wikipedia.org", "wiktionary.org", "wikiquote.org", "wikivoyage.org", "wikibooks.org")

    def claims(self, page: SitePage) -> bool:
        """Recognise Wikimedia's sites by host, and others by the generator that they declare."""
        wiki = page.json is None and page.meta["generator"].startswith("MediaWiki")
        return super().claims(page) or wiki

    def parse(self, page: SitePage) -> Record | None:
        """Read an article; `items` are its sections, the lead first."""
        content, title = page.soup.select_one(_CONTENT), page.text("#firstHeading, h1")
        if content is None or not title or page.soup.select_one(_MISSING) is not None:
            return None
        node = page.linked_data("Article")
        apart = page.soup.select_one(_DISAMBIGUATION) is not None
        fields = {
            "description": node.get("headline") or page.text(".shortdescription", content),
            "language": page.attr("html", "lang"),
            "coordinates": page.text(".geo", content) or page.text("#coordinates .geo-dec"),
            "redirected_from": page.text(".mw-redirectedfrom a"),
        }
        references = tuple(
            Link(page.link("a.external", note), page.text(".reference-text", note) or line(note),
                 "reference")
            for note in page.soup.select("li[id^=cite_note]")
        )  # fmt: skip
        infobox = content.select_one(_INFOBOX)
        box = _infobox(infobox) if infobox is not None else None
        for element in [*content.select(_ADDED_ELEMENTS), *content.select(_INFOBOX)[:1]]:
            element.clear()
        blocks = walk(parse_html(str(content)), page.url)
        pairs = (row for row in (box.rows if box else ()) if len(row) == 2 and all(row))
        return Record(
            self.name, "disambiguation" if apart else "article", page.canonical, title=title,
            text=render_text(blocks), id=page.path[-1] if page.path else None,
            published=node.date("datePublished"),
            modified=node.date("dateModified") or parse_date(page.text("#footer-info-lastmod")),
            fields={**fields, **{f"infobox: {name}": value for name, value in pairs}},
            tags=tuple(line(e) for e in page.soup.select("#mw-normal-catlinks li a")),
            links=references, items=tuple(_sections(blocks, title)),
        )  # fmt: skip


def _infobox(infobox: Tag) -> Table | None:
    """An infobox's rows, without footnote markers."""
    for mark in infobox.select(".reference, style, script"):
        mark.decompose()
    for block in infobox.select("br, li, div, p"):
        block.insert_before("\n")
        block.insert_after("\n")
    root = parse_html(str(infobox))
    return read_table(next(root.iter(infobox.name), root), _cell)


def _cell(cell: etree._Element) -> str:
    """A cell's lines and list items, separated by commas."""
    text = "".join(map(str, cell.itertext()))
    lines = (" ".join(line.split()).strip(" ,") for line in text.split("\n"))
    return ", ".join(filter(None, lines))


def _sections(blocks: list[Block], title: str) -> list[Record]:
    groups: list[tuple[str, list[Block]]] = [(title, [])]
    for block in blocks:
        if block.kind == "heading":
            groups.append((block.text, []))
        else:
            groups[-1][1].append(block)
    found = [(name, render_text(part)) for name, part in groups]
    return [Record("wikipedia", "section", title=name, text=text) for name, text in found if text]
