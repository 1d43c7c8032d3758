"""What figures come to: their sums, differences, shares and ratios, two or three at a time."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from agent.evidence.language.units import CURRENCIES, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.language.figures import Figure

SHARE = Unit("share", 1.0)

WHOLE = 100.0
"""Per cent."""

_CURRENCIES = frozenset(CURRENCIES)


def sums(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Add two figures of one dimension, in the unit of the first."""
    for a, b in itertools.permutations(figures, 2):
        if _comparable(a, b):
            factor = a.unit.factor if a.unit else 1.0
            other = b.size if a.unit and b.unit else b.value * factor
            yield a._replace(value=(a.value * factor + other) / factor)


def triples(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Add three figures of one unit."""
    for a, b, c in itertools.combinations(figures, 3):
        if a.unit == b.unit == c.unit:
            yield a._replace(value=a.value + b.value + c.value)


def remainders(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Give what is left of the greatest of three figures without the other two."""
    for three in itertools.combinations(figures, 3):
        greatest, b, c = sorted(three, key=lambda figure: -figure.size)
        if greatest.unit == b.unit == c.unit and greatest.value > b.value + c.value:
            yield greatest._replace(value=greatest.value - b.value - c.value)


def differences(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Take two figures of one dimension from each other, in the unit of the first."""
    for a, b in itertools.permutations(figures, 2):
        if _comparable(a, b):
            factor = a.unit.factor if a.unit else 1.0
            other = b.size if a.unit and b.unit else b.value * factor
            yield a._replace(value=abs(a.value * factor - other) / factor)


def shares(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Give each figure as a share of a greater one, and what it is more or less in per cent."""
    for a, b in itertools.permutations(figures, 2):
        if a.unit == b.unit and 0 < a.value < b.value:
            yield a._replace(value=100 * a.value / b.value, unit=SHARE)
            yield a._replace(value=100 - 100 * a.value / b.value, unit=SHARE)
            yield a._replace(value=100 * b.value / a.value - 100, unit=SHARE)


def portions(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Give the part of an amount that a share is, and the rest: of `30,000, a third`, 10,000."""
    shares = [figure for figure in figures if figure.unit == SHARE and figure.value < WHOLE]
    for amount in figures if shares else ():
        if amount.unit != SHARE:
            for share in shares:
                yield amount._replace(value=amount.value * share.value / WHOLE)
                yield amount._replace(value=amount.value * (1 - share.value / WHOLE))


def rests(shares: Sequence[Figure]) -> Iterator[Figure]:
    """Give what two shares leave of the whole."""
    for a, b in itertools.combinations(shares, 2):
        yield a._replace(value=100 - a.value - b.value)


def ratios(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Give how many times a figure is as much as a smaller one."""
    for a, b in itertools.permutations(figures, 2):
        same = (a.unit is None) == (b.unit is None)
        if same and _comparable(a, b) and 0 < b.size < a.size:
            yield a._replace(value=a.size / b.size, unit=None)


def _comparable(a: Figure, b: Figure) -> bool:
    """Whether two figures can be added: of one dimension, or one bare: `three years, five on …`."""
    if a.unit and b.unit:
        dimensions = {a.unit.dimension, b.unit.dimension}
        return len(dimensions) == 1 or ("cent" in dimensions and bool(dimensions & _CURRENCIES))
    if a.unit or b.unit:
        bare = a if b.unit else b
        return not bare.nouns
    return True
