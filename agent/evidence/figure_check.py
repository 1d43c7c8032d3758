"""Figures of a claim, each held against the statement that the claim is about."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.slots import NEVER, Slot, against, find_rival
from agent.evidence.units import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.alignment import Alignment
    from agent.evidence.figures import Figure
    from agent.evidence.findings import Finding
    from agent.evidence.statements import Ground, Sentence

COUNTABLE = 12
"""Up to here a figure may be counted by the writer (`two brothers`) where the page lists them."""

DERIVED_FROM = 8
"""Figures of one statement that are added and subtracted; a table of more gives any number."""

YEAR = Unit("time", 365.2425)
SHARE = Unit("share", 1.0)


@dataclass(frozen=True, slots=True)
class _Alike:
    """The slot of a figure among those with its unit or noun, which is half the proof."""

    figure: Figure
    claim: Sentence
    least_absent: float = 0.15
    least_elsewhere: float = 0.6

    def holds(self, value: Figure, /) -> bool:
        return self.figure.says(value) or self.figure.rounds(value)

    def rivals(self, value: Figure, /) -> bool:
        used = any(mine.says(value) for mine in self.claim.figures)
        return not used and self.figure.alike(value)


@dataclass(frozen=True, slots=True)
class _Bare:
    """The slot of a figure without unit among all such; only a close statement can tell."""

    figure: Figure
    claim: Sentence
    least_absent: float = 0.6
    least_elsewhere: float = NEVER

    def holds(self, value: Figure, /) -> bool:
        return self.figure.says(value) or self.figure.rounds(value)

    def rivals(self, value: Figure, /) -> bool:
        if self.figure.value <= COUNTABLE or self.figure.unit or value.unit:
            return False
        return not any(mine.says(value) for mine in self.claim.figures)


def check_figures(claim: Sentence, ground: Ground, alignment: Alignment) -> Finding | None:
    """Find the first figure of a claim in whose place the page has another one."""
    values = [statement.sentence.figures for statement in ground.statements]
    for figure in claim.figures:
        if _derived(figure, ground):
            continue
        slots: tuple[Slot[Figure], ...] = (_Alike(figure, claim), _Bare(figure, claim))
        for slot in slots:
            found = find_rival(slot, values, alignment)
            if found:
                return against(ground, found[0], found[1].place, claim, figure.place)
    return None


def _derived(figure: Figure, ground: Ground) -> bool:
    """Whether a figure follows from the page's by simple arithmetic within a statement or two."""
    sentences = [statement.sentence for statement in ground.statements]
    if figure.unit and figure.unit.dimension == "time":
        years = round(figure.size / YEAR.factor, 2)
        return any(
            years == abs(a - b)
            for pair in itertools.pairwise([*sentences, sentences[-1]])
            for a, b in itertools.combinations(_years(pair), 2)
        )
    return any(
        figure.equals(result)
        for sentence in sentences
        for a, b in itertools.permutations(sentence.figures[:DERIVED_FROM], 2)
        for result in _results(a, b)
    )


def _years(sentences: Sequence[Sentence]) -> list[int]:
    dates = [date for sentence in sentences for date in sentence.dates]
    return [date.exact_year for date in dates if date.exact_year is not None]


def _results(a: Figure, b: Figure) -> Iterator[Figure]:
    """Sum, difference and ratio of two figures of one kind."""
    if a.unit != b.unit:
        return
    if a.bound == b.bound and (a.unit or a.nouns & b.nouns or not (a.nouns and b.nouns)):
        yield a._replace(value=a.value + b.value)
        yield a._replace(value=abs(a.value - b.value))
    if b.value and a.value < b.value:
        yield a._replace(value=100 * a.value / b.value, unit=SHARE)
