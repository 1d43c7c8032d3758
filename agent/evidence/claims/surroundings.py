"""How much of a claim stands around a place of the page: near it, in its clause, next door."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.claims.alignment import forms_on_page
from agent.evidence.language.statements import content_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from agent.evidence.language.normalise import Token
    from agent.evidence.language.statements import Ground, Sentence, Statement

HALF = 8
"""Tokens of distance at which a word counts half."""

NEXT_DOOR = {1: 0.15, -1: 0.1}
"""What a word counts that stands one statement before a place, or one after it."""

MISSING = 0.5
"""What a word of the claim weighs, of its rarity, that stands nowhere on the page."""

TOPIC = 0.3
"""What a word weighs that is the page's topic, and so is implied everywhere."""

CLEARLY = 2.0
"""How much more of a claim must stand around another value than around the claim's own."""

BESIDE = 3.0
"""The same where both stand in one statement, whose words are told of both."""

ALONE = 3.5
"""How much more makes a value the one meant where hardly anything stands around the claim's own."""

LEAST_ALONE = 0.15
"""Share of a claim that must stand around the other value then."""

LONGEST_NAME = 3
"""Tokens of a name after its first."""

_CUTS = {";": 8, ":": 4, ".": 8, "(": 3, ")": 3, ",": 3, "-": 1, "and": 2} | dict.fromkeys(
    "but while whereas although though who which until before after because".split(), 4
)
"""What a mark or conjunction between clauses counts for, in tokens of distance."""


class _Hit(NamedTuple):
    """A token of the page that stands for a word of the claim."""

    word: int
    place: int
    strength: float


class Met(NamedTuple):
    """A value or word of the page by its place, and how much of a claim stands around it."""

    share: float
    statement: Statement
    place: int


class Surroundings:
    """The words of a claim, found on the page; `at` rates a place by those around it, 0 to 1."""

    def __init__(self, words: Iterable[str], ground: Ground) -> None:
        terms = list(dict.fromkeys(words))
        self._weights = [_weight(term, ground) for term in terms]
        self._hits: dict[int, list[_Hit]] = {}
        known = set()
        for n, term in enumerate(terms):
            for form, strength in forms_on_page(term, ground).items():
                for statement, place in ground.places.get(form, ()):
                    known.add(n)
                    self._hits.setdefault(statement, []).append(_Hit(n, place, strength))
        counted = (w if n in known else MISSING * w for n, w in enumerate(self._weights))
        self._total = sum(counted) or 1.0
        self._tokens = [s.sentence.tokens for s in ground.statements]

    def met(self, statement: Statement, place: int, name: Collection[str] = ()) -> Met:
        """Rate a place of a statement, as `at` does."""
        return Met(self.at(statement.place, place, name), statement, place)

    def at(self, statement: int, place: int, name: Collection[str] = ()) -> float:
        """Share of the claim's words that stand around a token of a statement, by nearness.

        `name` are the roots of the name that stands there, if one does; they do not count.
        """
        best = [0.0] * len(self._weights)
        tokens = self._tokens[statement]
        for hit in self._hits.get(statement, ()):
            if tokens[hit.place].root in name:
                continue
            near = hit.strength / (1 + _distance(tokens, hit.place, place, named=bool(name)) / HALF)
            best[hit.word] = max(best[hit.word], near)
        for back, share in NEXT_DOOR.items():
            for hit in self._hits.get(statement - back, ()):
                best[hit.word] = max(best[hit.word], share * hit.strength)
        return sum(map(float.__mul__, self._weights, best)) / self._total


def clearest(own: Iterable[Met], others: Iterable[Met], least: float) -> Met | None:
    """Give the value that a claim stands around, if clearly more than around its own.

    `least` is the share that must stand around it where the page has the claim's own too.
    """
    best = max(others, key=lambda met: met.share, default=None)
    mine = max(own, key=lambda met: met.share, default=None)
    if best is None or mine is None:
        return best
    clearly = BESIDE if mine.statement is best.statement else CLEARLY
    enough = best.share >= max(least, clearly * mine.share)
    alone = best.share >= max(LEAST_ALONE, ALONE * mine.share)
    return best if enough or alone else None


def around(claim: Sentence, without: frozenset[str], ground: Ground) -> Surroundings:
    """Look for the words of a claim but a value's own."""
    return Surroundings([w for w in content_of(claim.words) if w not in without], ground)


def _distance(tokens: Sequence[Token], place: int, value: int, *, named: bool) -> int:
    """Tokens between a word and a value, those that set clauses apart counting more.

    What follows a name's own comma (`Ann Vale, who …`, `Ann Vale, the owner`) belongs to it.
    """
    first, last = sorted((place, value))
    between = [token.form for token in tokens[first + 1 : last]]
    if named and value < place:
        own = next((i for i, form in enumerate(between) if form == ","), -1)
        if 0 <= own <= LONGEST_NAME:
            between = between[own + 1 :]
            between = between[between[:1] == ["who"] or between[:1] == ["which"] :]
    return len(between) + sum(_CUTS.get(form, 0) for form in between)


def _weight(term: str, ground: Ground) -> float:
    implied = term in ground.topic or ground.frequency(term) >= 0.3
    return ground.weight(term) * (TOPIC if implied else 1.0)
