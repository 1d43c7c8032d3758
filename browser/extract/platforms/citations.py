"""What papers say of themselves in `citation_*` meta elements, as Google Scholar asks them to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.types import Link

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_DATES = ("citation_publication_date", "citation_date", "citation_online_date", "citation_year")
_MONTH_FIRST = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_WRITTEN = re.compile(r"\b(\d{4})(?:[ /-]([A-Z][a-z]{2}|\d{1,2})(?:[ /-](\d{1,2}))?)?\b")


def cited_paper(source: Source, platform: str) -> Record | None:
    """A paper by its meta elements alone; None where they name no title."""
    title = source.meta.get("citation_title")
    if not title:
        return None
    return Record(
        platform, "paper", source.canonical, id=source.parameter("id") or None,
        title=title, text=source.meta.get("citation_abstract", ""), published=cited_date(source),
        author=", ".join(cited_authors(source)) or None, links=cited_pdf(source),
        fields=fields(venue=source.meta.get("citation_conference_title"),
                      doi=source.meta.get("citation_doi")),
    )  # fmt: skip


def cited_authors(source: Source) -> list[str]:
    """Names as people write them, whether given one an element or all in one."""
    found = [e.get("content") or "" for e in source.all("meta[name=citation_author]")]
    found = found or source.meta.get("citation_authors", "").split(";")
    return list(dict.fromkeys(_plain_order(name) for name in found if name.strip()))


def cited_date(source: Source) -> str | None:
    """The day of publication, or the month or year where the page gives no more."""
    said = (source.meta.get(name, "") for name in _DATES)
    return next((date for text in said if (date := partial_date(text))), None)


def partial_date(text: str) -> str | None:
    """ISO 8601 of a date as exact as it is given: `2020 May 21`, `2020 May`, `05/21/2020`."""
    if found := _MONTH_FIRST.fullmatch(text.strip()):
        return f"{found[3]}-{int(found[1]):02}-{int(found[2]):02}"
    if whole := iso_date(text):
        return whole
    found = _WRITTEN.search(text)
    if found is None or not found[2]:
        return found[1] if found else None
    month, day = found[2], found[3] or "1"
    named = f"{month} {day}, {found[1]}" if month.isalpha() else f"{found[1]}/{month}/{day}"
    date = iso_date(named) or found[1]
    return date if found[3] else date[:7]


def cited_pdf(source: Source) -> tuple[Link, ...]:
    """The paper's PDF as a link; empty where the page names none."""
    address = source.meta.get("citation_pdf_url")
    return (Link(address, "PDF"),) if address else ()


def _plain_order(name: str) -> str:
    family, comma, given = name.partition(",")
    return f"{given.strip()} {family.strip()}" if comma else name.strip()
