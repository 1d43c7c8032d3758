"""Extracts figures, dates and names from text; knows English and German month names."""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.tokens import token_keys, tokenize
from agent.evidence.units import find_unit, unit_at
from browser.text.months import MONTHS
from browser.text.words import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.tokens import Token
    from agent.evidence.units import Unit

APPROXIMATORS = frozenset(
    """about around roughly approximately some circa ca nearly almost over under above below than
    least most to up within etwa rund fast knapp""".split()
)
"""Words that mark the next figure as an approximation or a bound."""
_MONTHS = {key: number for name, number in MONTHS.items() for key in token_keys(name)}
_BETWEEN_PARTS = frozenset({",", ".", "-", "de", "del"})  # `9 de mayo de 1945`
_ALSO_NAMES = frozenset({"mars"})
"""Months whose name, with a capital letter, is rather the name of something else."""

_MAY_BE_THOUSANDS = re.compile(r"[^\d.]*[1-9]\d{0,2}\.\d{3}(?![\d.])")
_NUMERIC_DATE = re.compile(
    r"""(?<![\d./-])(?:(?P<y>[12]\d{3})(?:-(?=\d+-)|/(?=\d+/)|\s?[年년]\s?)(?P<m>\d{1,2})
        (?:[-/](?P<d1>\d{1,2})(?!\d)|\s?[月월](?:\s?(?P<d2>\d{1,2})\s?[日일])?)
    |(?P<first>\d{1,2})(?P<mark>[./])\s?(?P<second>\d{1,2})(?P=mark)\s?(?P<year>[12]\d{3})(?!\d))""",
    re.VERBOSE,
)
"""`1811-05-04`, `1811年5月4日`, `4.5.1811`, `05/04/1811`."""


class Figure(NamedTuple):
    """A number in running text, with the word next to it; `text` is the number as printed.

    `unit` is the adjacent unit of measurement, if any; `quantity` is both as printed.
    """

    value: float
    adjacent_word: str
    text: str
    is_approximate: bool = False
    unit: Unit | None = None
    quantity: str = ""

    @property
    def possible_values(self) -> tuple[float, ...]:
        """The values that the number may have."""
        return possible_values(self.value, self.text)


class Quantity(NamedTuple):
    """A number with its unit (or None); `text` is both as printed."""

    value: float
    unit: Unit | None
    text: str


class Date(NamedTuple):
    """A date with the precision found in the text: a year, month, day, or day without a year.

    In `03/12/1931`, the month and the day may be swapped.
    """

    year: int | None
    month: int | None
    day: int | None
    text: str
    may_be_swapped: bool = False

    def matches(self, other: Date) -> bool:
        """Return whether each part of this date (year, month, day) is the same in the other."""
        pairs = itertools.product(self._readings(), other._readings())
        return any(
            all(own is None or own == their for own, their in zip(*pair, strict=True))
            for pair in pairs
        )

    @property
    def months(self) -> frozenset[int]:
        """The months that it may be in; empty if it has no month."""
        return frozenset(month for _, month, _ in self._readings() if month)

    def _readings(self) -> list[tuple[int | None, int | None, int | None]]:
        read = [(self.year, self.month, self.day)]
        return [*read, (self.year, self.day, self.month)] if self.may_be_swapped else read


@dataclass(slots=True)
class Facts:
    """The figures, dates and names found in a text."""

    figures: list[Figure] = field(default_factory=list)
    dates: list[Date] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


