"""Figures of a claim, each held against the statement that the claim is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.claims.alignment import forms_on_page
from agent.evidence.claims.nearness import beside_other
from agent.evidence.claims.ranges import find_ranges
from agent.evidence.claims.reckoning import figure_follows
from agent.evidence.claims.slots import against, plain_words
from agent.evidence.language.vocabulary import root_set

if TYPE_CHECKING:
    from agent.evidence.claims.alignment import Alignment
    from agent.evidence.claims.findings import Finding
    from agent.evidence.language.figures import Figure
    from agent.evidence.language.statements import Ground, Sentence

CROSSED = 0.4
"""Share of the claim's other words in the statement in which its figure stands beside others."""

LONG = 4
"""Digits of a number that another number has in another order by no accident."""

EARLIER = root_set("from than before earlier previous previously former ago prior last had since")


def check_figures(claim: Sentence, ground: Ground, alignment: Alignment) -> Finding | None:
    """Find the first figure of a claim in whose place the page has another one."""
    ranged = _other_range(claim, ground)
    if ranged:
        return ranged
    missed = _near_miss(claim, ground)
    if missed:
        return missed
    for figure in claim.figures:
        if figure_follows(figure, claim, ground) or _confirmed(figure, claim, ground):
            continue
        crossed = _beside_other(figure, claim, ground, alignment)
        if crossed:
            return against(ground, *crossed, claim, figure.place)
    return None


def _other_range(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a range of the page that has one end of a claim's range and another other end."""
    theirs = [(s, r) for s in ground.statements for r in find_ranges(s.sentence.tokens)]
    for mine in find_ranges(claim.tokens):
        ends = {mine.low, mine.high}
        if any(ends <= {other.low, other.high} for _, other in theirs):
            continue
        for statement, other in theirs:
            if mine.low == other.low or mine.high == other.high:
                return against(ground, statement.place, other.place, claim, mine.place)
    return None


def _near_miss(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a long number of the page with the digits of a claim's in another order.

    Two such numbers are hardly those of two things, so nothing else need agree.
    """
    theirs = [(s, f) for s in ground.statements for f in s.sentence.figures]
    for mine in claim.figures:
        digits = f"{mine.value:.10g}".strip("0")
        if len(digits) < LONG or any(mine.says(f) or mine.rounds(f) for _, f in theirs):
            continue
        for statement, other in theirs:
            same = sorted(f"{other.value:.10g}".strip("0")) == sorted(digits)
            if same and mine.unit == other.unit and not figure_follows(mine, claim, ground):
                return against(ground, statement.place, other.place, claim, mine.place)
    return None


def _confirmed(figure: Figure, claim: Sentence, ground: Ground) -> bool:
    """Whether a statement has the figure together with a date of the claim."""
    return any(
        any(map(figure.says, s.sentence.figures))
        and any(date.agrees(other) for date in claim.dates for other in s.sentence.dates)
        for s in ground.statements
    )


def _beside_other(
    figure: Figure, claim: Sentence, ground: Ground, alignment: Alignment
) -> tuple[int, int] | None:
    """Find where one statement has the figure beside other words and another beside the claim's.

    Gives the place of the statement and of the other figure in it. What was before (`from 8`,
    `than 8`) is told in too many ways to be told apart from what is.
    """
    if not EARLIER.isdisjoint(claim.roots):
        return None
    having = [s for s in ground.statements if any(map(figure.equals, s.sentence.figures))]
    if not having:
        return None
    about = max(having, key=lambda statement: alignment.own[statement.place])
    if alignment.own[about.place] < CROSSED or about.passage.kind == "table":
        return None
    there = about.sentence.figures
    own = [value for value in there if figure.value == value.value]
    used = [value for value in there if any(mine.says(value) for mine in claim.figures)]
    peers = [v for v in there if v not in used and any(_peers(v, value) for value in own)]
    words = {form for root in plain_words(claim) for form in forms_on_page(root, ground)}
    peers = [v for v in peers if about.sentence.tokens[max(0, v.place - 1)].form != "from"]
    place = beside_other(words, [v.place for v in own], [v.place for v in peers], about)
    return None if place is None else (about.place, place)


def _peers(one: Figure, other: Figure) -> bool:
    """Whether two figures of a statement measure the same kind of thing, of two things."""
    return one.alike(other) or not (one.unit or other.unit or one.nouns or other.nouns)
