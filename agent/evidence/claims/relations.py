"""The direction of a relation: who did it to whom, when a claim turns two names round."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.claims.alignment import forms_on_page
from agent.evidence.claims.findings import Finding, contradicts
from agent.evidence.language.hooks import deed_of, end_of_name
from agent.evidence.language.spelling import root
from agent.evidence.language.vocabulary import RELATIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.evidence.language.names import Name
    from agent.evidence.language.statements import Ground, Sentence

# The same event told from its two sides: `A sold it to B` is `B bought it from A`.
_CONVERSE_PAIRS = "buy/sell lend/borrow teach/learn give/receive employ/serve lead/follow"

_STOPS = frozenset({".", ";"})
_BE = frozenset({"was", "were", "is", "are", "been", "being", "be"})
_LONGEST = 14
"""Tokens between two names of one relation."""


def _converses() -> dict[str, str]:
    table: dict[str, str] = {}
    for pair in _CONVERSE_PAIRS.split():
        one, other = (root(word) for word in pair.split("/"))
        table[one], table[other] = other, one
    return table


_CONVERSE = _converses()


class Relation(NamedTuple):
    """Two names and what the first does to the second, or (`passive`) has done to it by it."""

    first: Name
    verbs: frozenset[str]
    second: Name
    passive: bool


def find_relations(sentence: Sentence) -> Iterator[Relation]:
    """Read the relations of a sentence: `A beat B`, `B was beaten by A`, `A, which beat B`."""
    for i, first in enumerate(sentence.names):
        start = _end_of_subject(first, sentence)
        after = sentence.tokens[start:][:_LONGEST]
        after = after[1:] if after and after[0].form == "," else after
        be = bool(after) and after[0].form in _BE
        passive = be or [token.form for token in after[1:2]] == ["by"]
        verbs = deed_of(after[1:] if be else after) if _acts(first, sentence) else frozenset()
        for second in sentence.names[i + 1 :] if verbs else ():
            between = [t.form for t in sentence.tokens[start : second.place]]
            if second.place - first.place > _LONGEST or not _STOPS.isdisjoint(between):
                break
            if not passive or second.role == "by":
                yield Relation(first, verbs, second, passive)


def check_relations(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a relation of the claim that the page has the other way round."""
    theirs = [(s, r) for s in ground.statements for r in find_relations(s.sentence)]
    for mine in find_relations(claim):
        forms = {form for verb in mine.verbs for form in forms_on_page(verb, ground)}
        converse = {_CONVERSE[verb] for verb in mine.verbs if verb in _CONVERSE}
        for statement, other in theirs:
            turned = _turned(mine, other)
            if turned is None:
                continue
            same, opposite = bool(forms & other.verbs), bool(converse & other.verbs)
            if same != opposite and turned == same:
                names = f"{other.first.text} and {other.second.text}"
                return contradicts((statement,), f"the page has {names} the other way round")
    return None


def _acts(name: Name, sentence: Sentence) -> bool:
    """Whether a name is a subject, itself or through a relative: `the Trust, which bought …`."""
    if name.possessive:
        return False
    return name.role == "subject" or _end_of_subject(name, sentence) > end_of_name(sentence, name)


def _end_of_subject(name: Name, sentence: Sentence) -> int:
    """Index after a name, and after a relative pronoun that takes it up."""
    end = end_of_name(sentence, name)
    following = [token.form for token in sentence.tokens[end : end + 2]]
    taken = next((i for i, form in enumerate(following, 1) if form in RELATIVE), 0)
    return end + taken


def _turned(mine: Relation, other: Relation) -> bool | None:
    """Whether two relations have the same names in opposite roles; None for other names."""
    if mine.first.may_be(other.first) and mine.second.may_be(other.second):
        return mine.passive != other.passive
    if mine.first.may_be(other.second) and mine.second.may_be(other.first):
        return mine.passive == other.passive
    return None
