"""The sources of an answer as bibliographies see them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from agent.export.authors import Author, authors
from browser.net.url import host, registrable_domain

if TYPE_CHECKING:
    from agent.export.record import Record
    from agent.types import ReportSource

NOT_READ = "Quoted from a search result; the page itself was not read."
_DATE = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_RANGES = (range(1, 10_000), range(1, 13), range(1, 32))
"""Years, months and days; what pages declare beyond them is left out."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class Reference:
    """One source. Dates are year, month and day, as many of them as are known.

    `notes` are its quotes, behind a word of warning where these are a search result's.
    """

    key: str
    title: str
    url: str
    site: str
    published: tuple[int, ...]
    accessed: tuple[int, ...]
    notes: tuple[str, ...]
    authors: tuple[Author, ...] = ()


def references(record: Record) -> list[Reference]:
    """Give the sources of a run's answer, in the order of their numbers."""
    return [_reference(record, source) for source in record.report.sources]


def iso(date: tuple[int, ...], mark: str = "-") -> str:
    """Write a date, year first, the parts joined by `mark`."""
    return mark.join(f"{part:02d}" for part in date)


def _reference(record: Record, source: ReportSource) -> Reference:
    known = record.source_on_record(source) or {}
    published = parts(str(known.get("published") or ""))
    site = host(source.url) or ""
    warning = [NOT_READ] if source.via == "snippet" else []
    return Reference(
        key=_key(site, published, source.n),
        title=_line(source.title or source.url),
        url=_line(source.url),
        site=site,
        published=published,
        accessed=parts(source.fetched_at),
        notes=(*warning, *(_line(quote) for quote in source.quotes)),
        authors=authors(_line(str(known.get("author") or ""))),
    )


def parts(date: str) -> tuple[int, ...]:
    """Read year, month and day off the beginning of an ISO date; `()` of what is none."""
    found = _DATE.match(date)
    numbers = [int(part) for part in found.groups() if part] if found else []
    ranges = zip(numbers, _RANGES, strict=False)
    known = takewhile(lambda pair: pair[0] in pair[1], ranges)
    return tuple(number for number, _ in known)


def _key(site: str, published: tuple[int, ...], n: int) -> str:
    """Make a key as people write them, such as `example2024-1`; letters and digits only."""
    name = (registrable_domain(site) or site).split(".")[0]
    plain = re.sub(r"[^a-z0-9]", "", name.lower()) or "source"
    return f"{plain}{published[0] if published else ''}-{n}"


def _line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())
