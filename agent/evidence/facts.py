"""The figures, dates and names of a text, and whether a source has them.

Rounding that says so is allowed for, and so is the sum or difference of two figures of one
passage. Months and number words are read in English and German alone.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.wording import tokens_of, words_of
from browser.text.words import STOP_WORDS, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.evidence.wording import Token

ABOUT = 0.08
"""How far, relatively, `about 500` may be from the figure that it stands for."""
FEW = 12
"""Number words up to this are not looked for."""

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


_MEASURES = frozenset(
    """m metre metres meter meters metern km kilometre kilometres kilometer kilometers cm mm mi
    mile miles ft foot feet inch inches square sq km2 ha hectare hectares hektar acre acres l
    litre litres liter liters kg kilogram kilograms kilogramme kilo kilos g gram grams t tonne
    tonnes tonnen lb lbs kw kilowatt kilowatts mw megawatt megawatts s second seconds sekunde
    sekunden min minute minutes minuten h hour hours stunde stunden day days tag tage tagen week
    weeks woche wochen month months monat monate monaten year years jahr jahre jahren mph kmh
    kph % £ pound pounds gbp $ dollar dollars usd € euro euros eur""".split()
)
"""Words and signs beside which four digits are a figure and no year."""


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


def month_named(name: str) -> int | None:
    """Find the number of a month, 1 to 12, by its name in lower case."""
    return _MONTHS.get(name)


@dataclass(slots=True)
class Facts:
    """The figures, dates and names of a text."""

    figures: list[Figure] = field(default_factory=list)
    dates: list[Date] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def facts_of(text: str) -> Facts:
    """Read the figures, dates and names of a text, each in the order in which it stands there."""
    tokens = tokens_of(text)
    found = Facts(names=[text[a:b] for a, b in _names(tokens)])
    i = 0
    while i < len(tokens):
        dated = _date_at(tokens, i, text)
        if dated:
            found.dates.append(dated[0])
            i = dated[1]
            continue
        figure = _figure_at(tokens, i, text)
        if figure:
            found.figures.append(figure)
        i += 1
    return found


def _date_at(tokens: Sequence[Token], i: int, text: str) -> tuple[Date, int] | None:
    """Read `4 May 1811`, `May 4, 1811`, `May 1811`, `4. Mai 1811`, `1811-05-04` or a year."""
    near = [
        (at, token)
        for at, token in enumerate(tokens[i : i + 6], i)
        if token.kind != "mark" or token.key not in ",.-"
    ]
    first = near[0][1] if near and near[0][0] == i else None
    if first is None or (not _is_plain(first) and first.key not in _MONTHS):
        return None
    parts = [token for _, token in near[:3]]
    ends = [at + 1 for at, _ in near[:3]]
    months = [_MONTHS.get(part.key) if part.kind == "word" else None for part in parts]
    days = [_day(part) for part in parts]
    years = [_year(part) for part in parts]
    size, year, month, day = 0, None, None, None
    match months, days, years:
        case [None, int(m), *_], [int(d), *_], _:  # 4 May 1811
            month, day, year = m, d, years[2] if len(years) > 2 else None
            size = 3 if year else 2
        case [int(m), *_], [_, int(d), *_], _:  # May 4, 1811
            month, day, year = m, d, years[2] if len(years) > 2 else None
            size = 3 if year else 2
        case [int(m), *_], _, [_, int(y), *_]:  # May 1811
            month, year, size = m, y, 2
        case _, [_, int(m), int(d)], [int(y), *_] if m <= 12 and _is_iso(text, parts):
            year, month, day, size = y, m, d, 3
        case _, _, [int(y), *_] if first.kind == "number" and _stands_as_year(tokens, i):
            year, size = y, 1
    if not size:
        return None
    printed = text[parts[0].start : parts[size - 1].end]
    return Date(year, month, day, printed), ends[size - 1]


def _is_plain(token: Token) -> bool:
    return token.kind in {"number", "ordinal"}


def _day(token: Token) -> int | None:
    value = token.value
    whole = _is_plain(token) and value is not None and value == int(value) and 1 <= value <= 31
    return int(value) if whole and value is not None else None


def _year(token: Token) -> int | None:
    value = token.value
    fits = token.kind == "number" and value is not None and 1000 <= value <= 2199
    return int(value) if fits and value is not None and value == int(value) else None


def _is_iso(text: str, parts: Sequence[Token]) -> bool:
    return text[parts[0].start : parts[2].end].count("-") == 2


def _stands_as_year(tokens: Sequence[Token], i: int) -> bool:
    """Tell a year from a figure: four digits without a unit, a currency or a mark among them."""
    plain = tokens[i].end - tokens[i].start == 4
    after = tokens[i + 1].key if i + 1 < len(tokens) else ""
    before = tokens[i - 1].key if i else ""
    return plain and after not in _MEASURES and before not in _MEASURES


def _figure_at(tokens: Sequence[Token], i: int, text: str) -> Figure | None:
    token = tokens[i]
    value = token.value
    if value is None or text[token.start : token.end].casefold() == "one":
        return None
    beside = [t.key for t in (*tokens[i + 1 : i + 4], *tokens[max(0, i - 1) : i])]
    measure = next((key for key in beside if key not in "-‑"), "")
    about = any(t.key in BOUNDS for t in tokens[max(0, i - 2) : i])
    return Figure(value, measure, text[token.start : token.end], about)


def _names(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Give where names stand: rows of capitalised words, a sentence's first word alone left out."""
    for capital, run in itertools.groupby(
        range(len(tokens)), key=lambda i: tokens[i].capital and tokens[i].key not in _MONTHS
    ):
        places = list(run)
        if not capital:
            continue
        if _opens(tokens, places[0]) and (len(places) == 1 or tokens[places[0]].key in STOP_WORDS):
            places = places[1:]
        if places:
            yield tokens[places[0]].start, tokens[places[-1]].end


