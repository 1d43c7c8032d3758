"""Claims in other words than the page's: what they are about, and what speaks against them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.claims.alignment import Alignment
from agent.evidence.claims.choices import check_choices
from agent.evidence.claims.deeds import check_deeds
from agent.evidence.claims.doubts import doubt
from agent.evidence.claims.edits import check_edits
from agent.evidence.claims.figure_check import check_figures
from agent.evidence.claims.findings import Finding, undecided
from agent.evidence.claims.hook_check import check_hooks
from agent.evidence.claims.name_check import check_names
from agent.evidence.claims.negation import check_negation
from agent.evidence.claims.reductions import check_reductions
from agent.evidence.claims.relations import check_relations
from agent.evidence.claims.slots import name_roots, plain_words
from agent.evidence.claims.stand_ins import check_stand_ins
from agent.evidence.claims.tables import check_tables
from agent.evidence.language.statements import content_of, read_claim
from agent.types import VerdictState

if TYPE_CHECKING:
    from agent.evidence.language.statements import Ground, Sentence

UNRELATED = 0.25
"""Below this share of a claim's words, the page does not speak of it."""


def check_free(claim: str, ground: Ground) -> Finding:
    """Compare a claim with the statement that it is about."""
    sentence = read_claim(claim)
    alignment = Alignment(content_of(sentence.words), ground, name_roots(sentence))
    if not sentence.words:
        return undecided((), "there is nothing to compare")
    reduced = check_reductions(sentence, ground)
    if reduced:
        return reduced
    if _unrelated(sentence, ground):
        instead = check_stand_ins(sentence, ground) or check_names(sentence, ground)
        return instead or undecided((), "the page does not speak of this")
    place = alignment.best()
    edited = check_edits(sentence, ground, place)
    if edited and edited.state is not VerdictState.UNDECIDED:
        return edited
    against = _contradiction(sentence, ground)
    about = ground.statements[place]
    reason = doubt(sentence, about)
    unsure = undecided((about,), reason or "the page speaks of this in other words")
    return against or (unsure if reason else edited or unsure)


def _unrelated(claim: Sentence, ground: Ground) -> bool:
    """Whether the page does not speak of a claim, leaving aside its names and numbers.

    These may be what is wrong with it; where it has no other words, they count.
    """
    names = name_roots(claim)
    words = [root for root in plain_words(claim) if root not in names or root in ground]
    alignment = Alignment(words or content_of(claim.words), ground, names)
    return alignment.share_known * max(alignment.score) < UNRELATED


def check_values(claim: Sentence, ground: Ground) -> Finding | None:
    """Find another figure, date or name in the place of a claim's."""
    plain = Alignment(plain_words(claim), ground, name_roots(claim))
    return (
        check_tables(claim, ground)
        or check_stand_ins(claim, ground)
        or check_figures(claim, ground, plain)
        or check_names(claim, ground)
        or check_hooks(claim, ground)
    )


def _contradiction(claim: Sentence, ground: Ground) -> Finding | None:
    """Look for what the page says instead, from the plainest kind of fact to the subtlest."""
    return (
        check_values(claim, ground)
        or check_relations(claim, ground)
        or check_choices(claim, ground)
        or check_negation(claim, ground)
        or check_deeds(claim, ground)
    )
