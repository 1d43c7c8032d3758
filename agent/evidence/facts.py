"""The figures, dates and names of a text. Months and number words: English and German alone."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.tokens import tokens_of
from browser.text.words import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.tokens import Token

BOUNDS = frozenset(
    """about around roughly approximately some circa ca nearly almost over under above below than
    least most to up within etwa rund fast knapp""".split()
)
"""Words before a figure that let it stand for others."""
_MONTHS = {
    name: number
    for names in (
        """january february march april may june july august september october november
        december""",
        "jan feb mar apr may jun jul aug sept oct nov dec",
        "januar februar marz april mai juni juli august september oktober november dezember",
    )
    for number, name in enumerate(names.split(), 1)
} | {"sep": 9}


class Figure(NamedTuple):
    """A number of a text, with the measure beside it; `text` is how the number is printed."""

    value: float
    measure: str
    text: str
    about: bool = False


class Date(NamedTuple):
    """A date as precise as it was given: a year, a month of one, a day."""

    year: int | None
    month: int | None
    day: int | None
    text: str

    def agrees(self, other: Date) -> bool:
        """Tell whether every part that this date has is the other's."""
        mine, theirs = self[:3], other[:3]
        return all(a is None or a == b for a, b in zip(mine, theirs, strict=True))


@dataclass(slots=True)
class Facts:
    """The figures, dates and names of a text."""

    figures: list[Figure] = field(default_factory=list)
    dates: list[Date] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def facts_of(text: str) -> Facts:
    """Read the figures, dates and names of a text, each in the order in which it stands there."""
    tokens = tokens_of(text)
    found = Facts(names=_names(tokens, text))
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if dated := _date_at(tokens, i, text):
            found.dates.append(dated[0])
            i = dated[1]
            continue
        printed = text[token.start : token.end]
        if token.value is not None and printed.casefold() != "one":
            beside = [t.key for t in (*tokens[i + 1 : i + 4], *tokens[max(0, i - 1) : i])]
            measure = next((key for key in beside if key not in "-‑"), "")
            about = any(t.key in BOUNDS for t in tokens[max(0, i - 2) : i])
            found.figures.append(Figure(token.value, measure, printed, about))
        i += 1
    return found


def is_month(word: str) -> bool:
    """Tell whether a word in lower case is the name of a month."""
    return word in _MONTHS


def _date_at(tokens: Sequence[Token], i: int, text: str) -> tuple[Date, int] | None:
    """Read `4 May 1811`, `May 4, 1811`, `May 1811`, `4. Mai 1811`, `1811-05-04` or a year.

    Gives the date, and the index behind it.
    """
    near = [(at, t) for at, t in enumerate(tokens[i : i + 6], i) if t.key not in {",", ".", "-"}]
    if not near or near[0][0] != i:
        return None
    parts = [token for _, token in near[:3]]
    months = [_MONTHS.get(part.key) if part.kind == "word" else None for part in parts]
    days, years = (
        [_whole(part, 1, 31) for part in parts],
        [_whole(part, 1000, 2199) for part in parts],
    )
    third = years[2] if len(parts) > 2 else None
    size = 3 if third else 2
    match months, days, years:
        case [None, int(month), *_], [int(day), *_], _:  # 4 May 1811
            date = Date(third, month, day, "")
        case [int(month), *_], [_, int(day), *_], _:  # May 4, 1811
            date = Date(third, month, day, "")
        case [int(month), *_], _, [_, int(year), *_]:  # May 1811
            date, size = Date(year, month, None, ""), 2
        case _, [_, int(month), int(day)], [int(year), *_] if month <= 12 and _is_iso(text, parts):
            date, size = Date(year, month, day, ""), 3
        case _, _, [int(year), *_] if parts[0].end - parts[0].start == 4:
            date, size = Date(year, None, None, ""), 1
        case _:
            return None
    printed = text[parts[0].start : parts[size - 1].end]
    return date._replace(text=printed), near[size - 1][0] + 1


def _whole(token: Token, least: int, most: int) -> int | None:
    """Give a number without a fraction that lies within bounds."""
    value = token.value if token.kind in {"number", "ordinal"} else None
    fits = value is not None and value == int(value) and least <= value <= most
    return int(value) if fits and value is not None else None


def _is_iso(text: str, parts: Sequence[Token]) -> bool:
    return text[parts[0].start : parts[2].end].count("-") == 2


def _names(tokens: Sequence[Token], text: str) -> list[str]:
    """Give rows of capitalised words; the first word of a sentence, alone, is no name."""
    found: list[str] = []
    numbered = enumerate(tokens)
    for capital, run in itertools.groupby(
        numbered, key=lambda pair: pair[1].capital and not is_month(pair[1].key)
    ):
        places = [i for i, _ in run]
        first = places[0]
        opens = all(t.kind == "mark" for t in tokens[:first]) or tokens[first - 1].key in ".:!?"
        if opens and (len(places) == 1 or tokens[first].key in STOP_WORDS):
            places = places[1:]
        if capital and places:
            found.append(text[tokens[places[0]].start : tokens[places[-1]].end])
    return found
