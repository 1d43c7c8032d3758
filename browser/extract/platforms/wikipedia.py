"""Wikipedia and other MediaWiki sites: lead, sections, infobox, tables, references, categories."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.blocks import walk
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

_CONTENT = "#mw-content-text .mw-parser-output, #mw-content-text, .mw-parser-output"
# What the software puts into the text around the article.
_APPARATUS = (
    ".toc, #toc, .mw-editsection, .navbox, .vertical-navbox, .sidebar, .metadata, .ambox, .reflist,"
    " .references, .hatnote, .noprint, .shortdescription, .mw-jump-link, .mw-empty-elt"
)
_EDITED = re.compile(r"\d{1,2} \w+ \d{4}|\w+ \d{1,2}, \d{4}")


class Wikipedia(Platform):
    """The parser output, as MediaWiki renders it with any skin."""

    name = "wikipedia"
    hosts = ("wikipedia.org", "wiktionary.org", "wikiquote.org", "wikivoyage.org", "wikibooks.org")

    def claims(self, source: Source) -> bool:
        """Wikimedia's own sites by host, others by their generator."""
        if super().claims(source):
            return True
        return source.json is None and source.meta.get("generator", "").startswith("MediaWiki")

    def parse(self, source: Source) -> Record | None:
        """Read an article; `items` are its sections, the lead first."""
        content = source.first(_CONTENT)
        title = source.text("#firstHeading, h1")
        if content is None or not title:
            return None
        node = node_of(source, "Article")
        infobox = source.first("table.infobox, table.vcard", content)
        references = tuple(_references(source))
        box = read_table(infobox, text_content) if infobox is not None else None
        for element in source.all(_APPARATUS, content) + ([infobox] if infobox is not None else []):
            tail = element.tail
            element.clear()
            element.tail = tail
        blocks = walk(content, source.url).blocks
        return Record(
            self.name, "article", source.canonical, id=source.path[-1] if source.path else None,
            title=title, text=render_text(blocks), modified=date_of(node, "dateModified"),
            published=date_of(node, "datePublished"),
            fields=fields(description=node.get("headline"), **_pairs(box.rows if box else ())),
            tags=tuple(text_content(e) for e in source.all("#mw-normal-catlinks li a")),
            tables=tuple(block.table for block in blocks if block.table) + ((box,) if box else ()),
            links=references, items=tuple(_sections(blocks, title)),
        )  # fmt: skip


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
