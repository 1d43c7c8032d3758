"""A value of a claim that the page has nowhere, against the value it has where the claim belongs.

Writers bring facts together in their own words, but they take figures, dates and names from the
page, or reckon with them. One that stands nowhere and cannot be reckoned is wrong if the page has
another of its kind where the claim's other words stand; how many of these do matters little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.alignment import forms_on_page
from agent.evidence.derive import dates_that_follow, figure_follows
from agent.evidence.slots import against
from agent.evidence.surroundings import around
from agent.evidence.thesaurus import opposites, synonyms

if TYPE_CHECKING:
    from agent.evidence.dates import Date
    from agent.evidence.figures import Figure
    from agent.evidence.findings import Finding
    from agent.evidence.statements import Ground, Sentence, Statement

LEAST = 0.15
"""Share of the claim that must stand around the page's value; most is in other words."""

LEAST_SMALL = 0.45
"""The same for a small number without unit: it may count what the page lists."""

LEAST_RANK = 0.5
"""The same for a place in a row: many things are the first of their kind."""

COUNTABLE = 10
"""Up to here a figure may be counted by the writer (`two brothers`) where the page lists them."""


def check_stand_ins(claim: Sentence, ground: Ground) -> Finding | None:
    """Find the first figure or date of a claim that the page has nowhere, and has another for."""
    for figure in claim.figures:
        found = _figure_instead(figure, claim, ground)
        if found:
            return found
    reached = dates_that_follow(ground) if claim.dates else None
    for date in claim.dates:
        counted = reached is not None and _counted(date, *reached)
        found = None if counted else _date_instead(date, claim, ground)
        if found:
            return found
    return None


def _figure_instead(figure: Figure, claim: Sentence, ground: Ground) -> Finding | None:
    there = [(s, f) for s in ground.statements for f in s.sentence.figures]
    if any(figure.says(f) or figure.rounds(f) for _, f in there):
        return None
    if figure_follows(figure, claim, ground):
        return None
    places = around(claim, frozenset({claim.tokens[figure.place].root}), ground)
    nouns = figure.nouns | {form for noun in figure.nouns for form in forms_on_page(noun, ground)}
    rivals = [
        (places.at(statement.place, other.place) - _least(figure, other, nouns), statement, other)
        for statement, other in there
        if not any(mine.says(other) for mine in claim.figures)
    ]
    best = max(rivals, key=lambda rival: rival[0], default=None)
    if best is None or best[0] < 0:
        return None
    return against(ground, best[1].place, best[2].place, claim, figure.place)


def _least(figure: Figure, other: Figure, nouns: frozenset[str]) -> float:
    """Share of the claim to be met around another figure for it to stand in the claim's place."""
    alike = figure._replace(nouns=nouns).alike(other)
    if figure.unit is not None and figure.unit.dimension == "rank":
        return LEAST_RANK if alike else 2.0
    if figure.unit or other.unit:
        return LEAST if alike else 2.0
    if figure.value > COUNTABLE and other.value > COUNTABLE:
        return LEAST
    return LEAST if alike and figure.value > 2 else LEAST_SMALL


def _counted(date: Date, years: set[int], days: set[tuple[int, int]]) -> bool:
    if date.month is None:
        return date.exact_year in years or (date.exact_year is None and _spans(date, years))
    return date.day is not None and (date.month, date.day) in days


def _spans(date: Date, years: set[int]) -> bool:
    return any((date.first_year or 0) <= year <= (date.last_year or 0) for year in years)


def _date_instead(date: Date, claim: Sentence, ground: Ground) -> Finding | None:
    there = [(s, d) for s in ground.statements for d in s.sentence.dates]
    if any(date.agrees(other) for _, other in there):
        return None
    places = around(claim, _own_roots(date, claim), ground)
    found: list[tuple[float, Statement, Date]] = []
    for statement, other in there:
        if not _same_sort(date, other) or any(mine.agrees(other) for mine in claim.dates):
            continue
        if date.day is None and date.exact_year is None and _turned(claim, statement):
            continue
        met = places.at(statement.place, other.place)
        if met >= LEAST or _near_miss(date, other):
            found.append((met, statement, other))
    if not found:
        return None
    _, statement, other = max(found, key=lambda f: f[0])
    return against(ground, statement.place, other.place, claim, date.place)


def _own_roots(date: Date, claim: Sentence) -> frozenset[str]:
    near = claim.tokens[max(0, date.place - 2) : date.place + 3]
    numbers = frozenset(token.root for token in near if token.value is not None)
    return numbers | {claim.tokens[date.place].root}


def _same_sort(date: Date, other: Date) -> bool:
    """Whether two dates name a year both, or a month both."""
    years = date.exact_year is not None and other.exact_year is not None
    return years or (date.month is not None and other.month is not None)


def _near_miss(date: Date, other: Date) -> bool:
    """Whether two dates of two parts or more differ in one: hardly those of two events."""
    parts = [
        (mine, theirs)
        for mine, theirs in (
            (date.day, other.day),
            (date.month, other.month),
            (date.exact_year, other.exact_year),
        )
        if mine is not None and theirs is not None
    ]
    return len(parts) > 1 and sum(mine != theirs for mine, theirs in parts) == 1


def _turned(claim: Sentence, statement: Statement) -> bool:
    """Whether a statement says the contrary of something in the claim: `open from`, `shut in`."""
    words = {form for root in claim.content for form in synonyms(root)}
    return any(opposites(word) & statement.sentence.content for word in words)
