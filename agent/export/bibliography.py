"""Renders the sources of an answer as BibTeX, biblatex, RIS and CSL-JSON.

Titles and quotes come from the web: escaping ensures that none of them can close its field.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from agent.export.finished_run import FinishedRun
from agent.export.report_view import paged_quotes, shown_address
from browser.net.url import host, registrable_domain
from browser.search.zotero import citation_key
from browser.text.words import clean, escaped, one_line
from browser.types import UNKNOWN_PUBLICATION, Publication

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOT_READ = "Quoted from a search result; the page itself was not read."
_DATE = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_RANGES = (range(1, 10_000), range(1, 13), range(1, 32))
"""Valid years, months and days: some pages declare invalid ones, which are left out."""


@dataclass(frozen=True, slots=True)
class Author:
    """A person; if only `family` is set, an organisation or a name that cannot be split."""

    family: str
    given: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """One source. A date is (year, month, day), or only its known leading parts.

    `notes` contains its quotes, after a warning if they come from a search result. `url` is empty
    for a file: its path on this computer is private.
    """

    key: str
    title: str
    url: str
    site: str
    published: tuple[int, ...]
    accessed: tuple[int, ...]
    notes: tuple[str, ...]
    authors: tuple[Author, ...] = ()
    publication: Publication = UNKNOWN_PUBLICATION

    @property
    def kind(self) -> str:
        """`article` and `inproceedings` for works of a journal or conference, otherwise `misc`."""
        if not self.publication.venue:
            return "misc"
        return "inproceedings" if self.publication.in_proceedings else "article"


def references(folder: Path) -> list[Reference]:
    """List the sources of a run's answer by number, without computed ones."""
    record = FinishedRun.read(folder)
    found = []
    for source in record.report.sources:
        if source.via == "computed":
            continue
        row = record.source_on_record(source) or {}
        published = date_parts(str(row.get("published") or ""))
        site = host(source.url) or ""
        name = (registrable_domain(site) or site).split(".")[0].lower()
        plain = "".join(sign for sign in name if sign.isascii() and sign.isalnum()) or "source"
        warning = [NOT_READ] if source.via == "snippet" else []
        found.append(
            Reference(
                # The usual form of keys: `example2024-1`.
                key=citation_key(source.url, os.environ)
                or f"{plain}{published[0] if published else ''}-{source.n}",
                title=one_line(source.title or shown_address(source.url)),
                url="" if source.url.startswith("file:") else one_line(source.url),
                site=site,
                published=published,
                accessed=date_parts(source.fetched_at),
                notes=(*warning, *map(one_line, paged_quotes(source))),
                authors=authors(one_line(str(row.get("author") or ""))),
                publication=_publication(row.get("publication") or {}),
            )
        )
    return found


def _publication(row: dict[str, Any]) -> Publication:
    values: dict[str, Any] = {
        name: value if isinstance(value, bool) else one_line(str(value))
        for name, value in row.items()
        if name in Publication.__dataclass_fields__
    }
    return Publication(**values)


def date_parts(date: str) -> tuple[int, ...]:
    """Parse year, month and day at the beginning of an ISO date; `()` if there is none."""
    found = _DATE.match(date)
    numbers = [int(part) for part in found.groups() if part] if found else []
    ranges = zip(numbers, _RANGES, strict=False)
    return tuple(number for number, _ in takewhile(lambda pair: pair[0] in pair[1], ranges))


# Authors. Pages list them on one line, in any format. In 213 author lines from saved pages, the
# words for organisations prevent 10 organisations from being mistaken for people, but also match 2
# people.

