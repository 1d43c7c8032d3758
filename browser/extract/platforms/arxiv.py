"""arXiv: abstract pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.citations import cited_authors
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.tree import text_content
from browser.types import Link

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_REVISED = re.compile(r"last revised ([^(\]]+)")
_VERSION = re.compile(r"v(\d+)\)?\]?$")
_VERSIONS = re.compile(r"\[v(\d+)\]")
_IN_PATH = re.compile(r"/abs/.+?v(\d+)(?:$|[?#])")
_WITHDRAWN = re.compile(r"\bwithdrawn\b", re.IGNORECASE)
_SUBJECT = re.compile(r"[^;]+\(([\w.-]+)\)")


class Arxiv(Platform):
    """`citation_*` meta elements, and the table of comments, subjects and identifiers."""

    name = "arxiv"
    hosts = ("arxiv.org", "export.arxiv.org")

    def parse(self, source: Source) -> Record | None:
        """Read one paper's abstract page, or a list of papers."""
        title, paper = source.meta.get("citation_title"), source.meta.get("citation_arxiv_id")
        if not title or not paper:
            return _listing(source)
        authors = cited_authors(source)
        dateline = source.text(".dateline")
        subjects = source.text("td.subjects")
        revised, version = _REVISED.search(dateline), _VERSION.search(dateline)
        comments, named = source.text("td.comments"), _IN_PATH.search(source.url)
        versions = _VERSIONS.findall(source.text(".submission-history"))
        pdf = source.meta.get("citation_pdf_url") or f"https://arxiv.org/pdf/{paper}"
        return Record(
            self.name, "paper", f"https://arxiv.org/abs/{paper}", id=paper, title=title,
            text=_abstract(source), author=", ".join(authors) or None,
            published=iso_date(source.meta.get("citation_date", "")),
            modified=iso_date(revised[1]) if revised else None,
            tags=tuple(_SUBJECT.findall(subjects)), links=(Link(pdf, "PDF"),),
            fields=fields(
                subjects=subjects, comments=comments, journal=source.text("td.jref"),
                version=version[1] if version else named[1] if named else None,
                versions=len(versions) or None, report=source.text("td.report-number"),
                withdrawn="true" if _WITHDRAWN.search(comments) else None,
                license=source.attr(".abs-license a", "href"),
                doi=source.meta.get("citation_doi") or source.text("td.arxivdoi a, td.doi a"),
            ),
        )  # fmt: skip


def _abstract(source: Source) -> str:
    shown = source.text("blockquote.abstract")
    return shown.removeprefix("Abstract:").strip() or source.meta.get("citation_abstract", "")


def _listing(source: Source) -> Record | None:
    """New and recent papers of a subject, and results of a search."""
    rows = zip(source.all("#articles dt, #dlpage dt"), source.all("#articles dd, #dlpage dd"),
               strict=False)  # fmt: skip
    items = [_row(source, head, body) for head, body in rows]
    items += [_result(source, node) for node in source.all("li.arxiv-result")]
    return listing("arxiv", source.url, items, source.text("h1") or source.text("title"))


def _row(source: Source, head: etree._Element, body: etree._Element) -> Record:
    address = source.link("a[href*='/abs/']", head)
    return Record(
        "arxiv", "paper", address, id=address.partition("/abs/")[2] or None,
        title=_after(source.text(".list-title", body)), text=source.text("p.mathjax", body),
        author=_after(source.text(".list-authors", body)) or None,
        tags=tuple(_SUBJECT.findall(_after(source.text(".list-subjects", body)))),
        fields=fields(comments=_after(source.text(".list-comments", body))),
    )  # fmt: skip


def _result(source: Source, node: etree._Element) -> Record:
    address = source.link(".list-title a[href*='/abs/']", node)
    abstract = source.text(".abstract-full", node).removesuffix("△ Less").strip()
    return Record(
        "arxiv", "paper", address, id=address.partition("/abs/")[2] or None,
        title=source.text("p.title", node), text=abstract,
        author=_after(source.text("p.authors", node)) or None,
        published=iso_date(_after(source.text("p.is-size-7:has(.has-text-weight-semibold)", node))),
        tags=tuple(text_content(tag) for tag in source.all(".tags .tag[data-tooltip]", node)),
    )  # fmt: skip


def _after(said: str) -> str:
    """What follows the label: `Title:`, `Authors:`, `Submitted`."""
    label, colon, rest = said.partition(":")
    return rest.strip() if colon and " " not in label else said.removeprefix("Submitted").strip()
