"""The direction of a relation: who did it to whom, when a claim turns two names round."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.alignment import forms_on_page
from agent.evidence.findings import Finding, contradicts
from agent.evidence.spelling import root
from agent.evidence.vocabulary import FUNCTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.evidence.names import Name
    from agent.evidence.statements import Ground, Sentence

# The same event told from its two sides: `A sold it to B` is `B bought it from A`.
_CONVERSE_PAIRS = "buy/sell lend/borrow teach/learn give/receive employ/serve lead/follow"

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
    """Two names of a clause and what joins them; `passive` where `by` marks the second."""

    first: Name
    verbs: frozenset[str]
    second: Name
    passive: bool


def find_relations(sentence: Sentence) -> Iterator[Relation]:
    """Read neighbouring names with the words that join them: `A beat B`, `B was beaten by A`."""
    for i, first in enumerate(sentence.names):
        if not _acts(first, sentence):
            continue
        for second in sentence.names[i + 1 :]:
            between = sentence.tokens[first.place + 1 : second.place]
            if len(between) > _LONGEST or any(t.form in {".", ";"} for t in between):
                break
            verbs = frozenset(
                t.root for t in between if t.raw[0].islower() and t.root not in FUNCTION
            )
            forms = {t.form for t in between}
            if verbs:
                yield Relation(first, verbs, second, "by" in forms and bool(forms & _BE))


def _acts(name: Name, sentence: Sentence) -> bool:
    """Whether a name is a subject, itself or through a relative: `the Trust, which bought …`."""
    if name.text.endswith(("'s", "'")):
        return False
    after = [t.form for t in sentence.tokens[name.place : name.place + len(name.roots) + 4]]
    relative = any(form in {"which", "who"} for form in after)
    return relative or name.role == "subject"


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
                reason = f"the page has {other.first.text} and {other.second.text} the other way"
                return contradicts((statement,), f"{reason} round")
    return None


def _turned(mine: Relation, other: Relation) -> bool | None:
    """Whether two relations have the same names in opposite roles; None for other names."""
    if mine.first.may_be(other.first) and mine.second.may_be(other.second):
        return mine.passive != other.passive
    if mine.first.may_be(other.second) and mine.second.may_be(other.first):
        return mine.passive == other.passive
    return None
