"""What follows from the page's figures and dates by simple reckoning: a sum, a year counted on."""

from __future__ import annotations

import datetime as dt
import itertools
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.dates import Date
from agent.evidence.units import Unit
from agent.evidence.vocabulary import root_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from agent.evidence.figures import Figure
    from agent.evidence.statements import Ground, Sentence

YEAR = Unit("time", 365.2425)
MONTH = Unit("time", 30.436875)
SHARE = Unit("share", 1.0)
WEEK_DAYS = 7.0

DERIVED_FROM = 8
"""Figures of one statement that are reckoned with; a table of more gives any number."""

BASE_REACH = 4
"""Statements back in which the date is looked for that `two years later` counts from."""

VAGUE = 0.5
"""How far, relatively, `some two centuries` may be from the years it stands for."""

_SUMS = root_set("total altogether together combine overall sum all both either plus whole between")
_DIFFERENCES = root_set(
    """more less few fewer long longer short later earlier than differ difference by rise fall grow
    increase drop reduce decrease decline another remain rest other left further extra gap margin
    ahead behind lead lower higher cut save late early exceed additional jump shrink improve
    worsen quick fast slow point"""
)
_COMPARED = root_set("than previous predict forecast")
"""Words of a statement that sets a figure beside an earlier one: `half a point less than`."""

_TIMES = root_set("time double twice triple")
_LATER = frozenset("later after following next on afterwards thereafter hence".split())
_EARLIER = frozenset("earlier before previously ago previous prior sooner preceding".split())
_LASTING = frozenset(
    """for aged within by of over took take takes lasted spent after since stayed served lived at
    some about nearly almost another""".split()
)
_STEPPED = root_set("year spring summer autumn winter season decade")


def figure_follows(figure: Figure, claim: Sentence, ground: Ground) -> bool:
    """Whether a claim's figure can be reckoned from the page's, as the claim's words say."""
    roots = set(claim.roots)
    if _is_span(figure) and _between_years(figure, ground):
        return True
    windows = itertools.pairwise([*ground.statements, ground.statements[-1]])
    for one, other in windows:
        near = one.sentence.figures[:DERIVED_FROM] + other.sentence.figures[:DERIVED_FROM]
        same = one.sentence.figures[:DERIVED_FROM]
        compared = not _COMPARED.isdisjoint(one.sentence.roots)
        if any(map(figure.says, _reckoned(figure, near, same, roots, compared=compared))):
            return True
    return False


def _is_span(figure: Figure) -> bool:
    unit = figure.unit
    return unit is not None and unit.dimension == "time" and unit.factor >= YEAR.factor


def _between_years(figure: Figure, ground: Ground) -> bool:
    sentences = [statement.sentence for statement in ground.statements]
    years = figure.size / YEAR.factor
    slack = VAGUE if figure.unit and figure.unit.factor > YEAR.factor else 0.0
    return any(
        abs(years - abs(a - b)) <= max(slack * years, 0.05)
        for pair in itertools.pairwise([*sentences, sentences[-1]])
        for a, b in itertools.combinations(_years(pair), 2)
    )


def _years(sentences: Iterable[Sentence]) -> list[int]:
    dates = [date for sentence in sentences for date in sentence.dates]
    return [date.exact_year for date in dates if date.exact_year is not None]


def _reckoned(
    figure: Figure,
    near: Sequence[Figure],
    same: Sequence[Figure],
    roots: AbstractSet[str],
    *,
    compared: bool,
) -> Iterator[Figure]:
    """Give what the figures of a statement, or of two next to each other, add up or come to."""
    if _SUMS & roots:
        yield from _sums(near)
    if _DIFFERENCES & roots:
        yield from _differences(near)
    if compared:
        yield from _sums(same)
    if figure.unit == SHARE:
        yield from _shares(same)
        yield from (f._replace(value=100 - f.value) for f in near if f.unit == SHARE)
        yield from _rests([f for f in same if f.unit == SHARE])
    if _TIMES & (figure.nouns | roots):
        yield from _ratios(near)
    if root_set("other") & roots:
        yield from (f._replace(value=f.value - 1) for f in near if f.value > 1)


def _sums(figures: Sequence[Figure]) -> Iterator[Figure]:
    for a, b in itertools.combinations(figures, 2):
        if a.unit == b.unit:
            yield a._replace(value=a.value + b.value)
    for a, b, c in itertools.combinations(figures, 3):
        if a.unit == b.unit == c.unit:
            yield a._replace(value=a.value + b.value + c.value)


