"""arXiv's abstract pages and lists; Google Scholar's result lists."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms.paths import RecordPaths
from browser.extract.platforms.site import Platform, attribute
from browser.extract.platforms.site_record import Record, fields, listing
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag

    from browser.extract.platforms.site import SitePage

_SUBJECT = re.compile(r"[^;]+\(([\w.-]+)\)")
_ABSTRACT = RecordPaths(
    "paper", id="meta[name=citation_arxiv_id]@content", title="meta[name=citation_title]@content",
    url="https://arxiv.org/abs/{meta[name=citation_arxiv_id]@content}",
    published="meta[name=citation_date]@content",
    modified=r".dateline -> last revised ([^(\]]+)",
    links={"PDF": "meta[name=citation_pdf_url]@content"},
    fields={
        "subjects": "td.subjects", "comments": "td.comments", "journal": "td.jref",
        "version": r".dateline -> v(\d+)\)?\]?$", "report": "td.report-number",
        "license": ".abs-license a@href",
        "doi": "meta[name=citation_doi]@content || td.arxivdoi a, td.doi a",
    },
)  # fmt: skip
_ROW = RecordPaths(
    "paper", title=".list-title -> ^(?:Title:)? *(.+)", text="p.mathjax",
    author=".list-authors -> ^(?:Authors:)? *(.+)",
    fields={"comments": ".list-comments -> ^(?:Comments:)? *(.+)"},
)  # fmt: skip
_RESULT = RecordPaths(
    "paper", "li.arxiv-result", url=".list-title a[href*='/abs/']",
    id=".list-title a[href*='/abs/']@href -> /abs/(.+)", title="p.title", text=".abstract-full",
    author="p.authors -> ^(?:Authors:)? *(.+)",
    published="p.is-size-7:has(.has-text-weight-semibold) -> ^Submitted ([^;]+)",
    tags=".tags .tag[data-tooltip]",
)  # fmt: skip
_PAPER = RecordPaths(
    "paper", url=".gs_rt a", title=r".gs_rt -> ^(?:\[[A-Z]+\]\s*)*(.+)", text=".gs_rs",
    id=r".gs_fl a[href*='cites=']@href -> [?&]cites=(\d+)",
    counts={"citations": r".gs_fl a[href*='cites='] -> (\d[\d,.]*)\s*$"},
    fields={"type": r".gs_ct1 -> \w+"},
)  # fmt: skip


class Arxiv(Platform):
    """`citation_*` meta elements, and the table of comments, subjects and identifiers."""

    name = "arxiv"
    hosts = ("arxiv.org", "export.arxiv.org")

    def parse(self, page: SitePage) -> Record | None:
        """Read one paper's abstract page, or a list of papers."""
        record = _ABSTRACT.read(page, self.name, page.soup)
        if not record.title or not record.id:
            rows = zip(page.all("#articles dt, #dlpage dt"), page.all("#articles dd, #dlpage dd"),
                       strict=False)  # fmt: skip
            items = [_row(page, *row) for row in rows]
            items += [
                replace(found, text=found.text.removesuffix("△ Less").strip())
                for found in _RESULT.records(page, self.name)
            ]
            return listing(self.name, page.url, items, page.text("h1") or page.text("title"))
        names = (attribute(e, "content") for e in page.all("meta[name=citation_author]"))
        given = page.path[-1].rpartition("v")[2] if page.path else ""
        version = given if given.isdecimal() and "v" in page.path[-1] else None
        more = fields(
            version=record.fields.get("version") or version,
            versions=len(re.findall(r"\[v\d", page.text(".submission-history"))) or None,
            withdrawn="withdrawn" in record.fields.get("comments", "").lower() or None,
        )  # fmt: skip
        shown = page.text("blockquote.abstract").removeprefix("Abstract:").strip()
        return replace(
            record, text=shown or page.meta.get("citation_abstract", ""),
            author=", ".join(map(_plain_order, names)) or None,
            tags=tuple(_SUBJECT.findall(page.text("td.subjects"))),
            links=record.links or (Link(f"https://arxiv.org/pdf/{record.id}", "PDF"),),
            fields={**record.fields, **more},
        )  # fmt: skip


def _plain_order(name: str) -> str:
    family, comma, given = name.partition(",")
    return f"{given.strip()} {family.strip()}" if comma else name.strip()


def _row(page: SitePage, head: Tag, body: Tag) -> Record:
    """A new or recent paper of a subject."""
    address = page.link("a[href*='/abs/']", head)
    return replace(
        _ROW.read(page, "arxiv", body), url=address, id=address.partition("/abs/")[2] or None,
        tags=tuple(_SUBJECT.findall(page.text(".list-subjects", body))),
    )  # fmt: skip


class Scholar(Platform):
    """`.gs_r` entries: title, the line of authors, venue and host, the excerpt, the links below."""

    name = "google-scholar"
    hosts = ("scholar.google.com",)

    def owns(self, host: str) -> bool:
        """Its country hosts, too: `scholar.google.` and a top-level domain."""
        return re.fullmatch(r"scholar\.google(?:\.[a-z]{2,3}){1,2}", host) is not None

    def parse(self, page: SitePage) -> Record | None:
        """Read a page of results; `items` are the papers."""
        papers = (_paper(page, node) for node in page.all(".gs_ri:has(.gs_rt)"))
        asked = page.text("title").rpartition("- Google Scholar")[0].strip()
        title = page.attr("input[name=q]", "value") or asked or None
        return listing(self.name, page.url, papers, title)


def _paper(page: SitePage, node: Tag) -> Record:
    """A result; its byline is `A B, C D… - Venue, 2015 - host.org`."""
    authors, venue, *rest = [*re.split(r"\s+-\s+", page.text(".gs_a", node)), ""]
    year = re.findall(r"\b(?:1[5-9]|20)\d\d\b", venue)
    record = _PAPER.read(page, "google-scholar", node)
    pdf = page.link(".gs_ggs a, .gs_or_ggsm a", node.parent)
    kind = record.fields.get("type", "").lower()
    return replace(
        record, author=authors or None, published=year[-1] if year else None,
        fields=fields(venue=re.sub(r",?\s*\d{4}$", "", venue), site=rest[-2] if rest[1:] else "",
                      type=kind),
        links=(Link(pdf, "PDF"),) if pdf else (),
    )  # fmt: skip
