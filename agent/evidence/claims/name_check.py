"""Names of a claim, each held against the statement that the claim is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.claims.acquaintance import LONGEST_ACRONYM, kin, known
from agent.evidence.claims.alignment import ANTECEDENT, PRONOUNS
from agent.evidence.claims.bars import bar_for, sort_of
from agent.evidence.claims.findings import Finding, contradicts
from agent.evidence.claims.surroundings import around
from agent.evidence.language.vocabulary import CONTRASTS, NEGATORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.evidence.language.names import Name
    from agent.evidence.language.statements import Ground, Sentence, Statement

SHORTEST = 2
"""Letters of a name; one alone is a unit's or an initial."""

BESIDE = 1.5
"""What the surroundings of the claim's own name count in a statement that has both names."""

_DOERS = frozenset({"he", "she", "we"})
"""Pronouns that stand for a doer wherever they are."""

_POINTING = PRONOUNS | {"we", "us", "our"}
"""Pronouns that stand for what was named before where they open a sentence."""


def check_names(claim: Sentence, ground: Ground) -> Finding | None:
    """Find the first name of a claim in whose place the page has another one."""
    if not (NEGATORS | CONTRASTS).isdisjoint(claim.roots):
        return None  # of what is denied of a name, the page may say that it is true of another
    for name in claim.names:
        if not _in_question(name, ground):
            continue
        found = _rival(name, claim, ground)
        if found:
            statement, rival = found
            reason = f"the page has {rival.text} where the claim has {name.text}"
            return contradicts((statement,), reason)
    return None


def _in_question(name: Name, ground: Ground) -> bool:
    """Whether a capitalised word of a claim is a name that one of the page's may be put for."""
    if name.adjective or not ground.is_name(name) or _is_common(name, ground):
        return False
    acronym = name.text.isupper() and len(name.text) <= LONGEST_ACRONYM
    unheard = acronym and name.roots[0] not in ground
    return len(name.text) >= SHORTEST and not unheard and not _in_table(name, ground)


def _in_table(name: Name, ground: Ground) -> bool:
    rows = (s for s in ground.statements if s.passage.kind == "table")
    return any(set(name.roots) <= set(row.sentence.roots) for row in rows)


def _is_common(name: Name, ground: Ground) -> bool:
    """Whether a word that opens a claim is one that the page has with a small letter."""
    if not name.first_in_sentence or len(name.roots) > 1:
        return False
    places = ground.places.get(name.roots[0], ())
    return any(ground.statements[s].sentence.tokens[i].raw.islower() for s, i in places)


def _rival(name: Name, claim: Sentence, ground: Ground) -> tuple[Statement, Name] | None:
    """Find the name that the claim's words stand around, if clearly more than around its own."""
    places = around(claim, frozenset(name.roots), ground)
    own = max((places.met(s, i, name.roots).share for s, i in _mentions(name, ground)), default=0.0)
    rivals = [
        (met.share, statement, other)
        for statement in ground.statements
        if statement.passage.kind != "table"
        for other in statement.sentence.names
        if _may_stand_for(other, name, claim, ground)
        and not _may_be_meant(name, other, statement)
        and (met := places.met(statement, other.place, other.roots))
        and bar_for(name, other, statement, ground).cleared(
            met.share, _beside(own, name, other, statement)
        )
    ]
    if not rivals:
        return None
    _, statement, other = max(rivals, key=lambda rival: rival[0])
    named = any(map(name.may_be, statement.sentence.names))
    if named and not NEGATORS.isdisjoint(statement.sentence.roots):
        return None
    return statement, other


def _beside(own: float, name: Name, other: Name, statement: Statement) -> float:
    """Weigh what stands around the claim's own name, beside another name of a statement.

    It weighs more where the statement has both in different parts: it speaks of both.
    """
    apart = sort_of(name.role) != sort_of(other.role)
    named = any(map(name.may_be, statement.sentence.names))
    return BESIDE * own if named and apart else own


def _may_be_meant(name: Name, other: Name, statement: Statement) -> bool:
    """Whether a pronoun of a statement may stand for a claim's name: `She …`, `… which we own`.

    Where both names do something, the other is the doer there, and the pronoun is somebody else.
    """
    both_do = sort_of(name.role) == sort_of(other.role) == "doer"
    words = statement.sentence.words
    pointing = words[0].form in _POINTING or any(token.form in _DOERS for token in words)
    return pointing and not both_do


def _mentions(name: Name, ground: Ground) -> Iterator[tuple[Statement, int]]:
    """Find where a name stands, and the pronouns that may refer back to it."""
    last = -ANTECEDENT - 1
    for statement in ground.statements:
        here = [o.place for o in statement.sentence.names if name.may_be(o) or kin(name, o)]
        yield from ((statement, place) for place in here)
        if here:
            last = statement.place
        elif statement.place - last <= ANTECEDENT:
            yield from ((statement, i) for i in _pronouns(statement.sentence))


def _pronouns(sentence: Sentence) -> Iterator[int]:
    """Find the pronouns that can refer back to another sentence: no name opens theirs."""
    subject = min((n.place for n in sentence.names if n.role == "subject"), default=None)
    for i, token in enumerate(sentence.tokens):
        if subject is not None and i > subject:
            return
        if token.form in PRONOUNS:
            yield i


def _may_stand_for(other: Name, name: Name, claim: Sentence, ground: Ground) -> bool:
    """Whether a name of the page can be in the place of a claim's: used nowhere in it, alike."""
    if other.adjective or not ground.is_name(other) or len(other.text) < SHORTEST:
        return False
    if any(mine.may_be(other) or kin(other, mine) for mine in claim.names):
        return False
    if known(name, ground) and other.possessive != name.possessive:
        return False
    if other.role == "by" and sort_of(name.role) == "place":
        return False
    return not name.of_a_people or other.of_a_people