def _opens(tokens: Sequence[Token], i: int) -> bool:
    return i == 0 or all(t.kind == "mark" for t in tokens[:i]) or tokens[i - 1].key in ".:!?"


class Known:
    """The figures, dates and words of cited texts: what a claim's values are looked for in."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._figures: list[list[Figure]] = []
        self._dates: list[Date] = []
        self._stems: set[str] = set()
        for text in texts:
            found = facts_of(text)
            self._figures.append(found.figures)
            self._dates += found.dates
            self._stems.update(stem(word) for word in _plain_words(text))
        self._values = {figure.value for figures in self._figures for figure in figures}
        self._values |= {float(date.year) for date in self._dates if date.year}
        self._values |= {float(date.day) for date in self._dates if date.day}

    def missing(self, facts: Facts) -> tuple[str, ...]:
        """Name the values of a claim that do not stand in the texts, as the claim has them."""
        return (
            *(f.text for f in facts.figures if not (_is_few(f) or self.has_figure(f))),
            *(date.text for date in facts.dates if not self.has_date(date)),
            *(name for name in facts.names if not self.has_name(name)),
        )

    def has_figure(self, figure: Figure) -> bool:
        """Tell whether a figure stands there, as it is, roughly where it says so, or reckoned."""
        thousands = figure.text.partition(".")[2][:3].isdigit() and 1000 * figure.value
        if figure.value in self._values or thousands in self._values:  # 1.250 is 1250 in German
            return True
        return any(
            (figure.about and any(_near(figure, other) for other in figures))
            or _reckoned(figure, figures)
            for figures in self._figures
        )

    def has_date(self, date: Date) -> bool:
        """Tell whether a date stands there, as precise as it is given."""
        year_alone = date.month is None and date.year is not None
        return any(date.agrees(other) for other in self._dates) or (
            year_alone and float(date.year or 0) in self._values
        )

    def has_name(self, name: str) -> bool:
        """Tell whether every word of a name stands there."""
        return all(
            stem(word) in self._stems or len(word) < 2 or word in STOP_WORDS
            for word in _plain_words(name)
        )


def _plain_words(text: str) -> Iterator[str]:
    return (t.key.removesuffix("'s") for t in words_of(tokens_of(text)) if t.kind == "word")


def _is_few(figure: Figure) -> bool:
    """Tell whether a figure is a small one in words, which may count what a page only lists."""
    return figure.text.isalpha() and figure.value <= FEW


def _near(mine: Figure, theirs: Figure) -> bool:
    return math.isclose(mine.value, theirs.value, rel_tol=ABOUT)


def rounds(mine: float, theirs: float) -> bool:
    """Tell whether a figure may be another one rounded: 8 million for 8.2 million."""
    if not mine or not theirs:
        return False
    digits = len(f"{abs(mine):.10g}".replace(".", "").strip("0")) or 1
    magnitude = math.floor(math.log10(abs(theirs)))
    return math.isclose(round(theirs, digits - 1 - magnitude), mine, rel_tol=1e-9)


def _reckoned(mine: Figure, figures: Sequence[Figure]) -> bool:
    """Tell whether a figure is the sum or the difference of two figures of one passage."""
    return any(
        mine.value in (a.value + b.value, abs(a.value - b.value))
        for a, b in itertools.combinations(figures[:12], 2)
    )
