"""The sources of an answer as bibliographies see them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from agent.export.run_record import FinishedRun
from browser.net.url import host, registrable_domain
from browser.text.words import clean, escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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


def references(record: FinishedRun) -> list[Reference]:
    """Give the sources of a run's answer, in the order of their numbers."""
    read = (source for source in record.report.sources if source.via != "computed")
    return [_reference(record, source) for source in read]


def iso(date: tuple[int, ...], mark: str = "-") -> str:
    """Write a date, year first, the parts joined by `mark`."""
    return mark.join(f"{part:02d}" for part in date)


def _reference(record: FinishedRun, source: ReportSource) -> Reference:
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
    plain = "".join(sign for sign in name.lower() if sign.isascii() and sign.isalnum()) or "source"
    return f"{plain}{published[0] if published else ''}-{n}"


def _line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


_MOST_WORDS: Final = 5  # names of persons have no more; what is longer is a body or a sentence
_BETWEEN = re.compile(r"\s*(?:;|&|,?\s+\b(?:and|und|et|y|e)\b)\s+|\s*;\s*")
_BYLINES: Final = frozenset({"by", "von", "par", "por", "di"})
_BODY: Final = re.compile(
    r"""\d|\b(?:agency|archives?|associat\w+|authority|blog|board|bureau|centre|center|city|college
    |commission|committee|community|company|consortium|contributors?|corp\w*|council|department
    |desk|dev\w*|docs|documentation|editor\w*|federation|foundation|gazette|government|group|gmbh
    |herald|inc|initiative|institut\w*|journal|laborator\w+|library|limited|llc|ltd|magazine
    |ministry|museum|network|news\w*|office|online|organi[sz]ation|party|post|press|project
    |redaktion|research|r[eé]daction|school|service|society|staff|studio|support|team|times
    |trust|union|universit\w+|verein|wiki\w*|working|world)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PARTICLES: Final = frozenset(
    "af al da dal de del della den der des di dos du e el la le ten ter van von zu zum zur".split()
)
_SUFFIXES: Final = frozenset({"jr", "sr", "ii", "iii", "iv", "md", "phd", "ph.d", "m.d"})
_TITLES: Final = frozenset({"dr", "prof", "mr", "mrs", "ms", "sir", "dame"})
_INITIALS: Final = re.compile(r"^(?:[^\W\d_]\.?[ -]?){1,3}$")
_CAPITAL: Final = re.compile(r"^[^\W\d_a-zß-öø-ÿ]", re.UNICODE)
_NO_SPACES: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Author:
    """A person by `family` and `given`, or a body (or a name of unknown form) by `family` alone."""

    family: str
    given: str = ""


def authors(line: str) -> tuple[Author, ...]:
    """Read the authors that a page names in one line."""
    names = [_without_byline(name) for name in _BETWEEN.split(" ".join(line.split()))]
    return tuple(author for name in names if name for author in _several(name))


def _without_byline(name: str) -> str:
    first, _, rest = name.strip().partition(" ")
    return rest if rest and first.lower() in _BYLINES else name.strip()


def _is_one_of(word: str, known: frozenset[str]) -> bool:
    """Find an abbreviation, with its full stop or without."""
    return word.lower().removesuffix(".") in known


def _several(name: str) -> list[Author]:
    """Read names with commas between them, or one with its family name first."""
    parts = [part.strip() for part in name.split(",") if part.strip()]
    if len(parts) < 2 or _BODY.search(name):
        return [_one_author(name)]
    suffixes = [part for part in parts if _is_one_of(part, _SUFFIXES)]
    parts = [part for part in parts if part not in suffixes]
    if len(parts) % 2 == 0 and all(_INITIALS.match(part) for part in parts[1::2]):
        return [Author(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    if len(parts) == 2 and (" " not in parts[0] or _only_particles(parts[0])):
        return [Author(parts[0], " ".join(parts[1:] + suffixes))]
    return [_one_author(part) for part in parts]


def _one_author(name: str) -> Author:
    words = [word for word in name.split() if not _is_one_of(word, _TITLES)]
    if not 2 <= len(words) <= _MOST_WORDS or _BODY.search(name) or _NO_SPACES.search(name):
        return Author(name)
    if not all(_CAPITAL.match(word) or word.lower() in _PARTICLES for word in words):
        return Author(name)
    suffix = [words.pop()] if len(words) > 2 and _is_one_of(words[-1], _SUFFIXES) else []
    first = len(words) - 1
    while first > 1 and words[first - 1].lower() in _PARTICLES:
        first -= 1
    return Author(" ".join(words[first:]), " ".join([*words[:first], *suffix]))


def _only_particles(words: str) -> bool:
    """Whether all but the last word go with a family name, as in `van der Berg`."""
    return all(word.lower() in _PARTICLES for word in words.split()[:-1])


_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        # BibTeX counts braces, escaped or not.
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
"""A URL is taken literally; only what would end its field is written in another way."""
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def render_bibtex(folder: Path) -> bytes:
    """Write the sources as BibTeX, in entries that old styles take: `@misc`."""
    return _entries(folder, _bibtex_entry)


def render_biblatex(folder: Path) -> bytes:
    """Write the sources for biblatex: `@online`, addresses and dates in fields of their own."""
    return _entries(folder, _biblatex_entry)


def _entries(folder: Path, write: Callable[[Reference], str]) -> bytes:
    return clean("\n".join(map(write, references(FinishedRun.read(folder))))).encode()


def _bibtex_author(author: Author) -> str:
    """A body's name is braced, so that it is not taken apart."""
    family = author.family.translate(_ESCAPES)
    return f"{family}, {author.given.translate(_ESCAPES)}" if author.given else f"{{{family}}}"


def _bibtex_entry(found: Reference) -> str:
    # Styles of the eighties know neither an address nor the day it was read: both are in words.
    year = f"{found.published[0]:04d}" if found.published else ""
    month = _MONTHS[found.published[1] - 1] if found.published[1:] else ""
    read = f"Accessed {iso(found.accessed)}."
    fields = {
        **_named(found),
        "howpublished": rf"\url{{{found.url.translate(_IN_URL)}}}",
        "year": year,
        "month": month,
        "note": f"{read} {' … '.join(found.notes)}".strip().translate(_ESCAPES),
    }
    return _entry("misc", found.key, fields)


def _biblatex_entry(found: Reference) -> str:
    fields = {
        **_named(found),
        "organization": found.site.translate(_ESCAPES),
        "date": iso(found.published),
        "url": found.url.translate(_IN_URL),
        "urldate": iso(found.accessed),
        "annote": " … ".join(found.notes).translate(_ESCAPES),
    }
    return _entry("online", found.key, fields)


def _named(found: Reference) -> dict[str, str]:
    return {
        "author": " and ".join(_bibtex_author(author) for author in found.authors),
        # Twice braced: styles leave the capitals as they are.
        "title": f"{{{found.title.translate(_ESCAPES)}}}",
    }


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])


