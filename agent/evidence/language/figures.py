"""Figures with their units and what they count, and when two of them say the same."""

from __future__ import annotations

import math
from itertools import takewhile
from typing import TYPE_CHECKING, Literal, NamedTuple

from agent.evidence.language.dates import date_places
from agent.evidence.language.units import CURRENCIES, Unit, read_unit, unit_named
from agent.evidence.language.vocabulary import ARTICLES, FUNCTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.language.normalise import Token

Bound = Literal["exact", "about", "more", "less"]

ABOUT = 0.08
"""How far, relatively, `about 500` may be from the figure that it stands for."""

ABOUT_SHARE = 0.12
"""The same for shares: `nearly half` is said of 45 per cent, `almost a third` of 30."""

CONVERSION = 0.02
"""Rounding that a converted figure may carry: 17 miles are given as 27 km."""

WIDE = 1.5
"""`More than 1,000` is said of 1,400, hardly of 4,000."""

_ABOUT = frozenset("about roughly around some approximately circa nearly almost approx c".split())
_MORE = frozenset("more over above least exceeding beyond excess upwards minimum".split())
_LESS = frozenset("less under below fewer most up within maximum".split())
_SCALES = frozenset({"dozen", "hundred", "thousand", "million"})
_STEPS = frozenset("later after earlier before ago sooner since".split())
_LASTING = frozenset("for within last lasted lasts take takes took half".split())
_FRACTIONS = {"half": 50.0, "quarter": 25.0, "third": 100 / 3, "fifth": 20.0, "tenth": 10.0} | {
    f"{parts}th": 100 / parts for parts in (*range(3, 11), 12, 20, 100)
}
_AFTER_SHARE = frozenset("of as less more fewer lower higher smaller larger".split())
_WHOLES = {*map(float, range(2, 11)), 12.0, 20.0, 50.0, 1e2, 1e3, 1e4, 1e5, 1e6}
_SHARE = Unit("share", 1.0)
_PASSED = ARTICLES | CURRENCIES | {"half"}
"""Words that may stand between `more than` and its number."""


class Figure(NamedTuple):
    """A number of a text: `nouns` are the roots after it (what it counts), `place` its index."""

    value: float
    unit: Unit | None
    nouns: frozenset[str]
    bound: Bound
    place: int

    @property
    def size(self) -> float:
        """The value in the base unit of its dimension."""
        return self.value * self.unit.factor if self.unit else self.value

    @property
    def _about(self) -> float:
        return ABOUT_SHARE if self.unit and self.unit.dimension == "share" else ABOUT

    def equals(self, other: Figure) -> bool:
        """Whether both name the same amount of the same unit; about the same, for shares."""
        share = self.unit is not None and self.unit.dimension == "share"
        tolerance = ABOUT_SHARE if share and self.bound == "about" else 1e-9
        return self.unit == other.unit and _close(self.value, other.value, tolerance)

    def says(self, other: Figure) -> bool:
        """Whether this figure, as a claim, holds of `other`, the page's."""
        if self.unit and other.unit and self.unit.dimension != other.unit.dimension:
            return False
        converted = bool(self.unit and other.unit and self.unit.factor != other.unit.factor)
        mine, theirs = (self.size, other.size) if converted else (self.value, other.value)
        if _close(mine, theirs, CONVERSION if converted else 1e-9):
            return True
        if (self.bound == other.bound and self.bound != "about") or bool(self.unit) != bool(
            other.unit
        ):
            return False
        if self.bound == "more":
            return mine <= theirs <= WIDE * mine
        if self.bound == "less":
            return mine / WIDE <= theirs <= mine
        return self.bound == "about" and _close(mine, theirs, self._about)

    def rounds(self, other: Figure) -> bool:
        """Whether this may be `other` rounded without saying so: 8 million for 8.2 million."""
        if not self.value or not other.value:
            return False
        digits = len(f"{self.value:.10g}".replace(".", "").strip("0")) or 1
        magnitude = math.floor(math.log10(abs(other.value)))
        return _close(round(other.value, digits - 1 - magnitude), self.value, 1e-9)

    def alike(self, other: Figure) -> bool:
        """Whether both count or measure the same kind of thing."""
        if self.unit and other.unit:
            if self.unit.dimension == "time":
                return self.unit == other.unit or self.value == other.value
            if self.unit.dimension == "rank":
                bare = not self.nouns or not other.nouns
                return other.unit == self.unit and (bare or bool(self.nouns & other.nouns))
            return self.unit.dimension == other.unit.dimension
        return not (self.unit or other.unit) and bool(self.nouns & other.nouns)


