"""Dates in running text: days, months, years, decades and centuries."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.language.spelling import root
from agent.evidence.language.units import read_unit
from agent.evidence.language.vocabulary import FUNCTION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.language.normalise import Token

_MONTHS = {
    root(name): number
    for names in (
        """january february march april may june july august september october november
        december""",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "jan feb mar apr may jun jul aug sept oct nov dec",
        """januar februar marz april mai juni juli august september oktober november
        dezember""",
    )
    for number, name in enumerate(names.split(), 1)
}
_WEEKDAYS = frozenset(
    f"{day}{s}"
    for day in "monday tuesday wednesday thursday friday saturday sunday".split()
    for s in ("", "s")
)
_PLURALS = frozenset("people men women children".split())
_FIRST_YEAR, _LAST_YEAR = 1000, 2199
_BEFORE_YEAR = frozenset(
    """in by since until till during before after early late mid year spring summer autumn winter a
    an the im seit bis vor nach jahr""".split()
)


class Date(NamedTuple):
    """A date as precise as it was given; a decade or century is a range of years."""

    first_year: int | None
    last_year: int | None
    month: int | None = None
    day: int | None = None
    place: int = 0

    @property
    def exact_year(self) -> int | None:
        """The year, where it is a single one."""
        return self.first_year if self.first_year == self.last_year else None

    def stands_in(self, others: Sequence[Date]) -> bool:
        """Whether one of these is this date, given no more vaguely."""
        vague = self.exact_year is None
        return any(self.agrees(other) and (vague or other.exact_year) for other in others)

    def agrees(self, other: Date) -> bool:
        """Whether both can be the same date, as far as each is given."""
        return (
            _overlap(self, other)
            and None in (self.month, other.month, _differ(self.month, other.month))
            and None in (self.day, other.day, _differ(self.day, other.day))
        )


def find_dates(tokens: Sequence[Token]) -> list[Date]:
    """Find the dates of a sentence, in order; `place` is the index of the year or month."""
    return list(_scan(tokens))


def is_month(token: Token) -> bool:
    """Whether a token is the name of a month, with its capital."""
    return token.root in _MONTHS and token.raw[0].isupper()


def names_a_time(token: Token) -> bool:
    """Whether a token is a month or a weekday: what is said of one may not be so on another."""
    return is_month(token) or token.form in _WEEKDAYS


def date_places(tokens: Sequence[Token]) -> set[int]:
    """Indices of the numbers that are part of a date."""
    places: set[int] = set()
    for date in find_dates(tokens):
        near = range(max(0, date.place - 3), min(len(tokens), date.place + 4))
        values = {date.first_year, date.day, date.exact_year}
        places.update(i for i in near if tokens[i].value in values and tokens[i].value is not None)
        if _is_season(tokens[date.place : date.place + 3]):
            places.add(date.place + 2)
    return places


def _is_season(tokens: Sequence[Token]) -> bool:
    """Whether a year and the next follow each other: `2022/23`, `2023-24`."""
    if len(tokens) < 3 or not _is_year(tokens[0]) or tokens[1].form not in {"/", "-"}:
        return False
    return tokens[2].value == (int(tokens[0].raw) + 1) % 100


def _scan(tokens: Sequence[Token]) -> Iterator[Date]:
    taken: set[int] = set()
    for i, token in enumerate(tokens):
        if is_month(token):
            date, used = _around_month(tokens, i)
            if date:
                taken |= used
                yield date
    for i, token in enumerate(tokens):
        if i in taken or token.value is None:
            continue
        date = _year_at(tokens, i)
        if date:
            yield date


def _around_month(tokens: Sequence[Token], i: int) -> tuple[Date | None, set[int]]:
    """Read `4 May 1898`, `May 4, 1898`, `May 1898`, `4 May`, from the month's place."""
    month, used = _MONTHS[tokens[i].root], {i}
    day = year = None
    before = i - 2 if i > 1 and tokens[i - 1].form in {".", "of"} else i - 1
    if before >= 0 and _is_day(tokens[before]):
        day, used = int(tokens[before].value or 0), used | {before}
    j = i + 1
    if day is None and j < len(tokens) and _is_day(tokens[j]):
        day, used, j = int(tokens[j].value or 0), used | {j}, j + 1
    while j < len(tokens) and tokens[j].form in {",", "of"}:
        j += 1
    if j < len(tokens) and _is_year(tokens[j]):
        year, used = int(tokens[j].value or 0), used | {j}
    if day is None and year is None and not _is_dated(tokens, i):
        return None, set()
    return Date(year, year, month, day, i), used


def _is_dated(tokens: Sequence[Token], i: int) -> bool:
    """Whether a month alone is one: `in May`; `May` and `March` elsewhere may be other words."""
    other_word = tokens[i].root in {"may", "march"}
    return not other_word or (i > 0 and tokens[i - 1].form in _BEFORE_YEAR | {"of", "to", "from"})


def _year_at(tokens: Sequence[Token], i: int) -> Date | None:
    """Read a year, decade (`1950s`) or century (`seventh century`) at a number's place."""
    token = tokens[i]
    value = int(token.value or 0)
    following = tokens[i + 1].form if i + 1 < len(tokens) else ""
    if token.kind == "ordinal" and following in {"century", "centuries"}:
        return Date(100 * value - 99, 100 * value, place=i)
    if not _is_year(token):
        return None
    if following == "s":
        return Date(value, value + (99 if value % 100 == 0 else 9), place=i)
    before = tokens[i - 1].form if i else ""
    alone = not following or not following[0].isalpha() or tokens[i + 1].root in FUNCTION
    if alone or before in _BEFORE_YEAR or not _counts(tokens[i + 1 : i + 4]):
        return Date(value, value, place=i)
    return None


def _counts(after: Sequence[Token]) -> bool:
    """Whether the words after a number are what it counts: a plural stands among them."""
    named = itertools.takewhile(_can_be_counted, after)
    return any(t.form.endswith("s") or t.form in _PLURALS or read_unit([t])[0] for t in named)


def _can_be_counted(token: Token) -> bool:
    """Whether a token can be part of what a number counts: no name, no small word."""
    return token.kind == "word" and token.raw.islower() and token.root not in FUNCTION


def _is_day(token: Token) -> bool:
    return (
        token.value is not None and token.kind in {"number", "ordinal"} and 1 <= token.value <= 31
    )


def _is_year(token: Token) -> bool:
    plain = token.raw.isdigit() and len(token.raw) == 4
    return token.kind == "number" and plain and _FIRST_YEAR <= int(token.raw) <= _LAST_YEAR


def _overlap(one: Date, other: Date) -> bool:
    if one.first_year is None or other.first_year is None:
        return one.month is not None and other.month is not None
    return one.first_year <= (other.last_year or 0) and other.first_year <= (one.last_year or 0)


def _differ(one: int | None, other: int | None) -> bool | None:
    """True where two given values differ; None where they are equal."""
    return True if one != other else None