@functools.lru_cache(maxsize=4096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Extract the numbers in `text`, each with its unit; years and dates are numbers too."""
    return tuple(_quantities(tokenize(text), text))


def _quantities(tokens: Sequence[Token], text: str) -> Iterator[Quantity]:
    for i, token in enumerate(tokens):
        if token.value is not None and token.kind == "number":
            yield quantity_at(tokens, i, text)


def quantity_at(tokens: Sequence[Token], i: int, text: str) -> Quantity:
    """Read the number at token `i`, with the adjacent unit."""
    token = tokens[i]
    value = token.value or 0.0
    before = text[tokens[i - 1].start : tokens[i - 1].end] if i else ""
    if before and before in "€$£":
        return Quantity(value, find_unit(before), f"{before}{text[token.start : token.end]}")
    rest = tokens[i + 1 : i + 5]
    if rest and rest[0].key in "-‑":  # a 41-metre mast
        rest = rest[1:]
    unit, size = unit_at([text[t.start : t.end] for t in rest])
    end = rest[size - 1].end if size else token.end
    return Quantity(value, unit, text[token.start : end])


def extract_facts(text: str) -> Facts:
    """Extract figures, dates and names from `text`, each kind in reading order."""
    tokens = tokenize(text)
    found = Facts(names=_names(tokens, text))
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if dated := _date_at(tokens, i, text):
            date, i = dated
            found.dates.append(date)
            continue
        printed = text[token.start : token.end]
        if token.value is not None and printed.casefold() != "one":  # usually a pronoun
            beside = [t.key for t in (*tokens[i + 1 : i + 4], *tokens[max(0, i - 1) : i])]
            measure = next((key for key in beside if key not in "-‑"), "")
            is_approximate = any(t.key in APPROXIMATORS for t in tokens[max(0, i - 2) : i])
            _, unit, quantity = quantity_at(tokens, i, text)
            figure = Figure(token.value, measure, printed, is_approximate, unit, quantity)
            found.figures.append(figure)
        i += 1
    return found


def possible_values(value: float, printed: str) -> tuple[float, ...]:
    """Return the values that a number may have: in German, `1.250 Tonnen` are 1,250 tonnes."""
    return (value, 1000 * value) if _MAY_BE_THOUSANDS.match(printed) else (value,)


def is_month(word: str) -> bool:
    """Return whether a lower-case word is the name of a month."""
    return word in _MONTHS and word not in _ALSO_NAMES


def month_number(word: str) -> int | None:
    """Return the number of the month that a lower-case word names, or None."""
    return _MONTHS.get(word)


def _date_at(tokens: Sequence[Token], i: int, text: str) -> tuple[Date, int] | None:
    """Read `4 May 1811`, `May 4, 1811`, `May 1811`, `4. Mai 1811`, a date in digits, or a year.

    Returns the date and the index of the token after it.
    """
    if tokens[i].value is not None and (numeric := _NUMERIC_DATE.match(text, tokens[i].start)):
        after = next((n for n, t in enumerate(tokens) if t.start >= numeric.end()), len(tokens))
        if date := _numeric_date(numeric):
            return date, after
    near = [(at, t) for at, t in enumerate(tokens[i : i + 6], i) if t.key not in _BETWEEN_PARTS]
    if not near or near[0][0] != i:
        return None
    parts = [token for _, token in near[:3]]
    months = [
        _MONTHS.get(part.key)
        if part.kind == "word" and not (part.capital and part.key in _ALSO_NAMES)
        else None
        for part in parts
    ]
    days = [_whole_number(part, 1, 31) for part in parts]
    years = [_whole_number(part, 1000, 2199) for part in parts]
    third = years[2] if len(parts) > 2 else None
    size = 3 if third else 2
    match months, days, years:
        case [None, int(month), *_], [int(day), *_], _:  # 4 May 1811
            date = Date(third, month, day, "")
        case [int(month), *_], [_, int(day), *_], _:  # May 4, 1811
            date = Date(third, month, day, "")
        case [int(month), *_], _, [_, int(year), *_]:  # May 1811
            date, size = Date(year, month, None, ""), 2
        case _, _, [int(year), *_] if parts[0].end - parts[0].start == 4:
            date, size = Date(year, None, None, ""), 1
        case _:
            return None
    printed = text[parts[0].start : parts[size - 1].end]
    return date._replace(text=printed), near[size - 1][0] + 1


def _whole_number(token: Token, minimum: int, maximum: int) -> int | None:
    """Return a token's value as an integer; None if it is not an integer or is out of bounds."""
    value = token.value if token.kind in {"number", "ordinal"} else None
    if value is None or value != int(value) or not minimum <= value <= maximum:
        return None
    return int(value)


def _numeric_date(match: re.Match[str]) -> Date | None:
    """Read a date of digits; None if they are not a valid month and day."""
    found = (match["y"], match["m"], match["d1"] or match["d2"])
    year, month, day = (int(number) if number else None for number in found)
    may_be_swapped = False
    if year is None:
        day, month, year = map(int, match.group("first", "second", "year"))
        may_be_swapped = match["mark"] == "/" and day <= 12
        if match["mark"] == "/" and month > 12:
            day, month = month, day
    if not month or month > 12 or not 1 <= (day or 1) <= 31:
        return None
    return Date(year, month, day, match[0], may_be_swapped)


def _names(tokens: Sequence[Token], text: str) -> list[str]:
    """List sequences of capitalised words; a single word that begins a sentence is not a name."""
    found: list[str] = []
    capitalised = [token.capital and not is_month(token.key) for token in tokens]
    for is_name, run in itertools.groupby(range(len(tokens)), key=capitalised.__getitem__):
        if not is_name:
            continue
        places = list(run)
        first = places[0]
        opens = all(t.kind == "mark" for t in tokens[:first]) or tokens[first - 1].key in ".:!?"
        if opens and (len(places) == 1 or tokens[first].key in STOP_WORDS):
            places = places[1:]
        if places:
            found.append(text[tokens[places[0]].start : tokens[places[-1]].end])
    return found
