"""What follows from the page's figures by simple reckoning: a sum, a difference, a share."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from agent.evidence.claims.sums import (
    SHARE,
    differences,
    portions,
    ratios,
    remainders,
    rests,
    shares,
    sums,
    triples,
)
from agent.evidence.language.units import CURRENCIES, Unit
from agent.evidence.language.vocabulary import NEGATORS, root_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.evidence.language.figures import Figure
    from agent.evidence.language.statements import Ground, Sentence, Statement

YEAR = Unit("time", 365.2425)
RANK = Unit("rank", 1.0)

RECKONED_WITH = 8
"""Figures of one statement that are reckoned with; a table of more gives any number."""

MANY = 20
"""Above this, two counts next to each other are of one crowd."""

PRICES = 12
"""Prices of a page that are reckoned with."""

CROWD = 20
"""Up to here a price is told for as many: `four visitors pay 56 crowns`."""

_PAIR = root_set("both couple pair two together")

REACH = 3
"""Statements apart in which two figures of one unit are set against each other."""

VAGUE = 0.5
"""How far, relatively, `some two centuries` may be from the years it stands for."""

_SUMS = root_set("total altogether together combine overall sum all both either plus whole")
_DIFFERENCES = root_set(
    """more less few fewer long longer short later earlier differ difference by rise fall grow
    increase drop reduce decrease decline another remain rest other left further extra gap margin
    ahead behind lead lower higher cut save late early exceed additional jump shrink improve
    worsen quick fast slow add short exceed lack surplus deficit gain lose"""
)
_REST = root_set("rest remainder remaining balance")
"""Words of a statement that gives its last part as what is left: `and donors paid the rest`."""

_STEPPING = ("from", "to")
_TIMES = root_set("time double twice triple")
_COMPARED = root_set("than previous predict forecast")
"""Words of a statement that sets a figure beside an earlier one: `half a point less than`."""

COMPARING = 7
"""Tokens after a figure among which it is said whether it is more or less."""

_LESS = frozenset("less fewer lower below shorter sooner earlier under cheaper lighter".split())
_MORE = frozenset("more higher above over longer later dearer heavier further extra".split())

_STEP = ("by", "to")
"""What stands before the two figures of a step: `by 150 basis points to 21.5 per cent`."""

_AGAIN = root_set("same double twice again")


def figure_follows(figure: Figure, claim: Sentence, ground: Ground) -> bool:
    """Whether a claim's figure can be reckoned from the page's, as the claim's words say."""
    if _is_span(figure) and _between_years(figure, ground):
        return True
    if _completes(figure, claim, ground):
        return True
    return any(map(figure.says, _reckoned(figure, claim, ground)))


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


def _completes(figure: Figure, claim: Sentence, ground: Ground) -> bool:
    """Whether two figures of a claim come to one of the page's.

    As their sum (`three more than the 18 before`) or the rest: `109 of the 118`, all but nine.
    """
    pairs = [
        (figure, other)
        for other in claim.figures
        if other != figure and bool(other.unit) == bool(figure.unit)
    ]
    totals = [total for pair in pairs for total in sums(pair)]
    if _is_total(claim):
        totals += [rest for pair in pairs for rest in differences(pair)]
    there = [f for s in ground.statements for f in s.sentence.figures] if totals else []
    return any(total.equals(f) and total.bound == "exact" for f in there for total in totals)


def _reckoned(figure: Figure, claim: Sentence, ground: Ground) -> Iterator[Figure]:
    """Give what the figures of a statement come to, and of statements near each other."""
    roots = set(claim.roots)
    adds = bool(_SUMS & roots) or _is_total(claim)
    by = any(comes_after(other, claim, ("by",)) for other in claim.figures)
    takes = by or bool((_DIFFERENCES | NEGATORS) & roots) or _is_compared(claim)
    yield from _charged(claim, ground)
    for statement in ground.statements:
        same = statement.sentence.figures[:RECKONED_WITH]
        near = [*same, *_of_one_kind(same, statement, ground)]
        yield from _alone(figure, same, statement.sentence, roots)
        if adds:
            yield from itertools.chain(sums(near), triples(same))
        left = [] if _REST.isdisjoint(statement.sentence.roots) else _before(statement, ground)
        if takes or left:
            yield from itertools.chain(differences([*left, *near]), remainders([*left, *near]))
        if _TIMES & (figure.nouns | roots):
            yield from ratios(near)


