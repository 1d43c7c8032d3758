"""Dates that the page gives by counting on from others: `two years later`, `the following year`."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.claims.reckoning import YEAR
from agent.evidence.language.dates import Date
from agent.evidence.language.units import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.language.statements import Ground, Sentence

MONTH = Unit("time", 30.436875)

BASE_REACH = 12
"""Statements back in which the date is looked for that `two years later` counts from."""

EVENT_REACH = 4
"""Tokens after a span among which the `after` or `before` of an event stands."""

KEPT = 64
"""Grounds whose counted dates are kept."""

_LATER = frozenset("later after following next on afterwards thereafter hence".split())
_EARLIER = frozenset("earlier before previously ago previous prior sooner preceding".split())
_LASTING = frozenset("for aged lasted took takes spent after within over".split())
_SEASONS = frozenset("spring summer autumn winter season".split())
_STEPPED = _SEASONS | {"year", "decade"}
_SAFE_DAY = 28
"""The last day of every month."""


class _Step(NamedTuple):
    """So many days on from a date (`ahead`), back from it, or either, told at a token's place.

    `vague` says that it may be no step at all: `the following spring` may be the same year's;
    `explicit` that its words leave no doubt: `five months later`, not `for five months`.
    """

    days: float
    ahead: bool
    back: bool
    place: int
    vague: bool = False
    explicit: bool = False


class Told(NamedTuple):
    """A date that a statement gives, and whether it can be no other.

    It can where the statement counts on from one of several dates, or says for how long.
    """

    date: Date
    sure: bool


@functools.lru_cache(maxsize=KEPT)
def dated(ground: Ground) -> tuple[tuple[Told, ...], ...]:
    """Give the dates of each statement, those that it counts on to among them."""
    found: list[tuple[Told, ...]] = []
    for statement in ground.statements:
        sentence = statement.sentence
        named = tuple(Told(date, sure=True) for date in sentence.dates)
        found.append((*named, *_counted(sentence, found, ground)))
    return tuple(found)


def _counted(
    sentence: Sentence, earlier: Sequence[Sequence[Told]], ground: Ground
) -> Iterator[Told]:
    """Count on from the dates before a step: surely, where the one next before is the only one."""
    for step in _steps(sentence):
        bases = _bases(step, sentence, earlier, ground)
        near = [d for d in sentence.dates if d.place < step.place]
        near = near or [told.date for told in (earlier[-1] if earlier else ())]
        for base in bases:
            moved = list(_moved(base, step))
            sure = step.explicit and near == [base] and len(moved) == 1
            yield from (Told(date, sure) for date in moved)


def _bases(
    step: _Step, sentence: Sentence, earlier: Sequence[Sequence[Told]], ground: Ground
) -> Sequence[Date]:
    """Give the dates that a step may count from: `a year after his death` from any of the page."""
    following = [t.form for t in sentence.tokens[step.place + 1 : step.place + EVENT_REACH]]
    event = next((i for i, form in enumerate(following) if form in {"after", "before"}), None)
    if event is not None and following[event + 1 : event + 2] not in ([], ["."], [","]):
        return [date for statement in ground.statements for date in statement.sentence.dates]
    before = [told.date for found in earlier[-BASE_REACH:] for told in found]
    return [date for date in sentence.dates if date.place < step.place] or before


def _steps(sentence: Sentence) -> Iterator[_Step]:
    yield from _counted_steps(sentence)
    for i, (one, other) in enumerate(itertools.pairwise(sentence.tokens)):
        pair = {one.form, other.form}
        if {one.root, other.root} & _STEPPED:
            ahead, back = bool(pair & _LATER), bool(pair & _EARLIER)
            if ahead or back:
                yield _Step(YEAR.factor, ahead, back, i, bool(pair & _SEASONS))


def _counted_steps(sentence: Sentence) -> Iterator[_Step]:
    """Read `five months later`, `it was four years before`, `for thirty years`, `aged 40`."""
    tokens = sentence.tokens
    for figure in sentence.figures:
        if figure.unit is None or figure.unit.dimension != "time" or figure.size < 1:
            continue
        after = [token.form for token in tokens[figure.place + 1 : figure.place + 6]]
        before = [token.form for token in tokens[max(0, figure.place - 2) : figure.place]]
        ahead, back = not _LATER.isdisjoint(after), not _EARLIER.isdisjoint(after)
        lasting = not (ahead or back) and not _LASTING.isdisjoint(before) and figure.unit == YEAR
        if lasting or "old" in after or ((ahead or back) and "than" in after):
            ahead = back = True
        if back and "was" in before:
            ahead = True
        if ahead or back:
            explicit = ahead != back and not lasting
            yield _Step(figure.size, ahead, back, figure.place, explicit=explicit)


def _moved(base: Date, step: _Step) -> Iterator[Date]:
    if step.vague:
        yield base._replace(place=step.place, month=None, day=None)
    for sign, allowed in ((1, step.ahead), (-1, step.back)):
        if allowed:
            yield from _years_on(base, sign * step.days, step.place)
            yield from _days_on(base, sign * step.days, step.place)


def _years_on(base: Date, days: float, place: int) -> Iterator[Date]:
    """Count years on; part of a year may end in this one or in the next."""
    if base.exact_year is None or base.month is None or abs(days) >= YEAR.factor:
        for years in sorted({int(days // YEAR.factor), int(-(-days // YEAR.factor))}):
            if base.exact_year is not None:
                year = base.exact_year + years
                yield Date(year, year, place=place)


def _days_on(base: Date, days: float, place: int) -> Iterator[Date]:
    """Count months or days on from a date that names its month."""
    if base.month is None or (base.exact_year is None and abs(days) >= YEAR.factor):
        return
    months = days / MONTH.factor
    if abs(months - round(months)) < 0.01:
        total = 12 * (base.exact_year or 2000) + base.month - 1 + round(months)
        year = total // 12 if base.exact_year else None
        yield Date(year, year, total % 12 + 1, base.day, place)
    elif base.day:
        day = dt.date(base.exact_year or 2001, base.month, min(base.day, _SAFE_DAY))
        moved = day + dt.timedelta(days=days + max(0, base.day - _SAFE_DAY))
        year = moved.year if base.exact_year else None
        yield Date(year, year, moved.month, moved.day, place)
