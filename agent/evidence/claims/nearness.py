"""Several figures in one sentence: which of them a question is about, told by nearness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.claims.alignment import forms_on_page
from agent.evidence.language.figures import counted
from agent.evidence.language.thesaurus import synonyms
from agent.evidence.language.units import read_unit
from agent.evidence.language.vocabulary import FUNCTION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from agent.evidence.claims.answer_type import Expected
    from agent.evidence.language.figures import Figure
    from agent.evidence.language.normalise import Token
    from agent.evidence.language.statements import Ground, Statement
    from agent.evidence.language.units import Unit

CLEARLY = 1.5
"""How much nearer another value must be to be the one that was asked for."""

APART_WORDS = 14
"""Tokens within which a word may belong to the claim's own value: half a long sentence."""

HALF = 4
"""Words of distance at which a word of the question counts half."""

BESIDE = 5
"""Tokens on either side of a value in which the words stand that say what it is of."""

APART = 4
"""Words of distance that a comma, bracket or semicolon counts for."""


def nearest_other(
    asked: Sequence[str],
    answer: Sequence[Token],
    expected: Expected,
    statement: Statement,
    ground: Ground,
) -> str | None:
    """Find another value of the kind asked for, clearly nearer to the question's words."""
    tokens = statement.sentence.tokens
    given = {token.root for token in answer}
    places = _places(statement, expected, given, set(asked))
    own = [place for place in places if tokens[place].root in given]
    others = [place for place in places if tokens[place].root not in given]
    if not own or not others:
        return None
    words = {
        root: ground.weight(term) * strength
        for term in asked
        for root, strength in forms_on_page(term, ground).items()
    }
    best = max(others, key=lambda place: _nearness(place, words, tokens))
    mine = max(_nearness(place, words, tokens) for place in own)
    return tokens[best].raw if _nearness(best, words, tokens) > CLEARLY * mine else None


def beside_other(
    claim: AbstractSet[str], own: Sequence[int], others: Sequence[int], statement: Statement
) -> int | None:
    """Find one of `others` that the claim's words stand beside, where none stands beside `own`.

    All are indices of values of one kind in the statement's tokens. A word that both have near
    them, or neither, tells nothing.
    """
    values = [*own, *others]
    mine = {root for place in own for root in _beside(place, values, statement, APART_WORDS, ";.")}
    for place in others:
        theirs = _beside(place, values, statement, BESIDE)
        if claim & (theirs - mine) and not claim & (mine - theirs):
            return place
    return None


def _beside(
    place: int, values: Sequence[int], statement: Statement, reach: int, ends: str = ",;."
) -> frozenset[str]:
    """Roots next to a value, up to the next value of its kind or the clause's end."""
    tokens = statement.sentence.tokens
    found: set[str] = set()
    for step in (-1, 1):
        i = place + step
        for _ in range(reach):
            if not 0 <= i < len(tokens) or i in values or tokens[i].form in ends:
                break
            found.add(tokens[i].root)
            i += step
    return frozenset(found) - FUNCTION


def _places(
    statement: Statement, expected: Expected, given: AbstractSet[str], asked: AbstractSet[str]
) -> list[int]:
    """Indices of what can answer: dates for a time, figures for a number, names for a person."""
    tokens, sentence = statement.sentence.tokens, statement.sentence
    if expected == "time":
        years = {date.first_year for date in sentence.dates}
        return [i for i, token in enumerate(tokens) if token.value in years and token.value]
    if expected == "number":
        return [figure.place for figure in sentence.figures if tokens[figure.place].value]
    if expected != "person":
        return []
    names = [name for name in sentence.names if asked.isdisjoint(name.roots)]
    named = any(not given.isdisjoint(name.roots) for name in names)
    return [name.place for name in names] if named else []


def _nearness(place: int, words: Mapping[str, float], tokens: Sequence[Token]) -> float:
    """Rate how near the words of the question stand to a value; a comma between sets apart."""
    best: dict[str, float] = {}
    for step in (-1, 1):
        distance = 0
        for token in tokens[place + step :: step] if place + step >= 0 else ():
            distance += APART if token.kind == "punct" else 1
            near = words.get(token.root, 0.0) / (1 + distance / HALF)
            best[token.root] = max(best.get(token.root, 0.0), near)
    return sum(best.values())


def counts_other(
    question: Sequence[Token], answer: Sequence[Token], statement: Statement
) -> str | None:
    """Find that the answer's figure counts or measures something else than `how many` asks for."""
    forms = [token.form for token in question]
    if "many" not in forms:
        return None
    after = question[forms.index("many") + 1 :]
    unit, _ = read_unit(after[:3])
    wanted = frozenset(counted(after))
    values = {token.value for token in answer if token.value is not None}
    figures = [f for f in statement.sentence.figures if f.value in values]
    if not figures or any(_counts(figure, unit, wanted, statement) for figure in figures):
        return None
    return " ".join(sorted(figures[0].nouns)) or "something else"


def _counts(
    figure: Figure, unit: Unit | None, wanted: frozenset[str], statement: Statement
) -> bool:
    """Whether a figure can count what is wanted; in doubt it can."""
    if unit and figure.unit:
        return unit == figure.unit
    named = wanted & statement.sentence.content
    return not (figure.nouns and named) or any(synonyms(w) & figure.nouns for w in wanted)
