"""Google Scholar: result lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.tree import text_content
from browser.types import Link

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_CITED = re.compile(r"(\d[\d,.]*)\s*$")
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_CLUSTER = re.compile(r"[?&]cites=(\d+)")
# The order of the cells beside a profile: each total, and that of the last five years.
_TOTALS = ("citations", "citations_recent", "h_index", "h_index_recent", "i10_index",
           "i10_index_recent")  # fmt: skip
_MARK = re.compile(r"^(?:\[[A-Z]+\]\s*)+")


class Scholar(Platform):
    """`.gs_r` entries: title, the line of authors, venue and host, the excerpt, the links below."""

    name = "google-scholar"
    hosts = ("scholar.google.com",)

    def owns(self, host: str) -> bool:
        """Its country hosts, too: `scholar.google.` and a top-level domain."""
        return re.fullmatch(r"scholar\.google(?:\.[a-z]{2,3}){1,2}", host) is not None

    def parse(self, source: Source) -> Record | None:
        """Read a page of results or a person's profile; `items` are the papers."""
        if source.text("#gsc_prf_in"):
            return _profile(source)
        papers = (_paper(source, node) for node in source.all(".gs_ri")
                  if source.first(".gs_rt", node) is not None)  # fmt: skip
        title = source.attr("input[name=q]", "value") or source.text("title")
        return listing(self.name, source.url, papers, title)


def _paper(source: Source, node: etree._Element) -> Record:
    authors, venue, site = _byline(source.text(".gs_a", node))
    target = source.link(".gs_rt a", node)
    cites = source.first(".gs_fl a[href*='cites=']", node)
    cluster = _CLUSTER.search(cites.get("href") or "") if cites is not None else None
    cited = _CITED.search(text_content(cites)) if cites is not None else None
    year = _YEAR.findall(venue)
    outer = node.getparent()
    pdf = source.link(".gs_ggs a, .gs_or_ggsm a", outer) if outer is not None else ""
    return Record(
        "google-scholar", "paper", target, id=cluster[1] if cluster else None,
        title=_MARK.sub("", source.text(".gs_rt", node)), text=source.text(".gs_rs", node),
        author=authors or None, published=year[-1] if year else None,
        counts=counts(citations=cited[1] if cited else None),
        fields=fields(venue=re.sub(r",?\s*\d{4}$", "", venue), site=site,
                      type=source.text(".gs_ct1", node).strip("[]").lower()),
        links=(Link(pdf, "PDF"),) if pdf else (),
    )  # fmt: skip


def _profile(source: Source) -> Record:
    totals = [text_content(cell) for cell in source.all("#gsc_rsb_st td.gsc_rsb_std")]
    said = dict(zip(_TOTALS, totals, strict=False))
    return Record(
        "google-scholar", "profile", source.url, title=source.text("#gsc_prf_in"),
        id=source.parameter("user") or None,
        author=source.text("#gsc_prf_in"), text=source.text(".gsc_prf_il"),
        counts=counts(**said), tags=tuple(text_content(e) for e in source.all("#gsc_prf_int a")),
        items=tuple(_work(source, row) for row in source.all("tr.gsc_a_tr")),
    )  # fmt: skip


def _work(source: Source, row: etree._Element) -> Record:
    lines = [text_content(line) for line in source.all(".gsc_a_t .gs_gray", row)]
    authors, venue = (*lines, "", "")[:2]
    return Record(
        "google-scholar", "paper", source.link("a.gsc_a_at", row),
        title=source.text("a.gsc_a_at", row), author=authors or None,
        published=source.text(".gsc_a_y .gsc_a_h", row) or None, fields=fields(venue=venue),
        counts=counts(citations=source.text("a.gsc_a_ac", row) or None),
    )  # fmt: skip


def _byline(line: str) -> tuple[str, str, str]:
    """Authors, venue with year, and site, of `A B, C D… - Venue, 2015 - host.org`."""
    parts = [part.strip() for part in re.split(r"\s+-\s+", line)]
    authors = parts[0]
    site = parts[-1] if len(parts) > 2 else ""
    return authors, parts[1] if len(parts) > 1 else "", site
