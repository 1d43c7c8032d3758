"""arXiv: abstract pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.citations import cited_authors
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.types import Link

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_REVISED = re.compile(r"last revised ([^(\]]+)")
_VERSION = re.compile(r"v(\d+)\)?\]?$")
_SUBJECT = re.compile(r"[^;]+\(([\w.-]+)\)")


class Arxiv(Platform):
    """`citation_*` meta elements, and the table of comments, subjects and identifiers."""

    name = "arxiv"
    hosts = ("arxiv.org", "export.arxiv.org")

    def parse(self, source: Source) -> Record | None:
        """Read one paper's abstract page."""
        title, paper = source.meta.get("citation_title"), source.meta.get("citation_arxiv_id")
        if not title or not paper:
            return None
        authors = cited_authors(source)
        dateline = source.text(".dateline")
        subjects = source.text("td.subjects")
        revised, version = _REVISED.search(dateline), _VERSION.search(dateline)
        pdf = source.meta.get("citation_pdf_url") or f"https://arxiv.org/pdf/{paper}"
        return Record(
            self.name, "paper", f"https://arxiv.org/abs/{paper}", id=paper, title=title,
            text=_abstract(source), author=", ".join(authors) or None,
            published=iso_date(source.meta.get("citation_date", "")),
            modified=iso_date(revised[1]) if revised else None,
            tags=tuple(_SUBJECT.findall(subjects)), links=(Link(pdf, "PDF"),),
            fields=fields(
                subjects=subjects, comments=source.text("td.comments"),
                journal=source.text("td.jref"), version=version[1] if version else None,
                doi=source.meta.get("citation_doi") or source.text("td.arxivdoi a, td.doi a"),
            ),
        )  # fmt: skip


def _abstract(source: Source) -> str:
    shown = source.text("blockquote.abstract")
    return shown.removeprefix("Abstract:").strip() or source.meta.get("citation_abstract", "")
