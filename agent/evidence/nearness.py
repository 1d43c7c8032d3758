"""Several figures in one sentence: which of them a question is about, told by nearness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.alignment import forms_on_page
from agent.evidence.dates import find_dates
from agent.evidence.figures import counted, find_figures
from agent.evidence.thesaurus import synonyms
from agent.evidence.units import read_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.evidence.answer_type import Expected
    from agent.evidence.figures import Figure
    from agent.evidence.normalise import Token
    from agent.evidence.statements import Ground, Statement
    from agent.evidence.units import Unit

CLEARLY = 1.5
"""How much nearer another value must be to be the one that was asked for."""

HALF = 4
"""Words of distance at which a word of the question counts half."""


def nearest_other(
    asked: Sequence[str],
    answer: Sequence[Token],
    expected: Expected,
    statement: Statement,
    ground: Ground,
) -> str | None:
    """Find another value of the kind asked for, clearly nearer to the question's words."""
    values = {token.value for token in answer if token.value is not None}
    tokens = statement.sentence.tokens
    places = _places(tokens, expected)
    own = [place for place in places if tokens[place].value in values]
    others = [place for place in places if tokens[place].value not in values]
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


def _places(tokens: Sequence[Token], expected: Expected) -> list[int]:
    """Indices of the values that can answer: dates for a time, other figures for a number."""
    if expected == "time":
        years = {date.first_year for date in find_dates(tokens)}
        return [i for i, token in enumerate(tokens) if token.value in years and token.value]
    if expected == "number":
        figures = [figure for figure in find_figures(tokens) if tokens[figure.place].value]
        return [figure.place for figure in figures]
    return []


def _nearness(place: int, words: Mapping[str, float], tokens: Sequence[Token]) -> float:
    best: dict[str, float] = {}
    for i, token in enumerate(tokens):
        weight = words.get(token.root, 0.0)
        if weight and i != place:
            near = weight / (1 + abs(i - place) / HALF)
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
