"""Papers: arXiv's abstract pages and Google Scholar's result pages."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms import Platform, Record, RecordPaths, SitePage, attribute, listing
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag

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


class Arxiv(Platform):
    """Uses `citation_*` meta elements and the table with comments, subjects and identifiers."""

    name = "arxiv"
    hosts = ("arxiv.org", "export.arxiv.org")

    def parse(self, page: SitePage) -> Record | None:
        """Read one paper's abstract page."""
        record = _ABSTRACT.read(page, self.name, page.soup)
        if not record.title or not record.id:
            return None
        authors = (attribute(e, "content") for e in page.soup.select("meta[name=citation_author]"))
        asked = re.search(r"v(\d+)$", page.path[-1] if page.path else "")
        abstract = page.text("blockquote.abstract").removeprefix("Abstract:").strip()
        return record.updated(
            text=abstract or page.meta["citation_abstract"],
            author=", ".join(" ".join(reversed(name.split(", ", 1))) for name in authors) or None,
            tags=tuple(_SUBJECT.findall(page.text("td.subjects"))),
            links=record.links or (Link(f"https://arxiv.org/pdf/{record.id}", "PDF"),),
            fields={
                "version": record.fields.get("version") or (asked and asked[1]),
                "versions": len(re.findall(r"\[v\d", page.text(".submission-history"))) or None,
                "withdrawn": "withdrawn" in record.fields.get("comments", "").lower() or None,
            },
        )


_SCHOLAR_PAPER = RecordPaths(
    "paper", url=".gs_rt a", title=r".gs_rt -> ^(?:\[[A-Z]+\]\s*)*(.+)", text=".gs_rs",
    id=r".gs_fl a[href*='cites=']@href -> [?&]cites=(\d+)",
    counts={"citations": r".gs_fl a[href*='cites='] -> (\d[\d,.]*)\s*$"},
    fields={"type": r".gs_ct1 -> \w+"},
)  # fmt: skip


class Scholar(Platform):
    """Reads `.gs_r` entries: title, authors, venue, host, excerpt, and the links below."""

    name = "google-scholar"
    hosts = ("scholar.google.com",)

    def owns(self, host: str) -> bool:
        """Also match national hosts: `scholar.google.` and a top-level domain."""
        return re.fullmatch(r"scholar\.google(?:\.[a-z]{2,3}){1,2}", host) is not None

    def parse(self, page: SitePage) -> Record | None:
        """Read a result page; `items` are the papers."""
        papers = (_scholar_paper(page, node) for node in page.soup.select(".gs_ri:has(.gs_rt)"))
        asked = page.text("title").rpartition("- Google Scholar")[0].strip()
        title = page.attr("input[name=q]", "value") or asked or None
        return listing(self.name, page.url, papers, title)


def _scholar_paper(page: SitePage, node: Tag) -> Record:
    """Read a result, whose byline is in the form `A B, C D… - Venue, 2015 - host.org`."""
    authors, venue, *rest = [*re.split(r"\s+-\s+", page.text(".gs_a", node)), ""]
    year = re.findall(r"\b(?:1[5-9]|20)\d\d\b", venue)
    record = _SCHOLAR_PAPER.read(page, "google-scholar", node)
    pdf = page.link(".gs_ggs a", node.parent)
    return replace(
        record,
        author=authors or None,
        published=year[-1] if year else None,
        fields={
            "venue": re.sub(r",?\s*\d{4}$", "", venue),
            "site": rest[-2] if rest[1:] else "",
            "type": record.fields.get("type", "").lower(),
        },
        links=(Link(pdf, "PDF"),) if pdf else (),
    )