_AUTHOR_SEPARATOR_RE = re.compile(r"\s*(?:;|&|,?\s+\b(?:and|und|et|y|e)\b)\s+|\s*;\s*")
_BYLINE = re.compile(r"^(?:by|von|par|por|di)\s+(?=\S)", re.IGNORECASE)
_ORGANISATION_RE: Final = re.compile(
    r"""\d|\b(?:agency|archives?|associat\w+|authority|blog|board|bureau|centre|center|city|college
    |commission|committee|community|company|consortium|contributors?|corp\w*|council|department
    |desk|developers?|docs|documentation|editor\w*|federation|foundation|gazette|government|group
    |gmbh|herald|inc|initiative|institut\w*|journal|laborator\w+|library|limited|llc|ltd|magazine
    |ministry|museum|network|news\w*|office|online|organi[sz]ation|party|post|press|project
    |redaktion|research|r[eé]daction|school|service|society|staff|studio|support|team|times
    |trust|union|universit\w+|verein|wiki\w*|working|world)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PARTICLES: Final = frozenset(
    "af al da dal de del della den der des di dos du e el la le ten ter van von zu zum zur".split()
)
_INITIALS: Final = re.compile(r"(?:[^\W\d_]\.[ -]?){1,3}|[^\W\d_]")


def authors(line: str) -> tuple[Author, ...]:
    """Parse the authors that a page lists on one line."""
    found: list[Author] = []
    for piece in _AUTHOR_SEPARATOR_RE.split(" ".join(line.split())):
        name = _BYLINE.sub("", piece.strip())
        parts = [part.strip() for part in name.split(",") if part.strip()]
        if len(parts) < 2 or _ORGANISATION_RE.search(name):
            found.append(_author(name))
        elif len(parts) % 2 == 0 and all(_INITIALS.fullmatch(part) for part in parts[1::2]):
            found += map(Author, parts[::2], parts[1::2])  # Smith, J., Doe, K. L.
        elif len(parts) == 2 and _is_family_name(parts[0]):
            found.append(Author(*parts))
        else:
            found += map(_author, parts)
    return tuple(author for author in found if author.family)


def _author(name: str) -> Author:
    words = name.split()
    if len(words) < 2 or _ORGANISATION_RE.search(name):
        return Author(name)
    if not all(word[0].isupper() or word.lower() in _PARTICLES for word in words):
        return Author(name)
    first = len(words) - 1
    while first > 1 and words[first - 1].lower() in _PARTICLES:
        first -= 1
    return Author(" ".join(words[first:]), " ".join(words[:first]))


def _is_family_name(words: str) -> bool:
    """Return whether all words but the last are particles, as in `van der Berg`."""
    return all(word.lower() in _PARTICLES for word in words.split()[:-1])


# BibTeX and biblatex

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        # BibTeX counts braces, whether escaped or not.
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\^{}",
        "~": r"\~{}",
    }
)
_IN_URL = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20"})
"""A URL is printed literally, so only characters that would end its field are encoded."""
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def render_bibtex(folder: Path) -> bytes:
    """Render the sources as BibTeX: publications by their kind, all others as `@misc`."""
    return clean("\n".join(map(bibtex_entry, references(folder)))).encode()


def render_biblatex(folder: Path) -> bytes:
    """Render the sources for biblatex, as `@online` entries with fields for URL and dates."""
    return clean("\n".join(map(biblatex_entry, references(folder)))).encode()


def bibtex_entry(found: Reference) -> str:
    """Format a BibTeX entry; the URL goes into `howpublished` and the access date into `note`."""
    accessed = f"Accessed {_iso(found.accessed)}."
    address = rf"\url{{{found.url.translate(_IN_URL)}}}" if found.url else ""
    fields = {
        **_publication_fields(found),
        "howpublished": address,
        "year": f"{found.published[0]:04d}" if found.published else "",
        "month": _MONTHS[found.published[1] - 1] if found.published[1:] else "",
        "note": f"{accessed} {' … '.join(found.notes)}".strip().translate(_ESCAPES),
    }
    return _entry(found.kind, found, fields)


def _publication_fields(found: Reference) -> dict[str, str]:
    """Return BibTeX fields for the journal or book, volume, number, pages and identifiers."""
    work = found.publication
    fields = {
        "journal" if found.kind == "article" else "booktitle": work.venue, "volume": work.volume,
        "number": work.issue, "pages": work.pages.replace("-", "--"), "publisher": work.publisher,
        "doi": work.doi, "eprint": work.arxiv, "archiveprefix": "arXiv" if work.arxiv else "",
    }  # fmt: skip
    return {name: value.translate(_ESCAPES) for name, value in fields.items()}


def biblatex_entry(found: Reference) -> str:
    """Format a biblatex entry."""
    fields = {
        **_publication_fields(found),
        "organization": found.site.translate(_ESCAPES),
        "date": _iso(found.published),
        "url": found.url.translate(_IN_URL),
        "urldate": _iso(found.accessed),
        "annote": " … ".join(found.notes).translate(_ESCAPES),
    }
    return _entry("online" if found.kind == "misc" else found.kind, found, fields)


def _entry(kind: str, found: Reference, more: dict[str, str]) -> str:
    names = []
    for author in found.authors:
        family, given = author.family.translate(_ESCAPES), author.given.translate(_ESCAPES)
        # The name of an organisation is braced, so that it is not split.
        names.append(f"{family}, {given}" if given else f"{{{family}}}")
    # Doubly braced, so that styles keep the title's capitals.
    title = f"{{{found.title.translate(_ESCAPES)}}}"
    fields = {"author": " and ".join(names), "title": title, **more}
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{found.key},", *lines, "}", ""])


def _iso(date: tuple[int, ...], mark: str = "-") -> str:
    return mark.join(f"{part:02d}" for part in date)


# RIS and CSL-JSON


def render_ris(folder: Path) -> bytes:
    """Render the sources as RIS."""
    return "".join(map(ris_entry, references(folder))).encode()


def ris_entry(found: Reference) -> str:
    """Format an RIS entry, one field per line."""
    rows = (f"{tag}  - {clean(value)}\r\n" for tag, value in _ris_fields(found))
    return "".join([*rows, "\r\n"])


def _ris_fields(found: Reference) -> Iterator[tuple[str, str]]:
    work = found.publication
    yield "TY", {"article": "JOUR", "inproceedings": "CPAPER"}.get(found.kind, "ELEC")
    yield "ID", found.key
    for author in found.authors:
        yield "AU", f"{author.family}, {author.given}" if author.given else author.family
    yield "TI", found.title
    if found.site or work.venue:
        yield "T2", work.venue or found.site
    start, _, end = work.pages.partition("-")
    for tag, value in (("VL", work.volume), ("IS", work.issue), ("SP", start), ("EP", end),
                       ("PB", work.publisher), ("DO", work.doi)):  # fmt: skip
        if value:
            yield tag, value
    if found.published:
        yield "PY", str(found.published[0])
        yield "DA", _iso(found.published, "/")
    if found.url:
        yield "UR", found.url
    yield "Y2", _iso(found.accessed, "/")
    for note in found.notes:
        yield "N1", note
    yield "ER", ""


def render_csl(folder: Path) -> bytes:
    """Render the sources as CSL-JSON."""
    items = [csl_item(found) for found in references(folder)]
    return escaped(json.dumps(items, ensure_ascii=False, indent=2) + "\n").encode()


def csl_item(found: Reference) -> dict[str, Any]:
    """Build a CSL item; unknown fields are omitted."""
    people = [
        {"family": a.family, "given": a.given} if a.given else {"literal": a.family}
        for a in found.authors
    ]
    work = found.publication
    types = {"article": "article-journal", "inproceedings": "paper-conference"}
    named = {
        "URL": found.url, "volume": work.volume, "issue": work.issue, "page": work.pages,
        "publisher": work.publisher, "DOI": work.doi,
    }  # fmt: skip
    return {
        "id": found.key,
        "type": types.get(found.kind, "webpage" if found.url else "document"),
        "title": found.title,
        **{name: value for name, value in named.items() if value},
        "accessed": {"date-parts": [list(found.accessed)]},
        **({"author": people} if people else {}),
        **({"container-title": work.venue or found.site} if work.venue or found.site else {}),
        **({"issued": {"date-parts": [list(found.published)]}} if found.published else {}),
        **({"note": " … ".join(found.notes)} if found.notes else {}),
    }