def find_figures(tokens: Sequence[Token]) -> list[Figure]:
    """Find the figures of a sentence, dates left out; `1 hour 22 minutes` is one figure."""
    dated = date_places(tokens)
    found: list[Figure] = []
    for i, token in enumerate(tokens):
        figure = None if i in dated else _figure_at(tokens, i)
        if figure is None or (figure.unit != _SHARE and _is_pronoun(token, tokens[i + 1 : i + 2])):
            continue
        if found and _compound(found[-1], figure):
            figure = _sum(found.pop(), figure)
        found.append(figure)
    return found


def _figure_at(tokens: Sequence[Token], i: int) -> Figure | None:
    token, bound = tokens[i], _bound(tokens, i)
    if token.root in _FRACTIONS or token.form in {"a", "an"}:
        return _in_words(tokens, i, bound)
    if token.kind == "clock":
        hours, minutes = token.raw.split(":")
        return Figure(60.0 * int(hours) + int(minutes), Unit("clock", 1), frozenset(), bound, i)
    if token.kind == "ordinal" and token.value is not None:
        return Figure(token.value, Unit("rank", 1), counted(tokens[i + 1 :]), bound, i)
    return _number_at(tokens, i, bound)


def _in_words(tokens: Sequence[Token], i: int, bound: Bound) -> Figure | None:
    """Read `two thirds`, `a year and …`, `for an hour`, `half an hour`."""
    token, before = tokens[i], tokens[i - 1] if i else None
    following = tokens[i + 1].form if i + 1 < len(tokens) else "."
    if token.form in {"a", "an"}:
        unit, _ = read_unit(tokens[i + 1 : i + 2])
        joined = [t.form for t in tokens[i + 2 : i + 3]] == ["and"]
        lasting = before is not None and before.form in _LASTING
        half = 0.5 if before is not None and before.form == "half" else 1.0
        stepped = [t.form for t in tokens[i + 2 : i + 3]] and tokens[i + 2].form in _STEPS
        alone = joined or lasting or stepped or half < 1
        return Figure(half, unit, frozenset(), bound, i) if unit and alone else None
    if token.form == "half" and following in {"a", "an"} and read_unit(tokens[i + 2 : i + 3])[0]:
        return None
    if _is_fraction(token, before, following):
        share = _FRACTIONS[token.root] * (before.value if before and before.value else 1.0)
        return Figure(share, _SHARE, frozenset(), "about" if bound == "exact" else bound, i)
    if token.kind == "ordinal" and token.value is not None:
        return Figure(token.value, Unit("rank", 1), counted(tokens[i + 1 :]), bound, i)
    return _number_at(tokens, i, bound)


def _is_round(tokens: Sequence[Token], i: int) -> bool:
    """Whether a number is a scale alone: `several thousand`, `hundreds of`."""
    scale = tokens[i].raw.casefold().removesuffix("s") in _SCALES
    before = tokens[i - 1].form if i else ""
    return scale and before != "a"


def _number_at(tokens: Sequence[Token], i: int, bound: Bound) -> Figure | None:
    token, before = tokens[i], tokens[i - 1] if i else None
    fraction_follows = i + 1 < len(tokens) and tokens[i + 1].root in _FRACTIONS
    counted_out = any(_out_of(tokens, i - n) == token.value for n in (2, 3, 4) if i >= n)
    if token.kind != "number" or token.value is None or fraction_follows or counted_out:
        return None
    if _is_round(tokens, i) or _is_version(tokens, i):
        return None
    whole = _out_of(tokens, i)
    if whole:
        return Figure(100 * token.value / whole, _SHARE, frozenset(), bound, i)
    if _opens_range(tokens, i):
        end = _figure_at(tokens, i + 2)
        return end._replace(value=token.value, place=i) if end else None
    unit, taken = read_unit(tokens[i + 1 : i + 4])
    if unit is None and before and before.root in CURRENCIES:
        unit = unit_named(before.root)
    return Figure(token.value, unit, counted(tokens[i + 1 + taken :]), bound, i)


def _is_version(tokens: Sequence[Token], i: int) -> bool:
    """Whether a number is a part of the name before it: `Quillpress 5.3`, `CG-77`."""
    joined = i > 1 and tokens[i - 1].form == "-"
    before = tokens[i - 1 - joined] if i > joined else None
    if before is None or before.kind != "word" or before.root in FUNCTION:
        return False
    if joined:
        return before.raw.isupper()
    plain = "." in tokens[i].raw and not read_unit(tokens[i + 1 : i + 4])[0]
    return plain and before.raw[0].isupper()


