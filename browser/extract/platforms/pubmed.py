"""PubMed: articles with their abstracts and references, and pages of results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.platforms.base import Platform
from browser.extract.platforms.citations import cited_authors, cited_date, cited_pdf, partial_date
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.tree import text_content

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_SITE = "https://pubmed.ncbi.nlm.nih.gov"
_ABSTRACT = "#abstract .abstract-content > p, #eng-abstract > p, section.abstract > p"
_KEYWORDS = re.compile(r"^Keywords:\s*", re.IGNORECASE)
_DOI = re.compile(r"\b10\.\d{4,9}/\S+?(?=[.,;]?(?:\s|$))")
_RETRACTED = ".retraction-banner, #retraction-in, .linked-articles .retracted"


class PubMed(Platform):
    """`citation_*` meta elements and the abstract's blocks; `.full-docsum` rows of results."""

    name = "pubmed"
    hosts = ("pubmed.ncbi.nlm.nih.gov", "pmc.ncbi.nlm.nih.gov")
    verified = False

    def parse(self, source: Source) -> Record | None:
        """Read an article, or a page of results."""
        title = source.meta.get("citation_title") or source.text("h1.heading-title")
        if title:
            return _article(source, title)
        rows = (_row(source, node) for node in source.all("article.full-docsum"))
        asked = source.attr("input[name=term]", "value") or source.text("title")
        return listing(self.name, source.url, rows, asked)


def _article(source: Source, title: str) -> Record:
    meta, cited = source.meta, source.text(".article-source .cit, .cit")
    shown = [text_content(e) for e in source.all(".authors-list a.full-name, span.full-name")]
    words = source.text("#abstract > p:has(.sub-title), section.abstract > p:has(.sub-title)")
    return Record(
        "pubmed", "paper", source.canonical, title=title.rstrip("."), text=_abstract(source),
        id=meta.get("citation_pmid") or source.text(".current-id") or "".join(source.path[-1:]),
        author=", ".join(dict.fromkeys(shown or cited_authors(source))) or None,
        published=cited_date(source) or partial_date(cited), links=cited_pdf(source),
        fields=fields(
            journal=meta.get("citation_journal_title") or meta.get("citation_publisher"),
            doi=meta.get("citation_doi") or source.text(".identifier.doi .id-link"),
            pmc=source.text(".identifier.pmc .id-link") or _archived(source), citation=cited,
            types=_joined(source, "#publication-types .keyword-actions-trigger"),
            mesh=_joined(source, "#mesh-terms .keyword-actions-trigger"),
            affiliation=source.text(".affiliations .item-list li"),
            conflicts=source.text("#conflict-of-interest .statement p"),
            retracted="true" if source.first(_RETRACTED) is not None else None,
        ),
        tags=tuple(w.strip(" .") for w in _KEYWORDS.sub("", words).split(";") if w.strip(" .")),
        items=tuple(_reference(source, node) for node in source.all("#references ol > li")),
    )  # fmt: skip


def _archived(source: Source) -> str:
    """The number of an article in the archive of full texts, by its address."""
    return next((part for part in source.path if re.fullmatch(r"PMC\d+", part)), "")


def _abstract(source: Source) -> str:
    """The abstract's paragraphs, each with its own heading where it has one."""
    shown = dict.fromkeys(text_content(part) for part in source.all(_ABSTRACT))
    written = "\n\n".join(part for part in shown if not _KEYWORDS.match(part))
    return written or source.meta.get("citation_abstract", "")


def _joined(source: Source, css: str) -> str:
    return "; ".join(dict.fromkeys(text_content(node) for node in source.all(css)))


def _reference(source: Source, node: etree._Element) -> Record:
    text = text_content(node)
    doi = _DOI.search(text)
    return Record("pubmed", "reference", source.link("a.reference-link", node), text=text,
                  fields=fields(doi=doi[0] if doi else None))  # fmt: skip


def _row(source: Source, node: etree._Element) -> Record:
    title = "a.docsum-title"
    name = source.text(".docsum-pmid", node) or source.attr(title, "data-article-id", node)
    cited = source.text(".full-journal-citation, .docsum-journal-citation", node)
    return Record(
        "pubmed", "paper", f"{_SITE}/{name}/", id=name, title=source.text(title, node),
        text=source.text(".full-view-snippet", node), published=partial_date(cited),
        author=source.text(".full-authors, .docsum-authors", node).rstrip(".") or None,
        fields=fields(citation=cited, type=source.text(".publication-type", node).rstrip(".")),
    )  # fmt: skip
