"""Claims in other words than the page's: what they are about, and what speaks against them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.agents import check_agents
from agent.evidence.alignment import Alignment
from agent.evidence.date_check import check_dates
from agent.evidence.doubts import doubt
from agent.evidence.edits import check_edits
from agent.evidence.figure_check import check_figures
from agent.evidence.findings import Finding, undecided
from agent.evidence.name_check import check_names
from agent.evidence.negation import check_negation
from agent.evidence.relations import check_relations
from agent.evidence.slots import name_roots, plain_words
from agent.evidence.statements import content_of, read_claim
from agent.types import VerdictState

if TYPE_CHECKING:
    from agent.evidence.statements import Ground, Sentence

UNRELATED = 0.15
"""Below this share of a claim's words, the page does not speak of it."""


def check_free(claim: str, ground: Ground) -> Finding:
    """Compare a claim with the statement that it is about."""
    sentence = read_claim(claim)
    alignment = Alignment(content_of(sentence.words), ground, name_roots(sentence))
    if not sentence.words or alignment.share_known * max(alignment.score) < UNRELATED:
        return undecided((), "the page does not speak of this")
    place = alignment.best()
    edited = check_edits(sentence.words, ground, place)
    if edited and edited.state is not VerdictState.UNDECIDED:
        return edited
    against = _contradiction(sentence, ground)
    about = ground.statements[place]
    reason = doubt(sentence, about)
    unsure = undecided((about,), reason or "the page speaks of this in other words")
    return against or (unsure if reason else edited or unsure)


def _contradiction(claim: Sentence, ground: Ground) -> Finding | None:
    """Look for what the page says instead, from the plainest kind of fact to the subtlest."""
    plain = Alignment(plain_words(claim), ground, name_roots(claim))
    return (
        check_figures(claim, ground, plain)
        or check_dates(claim, ground, plain)
        or check_names(claim, ground)
        or check_agents(claim, ground)
        or check_relations(claim, ground)
        or check_negation(claim, ground)
    )