def _opens_range(tokens: Sequence[Token], i: int) -> bool:
    """Whether a number begins a range whose end has the unit: `between 24 and 80 rows`."""
    if [t.kind for t in tokens[i + 2 : i + 3]] != ["number"]:
        return False
    ranged = i > 0 and tokens[i - 1].form in {"between", "from"}
    return tokens[i + 1].form == "-" or (ranged and tokens[i + 1].form in {"and", "to"})


def _is_fraction(token: Token, before: Token | None, following: str) -> bool:
    """Whether a word such as `third` is a share (`a third of`) and not a place in a row."""
    if token.root == "half":
        return True
    if before is None or not (before.form in {"a", "one"} or before.kind == "number"):
        return False
    return token.form.endswith("s") or not following[0].isalpha() or following in _AFTER_SHARE


def counted(after: Sequence[Token]) -> frozenset[str]:
    """Roots of the content words that follow a number directly: what it counts.

    `six of the eleven tracks` are tracks, as are the eleven.
    """
    if [token.form for token in after[:2]] == ["of", "the"] and len(after) > 2:
        after = after[3:] if after[2].value is not None else after[2:]
    direct = takewhile(lambda t: t.kind == "word" or t.form == "-", after[:4])
    words = (t for t in direct if t.form not in {"-", "most"})
    named = takewhile(lambda t: t.root not in FUNCTION, words)
    return frozenset(token.root for token in named)


def _bound(tokens: Sequence[Token], i: int) -> Bound:
    before = [token.form for token in tokens[max(0, i - 5) : i] if token.root not in _PASSED]
    near = set(before[-2:])
    if "not" in before or "no" in before:
        return "exact"
    if near & _MORE and (
        "than" in near or near & {"over", "above", "least", "exceeding", "minimum"}
    ):
        return "more"
    if near & {"nearly", "almost"}:
        return "about"
    limited = near & {"than", "under", "below", "to", "maximum", "within"} or before[-2:] == [
        "at",
        "most",
    ]
    if near & _LESS and limited:
        return "less"
    return "about" if near & _ABOUT else "exact"


def _out_of(tokens: Sequence[Token], i: int) -> float | None:
    """Read the whole of a share at a number's place.

    It is 100 in `91 in 100`, `91 out of 100`, `one in a hundred`, and 3 in `one pipe in three`.
    """
    value, at = tokens[i].value, i + 1
    if value is None or tokens[i].kind != "number":
        return None
    apart = [t.form for t in tokens[i + 2 : i + 4]] == ["out", "of"]
    apart = apart or (value == 1 and [t.form for t in tokens[i + 2 : i + 3]] == ["in"])
    at += apart
    link = [t.form for t in tokens[at : at + 2]]
    size = 2 if link == ["out", "of"] else 1 if link[:1] == ["in"] else 0
    size += bool(size) and [t.form for t in tokens[at + size : at + size + 1]] == ["a"]
    whole = tokens[at + size] if size and at + size < len(tokens) else None
    if whole is None or whole.value not in _WHOLES or whole.kind != "number":
        return None
    if apart and link[:1] == ["in"] and _is_named(tokens[at + size + 1 : at + size + 2]):
        return None
    return whole.value if whole.value > value else None


def _is_named(after: Sequence[Token]) -> bool:
    """Whether a number is followed by what it counts: `one death in three years`."""
    return any(token.kind == "word" and token.root not in FUNCTION for token in after)


def _is_pronoun(token: Token, after: Sequence[Token]) -> bool:
    """Whether `one` is no number: `one of the …`, `the one that`."""
    return token.raw.casefold() == "one" and not (after and read_unit(after)[0])


def _compound(first: Figure, second: Figure) -> bool:
    """Whether two figures are parts of one: `1 hour and 22 minutes`."""
    if not (first.unit and second.unit) or first.unit.dimension != second.unit.dimension:
        return False
    near = second.place - first.place <= 3
    smaller = second.unit.factor < first.unit.factor
    return near and smaller and 0 < second.size < first.unit.factor


def _sum(first: Figure, second: Figure) -> Figure:
    assert first.unit is not None
    assert second.unit is not None
    total = (first.size + second.size) / second.unit.factor
    return Figure(total, second.unit, second.nouns, first.bound, first.place)


def _close(one: float, other: float, tolerance: float) -> bool:
    return abs(one - other) <= tolerance * max(abs(one), abs(other))
