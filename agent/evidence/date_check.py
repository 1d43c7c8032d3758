"""Dates of a claim, each held against the statement that the claim is about."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.counting import dated
from agent.evidence.slots import against, corroborated, find_rival

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.alignment import Alignment
    from agent.evidence.dates import Date
    from agent.evidence.findings import Finding
    from agent.evidence.statements import Ground, Sentence


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
    values = [[told.date for told in found] for found in dated(ground)]
    for date in claim.dates:
        absent = not any(date.agrees(other) for found in values for other in found)
        if absent or _confirmed(date, claim, ground) or _stands(date, values):
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
