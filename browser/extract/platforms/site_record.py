"""What platform parsers give: one typed record, and the lines in which a reader can cite it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from browser.extract.dates import date_within, iso_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from browser.types import Link, Table

# Beside these the title and the text of an item say what it is.
_PLAIN_KINDS = frozenset(("comment", "reply", "answer", "post", "section", "transcript"))
# A reply's reply's reply is read as one thread; deeper is hostile or data.
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Record:
    """One thing on a platform: a post, a repository, a video, a question, a paper, a listing.

    `kind` says what it is; `author` is the name shown, `handle` the account; dates are ISO 8601.
    `counts` holds numbers under plain names (`likes`, `replies`, `stars`, `points`, `views`);
    `fields` what only this kind has, as text. `items` are the comments, answers or entries in
    page order; a reply names what it answers in `parent`. A field that the page does not hold is
    None or empty, never guessed.
    """

    platform: str
    kind: str
    url: str = ""
    id: str | None = None
    title: str | None = None
    text: str = ""
    author: str | None = None
    handle: str | None = None
    published: str | None = None
    modified: str | None = None
    parent: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    media: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    items: tuple[Record, ...] = ()


def listing(
    platform: str, url: str, items: Iterable[Record], title: str | None = None
) -> Record | None:
    """A page that lists things, as a record whose items they are; None where it lists nothing."""
    found = tuple(items)
    return Record(platform, "listing", url, title=title, items=found) if found else None


def facts(record: Record) -> dict[str, str]:
    """What a record says beside its text, by plain names; what it does not say is left out."""
    said = {
        "kind": f"{record.platform} {record.kind}",
        "id": record.id,
        "author": byline(record),
        "published": record.published,
        "modified": record.modified,
        "answers": record.parent,
        **{name: str(amount) for name, amount in record.counts.items()},
        **record.fields,
        "tags": ", ".join(record.tags),
    }
    return {name: value for name, value in said.items() if value}


def fact_lines(record: Record) -> str:
    """The facts as a list, a line each."""
    return "\n".join(f"- {name}: {' '.join(v.split())}" for name, v in facts(record).items())


def item_blocks(record: Record) -> Iterator[str]:
    """A block for each item, with who said it and when; items of items after theirs."""
    yield from _blocks(record, _DEEPEST)


def byline(record: Record) -> str:
    """Name and account, as `Ann (@ann)`; one of them where they are the same."""
    if record.handle and record.author and record.handle != record.author:
        return f"{record.author} (@{record.handle})"
    return record.author or record.handle or ""


def _blocks(record: Record, depth: int) -> Iterator[str]:
    for item in record.items if depth else ():
        yield _block(item)
        yield from _blocks(item, depth - 1)


def _block(item: Record) -> str:
    kind = "" if item.kind in _PLAIN_KINDS else item.kind.replace("_", " ")
    counted = [f"{name} {amount}" for name, amount in item.counts.items()]
    more = [f"{name}: {value}" for name, value in item.fields.items()]
    head = ", ".join(part for part in (kind, byline(item), item.published or "", *counted) if part)
    title = f"{item.title}\n" if item.title else ""
    rest = "\n".join(part for part in (item.text, "; ".join(more)) if part)
    return f"{head}: {title}{rest}".strip() if head else f"{title}{rest}".strip()


# What stands behind a shortened number: English, German, Romance and Slavic languages, CJK.
_SCALES = {
    "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12,
    "thousand": 1e3, "million": 1e6, "millions": 1e6, "millones": 1e6, "millionen": 1e6,
    "milhões": 1e6, "billion": 1e9,
    "tsd": 1e3, "mio": 1e6, "mrd": 1e9, "mil": 1e3, "mi": 1e6, "mln": 1e6, "md": 1e9, "bn": 1e9,
    "тыс": 1e3, "млн": 1e6, "млрд": 1e9, "千": 1e3, "천": 1e3, "万": 1e4, "萬": 1e4, "만": 1e4,
    "億": 1e8, "亿": 1e8, "억": 1e8,
}  # fmt: skip
_LONGEST_FIRST = "|".join(sorted(_SCALES, key=len, reverse=True))
_NUMBER = re.compile(
    rf"([-−]?\d[\d.,'’\u00a0\u202f\u2009 ]*)\s*(?:({_LONGEST_FIRST})\.?(?![^\W\d_]))?",
    re.IGNORECASE,
)
# A scale of CJK is followed by its counter word at once (`3.4万回`), so it needs no end of a word.
_CJK = re.compile(r"(\d[\d.,]*)\s*([千천万萬만億亿억])")
_GROUPED = re.compile(r"\d{1,3}(?:[.,'’ ]\d{3})+|\d{1,2}(?:,\d\d)+,\d{3}")
_SPACES = re.compile(r"[\u00a0\u202f\u2009]")
# Seconds until the year 2286 have ten digits, milliseconds thirteen.
_MILLISECONDS = 10_000_000_000
_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?")
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d\d)")


def number(text: object) -> int | None:
    """Read a count: `1,234`, `1.234`, `1.2k`, `3 points`, `1,2 Mio.`, `3.4万回`; None without one.

    A separator before exactly three digits groups them, another one is the decimal point.
    """
    if isinstance(text, bool) or text is None:
        return None
    if isinstance(text, int | float):
        return int(text) if abs(text) < 1e18 else None
    match = _CJK.search(str(text)) or _NUMBER.search(str(text))
    if match is None:
        return None
    value = decimal(match[1])
    scale = _SCALES[match[2].lower()] if match[2] else 1
    return None if value is None else round(value * scale) if scale > 1 else int(value)


def decimal(text: str) -> float | None:
    """Read a number written with any grouping and decimal sign; None where it is none."""
    plain = _SPACES.sub(" ", text).replace("−", "-").strip(" .,'’")
    sign, digits = (-1, plain[1:]) if plain.startswith("-") else (1, plain)
    digits = re.split(r" (?!\d{3}(?!\d))", digits)[0].rstrip(".,'’ ")
    if _GROUPED.fullmatch(digits):
        digits = re.sub(r"\D", "", digits)
    # The decimal sign is a separator that stands there once.
    elif (found := re.fullmatch(r"(.*?)([.,])(\d*)", digits)) and digits.count(found[2]) == 1:
        digits = re.sub(r"\D", "", found[1]) + f".{found[3]}"
    else:
        digits = re.sub(r"\D", "", digits)
    try:
        return sign * float(digits)
    except ValueError:
        return None


def counts(**values: object) -> dict[str, int]:
    """Counts by name, those that are absent left out."""
    found = {name: number(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None}


def fields(**values: object) -> dict[str, str]:
    """Fields by name as text, those that are absent or empty left out; `true` and `false`."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
        if value not in (None, "", [])
    }


def moment(stamp: object) -> str | None:
    """ISO 8601 of seconds or milliseconds since the epoch; None for anything else."""
    if isinstance(stamp, str) and stamp.isdecimal():
        stamp = int(stamp)
    if isinstance(stamp, bool) or not isinstance(stamp, int | float) or stamp <= 0:
        return None
    seconds = stamp / 1000 if stamp > _MILLISECONDS else stamp
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def date_of(value: object) -> str | None:
    """ISO 8601 of a date or a moment, however a page or an API writes it; None where it is none."""
    if isinstance(value, str) and not value.isdecimal():
        return iso_date(value) or date_within(value)
    return moment(value)


def seconds_of(duration: str) -> int | None:
    """Seconds of `PT1H2M3S` or `1:02:03`; None for anything else."""
    if match := _CLOCK.fullmatch(duration.strip()):
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return hours * 3600 + minutes * 60 + seconds
    match = _DURATION.fullmatch(duration.strip())
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