def _charged(claim: Sentence, ground: Ground) -> Iterator[Figure]:
    """Give what prices, and what is told of `each`, come to for as many as a claim counts."""
    figures = [(f, s.sentence) for s in ground.statements for f in s.sentence.figures]
    money = [f for f, _ in figures if f.unit and f.unit.dimension in CURRENCIES][:PRICES]
    yield from sums(money)
    prices = [*money, *[f for f, sentence in figures if "each" in sentence.roots][:PRICES]]
    counts = {f.value for f in claim.figures if f.unit is None and f.value <= CROWD}
    counts |= {2.0} if _PAIR & set(claim.roots) else set()
    for price in prices:
        yield from (price._replace(value=price.value * count) for count in counts)


def _of_one_kind(
    figures: Sequence[Figure], statement: Statement, ground: Ground
) -> Iterator[Figure]:
    """Give the figures of the statements after one that measure what a figure of it does."""
    for later in ground.statements[statement.place + 1 : statement.place + 1 + REACH]:
        for other in later.sentence.figures[:RECKONED_WITH]:
            next_door = later.place == statement.place + 1 and _is_count(other)
            alike = any(f.alike(other) or (next_door and _is_count(f)) for f in figures)
            if other.unit != SHARE and alike:
                yield other


def _before(statement: Statement, ground: Ground) -> list[Figure]:
    """Give the figures of the two statements before one and its own: the whole is among them."""
    near = ground.statements[max(0, statement.place - 2) : statement.place + 1]
    return [f for s in near for f in s.sentence.figures[:RECKONED_WITH]]


def _is_count(figure: Figure) -> bool:
    """Whether a figure counts a good many things: `312 enrolled`, `281 finished`."""
    return figure.unit is None and figure.value > MANY


def _alone(
    figure: Figure, same: Sequence[Figure], page: Sentence, roots: set[str]
) -> Iterator[Figure]:
    """Give what the figures of one statement come to, without more than its own words."""
    yield from _before_it_was(same, page)
    yield from portions(same)
    moved = [f for f in same if comes_after(f, page, _STEPPING)]
    if len(moved) == len(_STEPPING):
        yield from differences(moved)
    steps = [f for f in same if comes_after(f, page, _STEP)]
    if len(steps) == len(_STEP):
        yield from itertools.chain(sums(steps), differences(steps))
    if not _AGAIN.isdisjoint(page.roots):
        yield from (f._replace(value=2 * f.value) for f in same)
    yield from (f._replace(value=f.value - 1, unit=None) for f in same if f.unit == RANK)
    if "other" in roots:
        yield from (f._replace(value=f.value - 1) for f in same if f.value > 1)
    if figure.unit == SHARE:
        yield from shares(same)
        yield from (f._replace(value=100 - f.value) for f in same if f.unit == SHARE)
        yield from rests([f for f in same if f.unit == SHARE])


def _before_it_was(figures: Sequence[Figure], page: Sentence) -> Iterator[Figure]:
    """Give what a figure is more or less than: of `740, 90 less than planned`, 830."""
    compared = not _COMPARED.isdisjoint(page.roots)
    for figure in figures:
        after = {t.form for t in page.tokens[figure.place + 1 : figure.place + COMPARING]}
        pairs = [pair for pair in itertools.permutations(figures, 2) if figure in pair]
        if compared and not after.isdisjoint(_LESS):
            yield from (total for pair in pairs for total in sums(pair))
        if compared and not after.isdisjoint(_MORE):
            yield from (rest for pair in pairs for rest in differences(pair))


def _is_compared(sentence: Sentence) -> bool:
    """Whether a sentence compares: `than` not right before a number, which only bounds it."""
    after = zip(sentence.tokens, sentence.tokens[1:], strict=False)
    return any(one.form == "than" and other.value is None for one, other in after)


def comes_after(figure: Figure, sentence: Sentence, words: Sequence[str]) -> bool:
    """Whether one of these words stands right before a figure."""
    return bool(figure.place) and sentence.tokens[figure.place - 1].form in words


def _is_total(sentence: Sentence) -> bool:
    """Whether a figure of a sentence is what there is in all: `two of the five`, `52 of 82`."""
    forms = [token.form for token in sentence.tokens]
    before = (forms[max(0, f.place - 2) : f.place] for f in sentence.figures)
    return any(near == ["of", "the"] or near[-1:] == ["of"] for near in before)
