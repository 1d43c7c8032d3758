"""Who did it: the doer that a claim names against the one that the page names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.alignment import (
    ANTECEDENT,
    PRONOUNS,
    SYNONYM,
    Alignment,
    forms_on_page,
)
from agent.evidence.findings import Finding, contradicts
from agent.evidence.vocabulary import FUNCTION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.names import Name
    from agent.evidence.normalise import Token
    from agent.evidence.statements import Ground, Sentence, Statement

ABOUT = 0.4
"""Share of the claim's other words that the page's statement of the deed must cover."""

_REACH = 12
"""Tokens between a doer and the verb; further away it is another clause's."""

_SKIPPED = frozenset("has had have did also then later first himself herself".split())
_CLAUSE_MARKS = frozenset({";", ":", "(", ")", "."})


class Deed(NamedTuple):
    """A verb (or its noun), and the name of who does it."""

    verb: str
    doer: Name


def find_deeds(sentence: Sentence) -> Iterator[Deed]:
    """Read deeds with a named doer: `Brask designed it`, `it was designed by (the) … Brask`."""
    for name in sentence.names:
        if name.role == "by":
            verb = _deed_before(sentence.tokens[max(0, name.place - _REACH) : name.place])
        elif name.role == "subject":
            verb = _deed_of(sentence.tokens[_end(sentence, name) : _end(sentence, name) + _REACH])
        else:
            continue
        if verb:
            yield Deed(verb, name)


def check_agents(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a deed of the claim that the page ascribes to somebody else."""
    theirs = [
        (statement, deed)
        for statement in ground.statements
        for deed in find_deeds(statement.sentence)
        if ground.is_name(deed.doer)
    ]
    for verb, doer in find_deeds(claim):
        if not ground.is_name(doer):
            continue
        same = forms_on_page(verb, ground)
        others = [t.root for t in claim.words if t.root not in FUNCTION and t.value is None]
        rest = [root for root in others if root not in doer.roots]
        score = Alignment(rest, ground).score if rest else []
        for statement, deed in theirs:
            if same.get(deed.verb, 0.0) < SYNONYM or score[statement.place] < ABOUT:
                continue
            if not _may_be_there(doer, statement, ground) and not _is_used(deed.doer, claim):
                reason = f"the page names {deed.doer.text} here, the claim {doer.text}"
                return contradicts((statement,), reason)
    return None


def _end(sentence: Sentence, name: Name) -> int:
    """Index of the token after a name."""
    end = name.place
    while end < len(sentence.tokens) and sentence.tokens[end].root in {*name.roots, "-", "of"}:
        end += 1
    return end


def _deed_of(after: Sequence[Token]) -> str | None:
    """Read what a subject does off the words after it; None where it is done to it (`was …`)."""
    for token in after:
        if token.form.endswith("ly") or token.form in _SKIPPED:
            continue
        return token.root if _can_be_verb(token) else None
    return None


def _deed_before(before: Sequence[Token]) -> str | None:
    """Read what is done off the words before `by`, the nearest that can be the verb."""
    waiting = True
    for token in reversed(before):
        if token.form in _CLAUSE_MARKS:
            return None
        if waiting:
            waiting = token.form != "by"
        elif _can_be_verb(token):
            return token.root
    return None


def _can_be_verb(token: Token) -> bool:
    ordinary = token.kind == "word" and token.root not in FUNCTION and len(token.form) > 2
    return ordinary and token.raw[0].islower() and not token.form.endswith("ly")


def _may_be_there(doer: Name, statement: Statement, ground: Ground) -> bool:
    """Whether the claim's doer stands in the statement, or is what its pronoun refers to."""
    if any(doer.may_be(name) for name in statement.sentence.names):
        return True
    if PRONOUNS.isdisjoint(statement.sentence.roots):
        return False
    earlier = ground.statements[max(0, statement.place - ANTECEDENT) : statement.place]
    return any(doer.may_be(name) for s in earlier for name in s.sentence.names)


def _is_used(name: Name, claim: Sentence) -> bool:
    return any(name.may_be(mine) for mine in claim.names)
