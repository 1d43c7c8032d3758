"""One of a kind: the weekday, the colour, the relative that a claim names against the page's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.claims.slots import against
from agent.evidence.claims.surroundings import around, clearest
from agent.evidence.language.thesaurus import exclusive
from agent.evidence.language.vocabulary import NEGATORS

if TYPE_CHECKING:
    from agent.evidence.claims.findings import Finding
    from agent.evidence.claims.surroundings import Met, Surroundings
    from agent.evidence.language.statements import Ground, Sentence

LEAST = 0.3
"""Share of the claim that must stand around another word of a group."""

LEAST_ELSEWHERE = 0.5
"""The same where the page has the claim's word too, of something else."""

_POINT = "ern"
"""What sets `western` apart from `west`, which says the same of a side."""


def check_choices(claim: Sentence, ground: Ground) -> Finding | None:
    """Find the first word of an exclusive group for which the page has another of the group."""
    if not NEGATORS.isdisjoint(claim.roots):
        return None  # what is not so on Mondays may be so on Thursdays
    for group in exclusive():
        for place, token in enumerate(claim.tokens):
            if token.root not in group:
                continue
            met = _instead(token.root, group - set(claim.roots), claim, ground)
            if met:
                return against(ground, met.statement.place, met.place, claim, place)
    return None


def _instead(root: str, others: frozenset[str], claim: Sentence, ground: Ground) -> Met | None:
    if root.endswith(_POINT) and root.removesuffix(_POINT) in ground:
        return None
    places = around(claim, frozenset({root}), ground)
    rivals = (met for other in others for met in _met(other, places, ground))
    close = (met for met in rivals if met.share >= LEAST)
    return clearest(_met(root, places, ground), close, LEAST_ELSEWHERE)


def _met(root: str, places: Surroundings, ground: Ground) -> list[Met]:
    found = ground.places.get(root, ())
    return [places.met(ground.statements[statement], i) for statement, i in found]
