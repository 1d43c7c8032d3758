"""A figure or date of a claim against the one that the page has where the claim belongs.

Writers bring facts together in their own words, but they take figures and dates from the page, or
reckon with them. One that stands nowhere and cannot be reckoned is wrong if the page has another of
its kind where the claim's other words stand; how many of these do matters little. One that stands
elsewhere is wrong if they stand clearly more around the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.claims.alignment import forms_on_page
from agent.evidence.claims.counting import dated
from agent.evidence.claims.reckoning import comes_after, figure_follows
from agent.evidence.claims.slots import against, corroborated
from agent.evidence.claims.surroundings import around, clearest
from agent.evidence.language.thesaurus import opposites, synonyms
from agent.evidence.language.vocabulary import DENIALS, NEGATORS, root_set

if TYPE_CHECKING:
    from agent.evidence.claims.findings import Finding
    from agent.evidence.claims.surroundings import Met
    from agent.evidence.language.dates import Date
    from agent.evidence.language.figures import Figure
    from agent.evidence.language.statements import Ground, Sentence, Statement

LEAST = 0.15
"""Share of the claim that must stand around the page's value; most is in other words."""

LEAST_DATE = 0.06
"""The same for dates, which are hardly ever a writer's own."""

LEAST_SMALL = 0.45
"""The same for a small number without unit: it may count what the page lists."""

LEAST_RANK = 0.5
"""The same for a place in a row: many things are the first of their kind."""

LEAST_ELSEWHERE = 0.25
"""The same where the page has the claim's value too, elsewhere."""

COUNTABLE = 10
"""Up to here a figure may be counted by the writer (`two brothers`) where the page lists them."""

PAIR = 2
"""Up to here a figure may be no more than `a` or `both`."""

NEVER = 2.0
"""A share that nothing reaches."""

_EACH = ("every", "each", "per")
"""Words before a number that only says in what steps something is told: `every 100 florins`."""

SUPPOSED = root_set("if someone anyone somebody anybody whoever suppose imagine")
"""Words of a claim that puts a case: its figure need only be within the page's limit."""


def check_stand_ins(claim: Sentence, ground: Ground) -> Finding | None:
    """Find the first figure or date of a claim in whose place the page has another one."""
    for figure in claim.figures:
        met = _figure_instead(figure, claim, ground)
        if met:
            return against(ground, met.statement.place, met.place, claim, figure.place)
    for date in claim.dates:
        met = _date_instead(date, claim, ground)
        if met:
            return against(ground, met.statement.place, met.place, claim, date.place)
    return None


def _figure_instead(figure: Figure, claim: Sentence, ground: Ground) -> Met | None:
    there = [(s, f) for s in ground.statements for f in s.sentence.figures]
    own = [(s, f) for s, f in there if figure.says(f) or figure.rounds(f)]
    if figure_follows(figure, claim, ground) or (own and _says_little(figure)):
        return None
    if comes_after(figure, claim, _EACH):
        return None
    if any(s.passage.kind == "table" or corroborated(claim, s.sentence) for s, _ in own):
        return None
    places = around(claim, frozenset({claim.tokens[figure.place].root}), ground)
    nouns = figure.nouns | {form for noun in figure.nouns for form in forms_on_page(noun, ground)}
    rivals = [
        met
        for statement, other in there
        if statement.passage.kind != "table"
        and not any(mine.says(other) for mine in claim.figures)
        and not _within(figure, other, claim)
        and (met := places.met(statement, other.place)).share >= _least(figure, other, nouns)
    ]
    return clearest((places.met(s, f.place) for s, f in own), rivals, LEAST_ELSEWHERE)


def _says_little(figure: Figure) -> bool:
    """Whether a figure may be told of many things of a page: a small number, a place in a row."""
    rank = figure.unit is not None and figure.unit.dimension == "rank"
    return rank or (figure.unit is None and figure.value <= COUNTABLE)


def _within(figure: Figure, other: Figure, claim: Sentence) -> bool:
    """Whether a claim puts a case within the page's limit: `if you watch six hours`."""
    if SUPPOSED.isdisjoint(claim.roots):
        return False
    less, more = other.bound == "less", other.bound == "more"
    return (less and figure.size < other.size) or (more and figure.size > other.size)


def _least(figure: Figure, other: Figure, nouns: frozenset[str]) -> float:
    """Share of the claim to be met around another figure for it to stand in the claim's place."""
    alike = figure._replace(nouns=nouns).alike(other)
    if figure.unit is not None and figure.unit.dimension == "rank":
        return LEAST_RANK if alike else NEVER
    if figure.unit or other.unit:
        spans = figure.unit and other.unit and figure.unit.dimension == other.unit.dimension
        return LEAST if alike else LEAST_SMALL if spans else NEVER
    if figure.value > COUNTABLE and other.value > COUNTABLE:
        return LEAST
    return LEAST if alike and figure.value > PAIR else LEAST_SMALL


def _date_instead(date: Date, claim: Sentence, ground: Ground) -> Met | None:
    if date.exact_year is None and not (NEGATORS | DENIALS).isdisjoint(claim.roots):
        return None  # what is forbidden until November may be done from then on
    timeline = zip(ground.statements, dated(ground), strict=True)
    there = [(statement, told) for statement, dates in timeline for told in dates]
    named = [(s, told.date) for s, told in there if date.agrees(told.date)]
    own = [(s, other) for s, other in named if other.month or not date.month]
    if any(s.passage.kind == "table" or corroborated(claim, s.sentence) for s, _ in named):
        return None
    places = around(claim, _own_roots(date, claim), ground)
    rivals = [
        met
        for statement, (other, sure) in there
        if sure and _can_be_meant(date, other, claim, statement)
        for met in [places.met(statement, other.place)]
        if (met.share >= LEAST_DATE and (own or not named)) or _near_miss(date, other)
    ]
    return clearest((places.met(s, d.place) for s, d in own), rivals, LEAST_ELSEWHERE)


def _can_be_meant(date: Date, other: Date, claim: Sentence, statement: Statement) -> bool:
    """Whether another date can be in the place of a claim's: of its sort, and not used there."""
    if not _same_sort(date, other) or any(mine.agrees(other) for mine in claim.dates):
        return False
    if date.exact_year is None and not NEGATORS.isdisjoint(statement.sentence.roots):
        return False  # what there is none of in February there may be in March
    vague = date.day is None and date.exact_year is None
    return not (vague and _turned(claim, statement))


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
    pairs = zip(
        (date.day, date.month, date.exact_year),
        (other.day, other.month, other.exact_year),
        strict=True,
    )
    parts = [mine == theirs for mine, theirs in pairs if mine is not None and theirs is not None]
    return len(parts) > 1 and parts.count(False) == 1


def _turned(claim: Sentence, statement: Statement) -> bool:
    """Whether a statement says the contrary of something in the claim: `open from`, `shut in`."""
    words = {form for root in claim.content for form in synonyms(root)}
    return any(opposites(word) & statement.sentence.content for word in words)
