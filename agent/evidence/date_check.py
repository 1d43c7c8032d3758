"""Dates of a claim, each held against the statement that the claim is about."""

from __future__ import annotations

import itertools
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.figure_check import YEAR
from agent.evidence.slots import against, corroborated, find_rival
from agent.evidence.vocabulary import root_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.alignment import Alignment
    from agent.evidence.dates import Date
    from agent.evidence.findings import Finding
    from agent.evidence.statements import Ground, Sentence

STEPS = root_set("later earlier next following previous before ago")
"""Words that count on from a year by one."""


@dataclass(frozen=True, slots=True)
class _DateSlot:
    date: Date
    claim: Sentence
    least_absent: float = 0.35
    least_elsewhere: float = 0.7

    def holds(self, value: Date, /) -> bool:
        return self.date.agrees(value)

    def rivals(self, value: Date, /) -> bool:
        return not any(mine.agrees(value) for mine in self.claim.dates)


def check_dates(claim: Sentence, ground: Ground, alignment: Alignment) -> Finding | None:
    """Find the first date of a claim in whose place the page has another one."""
    values = [statement.sentence.dates for statement in ground.statements]
    reachable = _reachable_years(ground) if claim.dates else set()
    for date in claim.dates:
        counted = date.month is None and date.exact_year in reachable
        if counted or _confirmed(date, claim, ground) or _stands(date, values):
            continue
        missed = _near_miss(date, ground, alignment)
        if missed:
            return against(ground, *missed, claim, date.place)
        found = find_rival(_DateSlot(date, claim), values, alignment)
        if found:
            return against(ground, found[0], found[1].place, claim, date.place)
    return None


def _near_miss(date: Date, ground: Ground, alignment: Alignment) -> tuple[int, int] | None:
    """Find a full date of the page that differs from a claim's in one of day, month and year.

    Two such dates are hardly those of two events, so little else must agree.
    """
    mine = (date.day, date.month, date.exact_year)
    found = [
        (alignment.score[statement.place], statement.place, other.place)
        for statement in ground.statements
        for other in statement.sentence.dates
        if None not in mine
        and sum(map(operator.eq, mine, (other.day, other.month, other.exact_year))) == 2
    ]
    return max(found)[1:] if found else None


def _confirmed(date: Date, claim: Sentence, ground: Ground) -> bool:
    """Whether a statement has the date together with another value of the claim."""
    return any(
        date.stands_in(s.sentence.dates) and corroborated(claim, s.sentence)
        for s in ground.statements
    )


def _stands(date: Date, values: Sequence[Sequence[Date]]) -> bool:
    """Whether a month and year, or day, stand on the page: these meet by no accident."""
    return date.month is not None and any(
        date.agrees(other) and other.month and other.exact_year
        for found in values
        for other in found
    )


def _reachable_years(ground: Ground) -> set[int]:
    """Years that a statement reaches by counting: `two years later`, `the year before`."""
    found: set[int] = set()
    near: list[int] = []
    for statement in ground.statements:
        sentence = statement.sentence
        own = [date.exact_year for date in sentence.dates if date.exact_year is not None]
        spans = [f.value for f in sentence.figures if f.unit == YEAR]
        if _steps_a_year(sentence.roots):
            spans.append(1.0)
        for year, span in itertools.product([*near, *own], spans):
            found |= {int(year + span), int(year - span)}
        near = own
    return found


def _steps_a_year(roots: Sequence[str]) -> bool:
    """Whether a sentence counts on by a year: `a year later`, `the following year`."""
    return any(
        "year" in {one, other} and not STEPS.isdisjoint((one, other))
        for one, other in itertools.pairwise(roots)
    )