def render_ris(folder: Path) -> bytes:
    """Write the sources as RIS."""
    rows = [row for found in references(FinishedRun.read(folder)) for row in _ris_entry(found)]
    return "".join(
        f"{tag}  - {clean(value)}\r\n" if tag else "\r\n" for tag, value in rows
    ).encode()


def _ris_entry(found: Reference) -> Iterator[tuple[str, str]]:
    yield "TY", "ELEC"
    yield "ID", found.key
    for author in found.authors:
        yield "AU", f"{author.family}, {author.given}" if author.given else author.family
    yield "TI", found.title
    if found.site:
        yield "T2", found.site
    if found.published:
        yield "PY", str(found.published[0])
        yield "DA", iso(found.published, "/")
    yield "UR", found.url
    yield "Y2", iso(found.accessed, "/")
    for note in found.notes:
        yield "N1", note
    yield "ER", ""
    yield "", ""


def render_csl(folder: Path) -> bytes:
    """Write the sources as CSL-JSON."""
    items = [_csl_item(found) for found in references(FinishedRun.read(folder))]
    return escaped(json.dumps(items, ensure_ascii=False, indent=2) + "\n").encode()


def _csl_author(author: Author) -> dict[str, str]:
    if not author.given:
        return {"literal": author.family}
    return {"family": author.family, "given": author.given}


def _csl_item(found: Reference) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": found.key,
        "type": "webpage",
        "title": found.title,
        "URL": found.url,
        "accessed": {"date-parts": [list(found.accessed)]},
    }
    if found.authors:
        item["author"] = [_csl_author(author) for author in found.authors]
    if found.site:
        item["container-title"] = found.site
    if found.published:
        item["issued"] = {"date-parts": [list(found.published)]}
    if found.notes:
        item["note"] = " … ".join(found.notes)
    return item
