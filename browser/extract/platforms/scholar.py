"""Google Scholar: pages of results."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms import Platform, Record, RecordPaths, SitePage, listing
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag

_PAPER = RecordPaths(
    "paper", url=".gs_rt a", title=r".gs_rt -> ^(?:\[[A-Z]+\]\s*)*(.+)", text=".gs_rs",
    id=r".gs_fl a[href*='cites=']@href -> [?&]cites=(\d+)",
    counts={"citations": r".gs_fl a[href*='cites='] -> (\d[\d,.]*)\s*$"},
    fields={"type": r".gs_ct1 -> \w+"},
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
        papers = (_paper(page, node) for node in page.soup.select(".gs_ri:has(.gs_rt)"))
        asked = page.text("title").rpartition("- Google Scholar")[0].strip()
        title = page.attr("input[name=q]", "value") or asked or None
        return listing(self.name, page.url, papers, title)


def _paper(page: SitePage, node: Tag) -> Record:
    """A result; its byline is `A B, C D… - Venue, 2015 - host.org`."""
    authors, venue, *rest = [*re.split(r"\s+-\s+", page.text(".gs_a", node)), ""]
    year = re.findall(r"\b(?:1[5-9]|20)\d\d\b", venue)
    record = _PAPER.read(page, "google-scholar", node)
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