def _differences(figures: Sequence[Figure]) -> Iterator[Figure]:
    for a, b in itertools.combinations(figures, 2):
        known = [f.unit for f in (a, b) if f.unit]
        bare = any(f.unit is None and f.nouns for f in (a, b))
        if len({unit.dimension for unit in known}) > 1 or (known and bare):
            continue
        unit = known[0] if known else None
        if a.unit and b.unit and a.unit != b.unit:
            yield a._replace(value=abs(a.size - b.size) / a.unit.factor)
        else:
            yield a._replace(value=abs(a.value - b.value), unit=unit)


def _shares(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Give each figure as a share of a greater one, and what it is more or less in per cent."""
    for a, b in itertools.permutations(figures, 2):
        if a.unit == b.unit and 0 < a.value < b.value:
            yield a._replace(value=100 * a.value / b.value, unit=SHARE)
            yield a._replace(value=100 - 100 * a.value / b.value, unit=SHARE)
            yield a._replace(value=100 * b.value / a.value - 100, unit=SHARE)


def _rests(shares: Sequence[Figure]) -> Iterator[Figure]:
    for a, b in itertools.combinations(shares, 2):
        yield a._replace(value=100 - a.value - b.value)


def _ratios(figures: Sequence[Figure]) -> Iterator[Figure]:
    for a, b in itertools.permutations(figures, 2):
        comparable = (a.unit is None) == (b.unit is None)
        if a.unit and b.unit:
            comparable = a.unit.dimension == b.unit.dimension
        if comparable and 0 < b.size < a.size:
            yield a._replace(value=a.size / b.size, unit=None)


class _Step(NamedTuple):
    """So many days on from a date (`ahead`), back from it, or either, told at a token's place."""

    days: float
    ahead: bool
    back: bool
    place: int


def dates_that_follow(ground: Ground) -> tuple[set[int], set[tuple[int, int]]]:
    """Years, and days as (month, day), that the page reaches by counting: `two years later`."""
    years: set[int] = set()
    days: set[tuple[int, int]] = set()
    bases: list[list[Date]] = []
    for statement in ground.statements:
        sentence = statement.sentence
        earlier = next((found for found in bases[: -BASE_REACH - 1 : -1] if found), [])
        found = [
            moved
            for step in _steps(sentence)
            for base in [d for d in sentence.dates if d.place < step.place] or earlier
            for moved in _moved(base, step)
        ]
        years |= {date.first_year for date in found if date.first_year is not None}
        days |= {(date.month, date.day) for date in found if date.month and date.day}
        bases.append([*sentence.dates, *(date for date in found if date.exact_year)])
    return years, days


def _steps(sentence: Sentence) -> Iterator[_Step]:
    tokens = sentence.tokens
    for figure in sentence.figures:
        if figure.unit is None or figure.unit.dimension != "time" or figure.size < 1:
            continue
        after = [token.form for token in tokens[figure.place + 1 : figure.place + 6]]
        before = [token.form for token in tokens[max(0, figure.place - 2) : figure.place]]
        ahead, back = not _LATER.isdisjoint(after), not _EARLIER.isdisjoint(after)
        if not (ahead or back) and not _LASTING.isdisjoint(before):
            ahead = back = True
        if "old" in after or ((ahead or back) and "than" in after):
            ahead = back = True
        if ahead or back:
            yield _Step(figure.size, ahead, back, figure.place)
    for i, (one, other) in enumerate(itertools.pairwise(tokens)):
        pair = {one.form, other.form}
        if {one.root, other.root} & _STEPPED or pair & {"year", "season"}:
            ahead, back = bool(pair & _LATER), bool(pair & _EARLIER)
            if ahead or back:
                yield _Step(YEAR.factor, ahead, back, i)


def _moved(base: Date, step: _Step) -> Iterator[Date]:
    signs = [sign for sign, allowed in ((1, step.ahead), (-1, step.back)) if allowed]
    for sign in signs:
        if base.exact_year is not None:
            years = round(step.days / YEAR.factor)
            yield Date(base.exact_year + sign * years, base.exact_year + sign * years)
            if step.days % YEAR.factor > 1:
                other = base.exact_year + sign * (int(step.days / YEAR.factor) + 1)
                yield Date(other, other)
        if base.month and base.day and step.days < YEAR.factor:
            day = dt.date(base.exact_year or 2001, base.month, min(base.day, 28))
            moved = day + dt.timedelta(days=sign * step.days + max(0, base.day - 28))
            yield Date(None, None, moved.month, moved.day)
