"""Who did it: the doer that a claim names against the one that the page names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.alignment import (
    ANTECEDENT,
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
_SUBJECTS = frozenset({"he", "she", "it", "they"})
_CLAUSE_MARKS = frozenset({";", ":", "(", ")", "."})


class Deed(NamedTuple):
    """Verbs (`designed and built`), or their nouns, and the name of who does it."""

    verbs: frozenset[str]
    doer: Name


def find_deeds(sentence: Sentence) -> Iterator[Deed]:
    """Read deeds with a named doer: `Brask designed it`, `it was designed by (the) … Brask`."""
    for name in sentence.names:
        if name.possessive:
            continue
        if name.role == "by":
            verbs = _deed_before(sentence.tokens[max(0, name.place - _REACH) : name.place])
        elif name.role in {"subject", ""}:
            verbs = deed_of(
                sentence.tokens[end_of_name(sentence, name) : end_of_name(sentence, name) + _REACH]
            )
        else:
            continue
        if verbs:
            yield Deed(verbs, name)


def check_agents(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a deed of the claim that the page ascribes to somebody else."""
    theirs = [
        (statement, deed)
        for statement in ground.statements
        for deed in find_deeds(statement.sentence)
        if ground.is_name(deed.doer)
    ]
    for verbs, doer in find_deeds(claim):
        if not ground.is_name(doer):
            continue
        same = _same_deeds(verbs, ground)
        others = [t.root for t in claim.words if t.root not in FUNCTION and t.value is None]
        rest = [root for root in others if root not in doer.roots]
        score = Alignment(rest, ground).score if rest else []
        for statement, deed in theirs:
            if same.isdisjoint(deed.verbs) or score[statement.place] < ABOUT:
                continue
            if not _may_be_there(doer, statement, ground) and not _is_used(deed.doer, claim):
                reason = f"the page names {deed.doer.text} here, the claim {doer.text}"
                return contradicts((statement,), reason)
    return None


def end_of_name(sentence: Sentence, name: Name) -> int:
    """Index of the token after a name."""
    end = name.place
    while end < len(sentence.tokens) and sentence.tokens[end].root in {*name.roots, "-", "of"}:
        end += 1
    return end


def _same_deeds(verbs: frozenset[str], ground: Ground) -> frozenset[str]:
    """Roots on the page that name one of these deeds."""
    forms = (forms_on_page(verb, ground).items() for verb in verbs)
    return frozenset(root for found in forms for root, strength in found if strength >= SYNONYM)


def deed_of(after: Sequence[Token]) -> frozenset[str]:
    """Read what a subject does off the words after it; nothing where it is done to it (`was …`)."""
    for place, token in enumerate(after):
        if token.form.endswith("ly") or token.form in _SKIPPED:
            continue
        return _with_second(after[place : place + 3]) if _can_be_verb(token) else frozenset()
    return frozenset()


def _deed_before(before: Sequence[Token]) -> frozenset[str]:
    """Read what is done off the words before `by`, the nearest that can be the verb."""
    by = max((i for i, token in enumerate(before) if token.form == "by"), default=0)
    for i in range(by - 1, -1, -1):
        if before[i].form in _CLAUSE_MARKS:
            break
        if _can_be_verb(before[i]):
            return _with_second(before[max(0, i - 2) : i + 1][::-1])
    return frozenset()


def _with_second(tokens: Sequence[Token]) -> frozenset[str]:
    """Take a verb, and the one that `and` joins to it."""
    joined = len(tokens) == 3 and tokens[1].form == "and" and _can_be_verb(tokens[2])
    return frozenset({tokens[0].root, tokens[2].root} if joined else {tokens[0].root})


def _can_be_verb(token: Token) -> bool:
    ordinary = token.kind == "word" and token.root not in FUNCTION and len(token.form) > 2
    return ordinary and token.raw[0].islower() and not token.form.endswith("ly")


def _may_be_there(doer: Name, statement: Statement, ground: Ground) -> bool:
    """Whether the claim's doer stands in the statement, or is what its pronoun refers to."""
    if any(doer.may_be(name) for name in statement.sentence.names):
        return True
    if _SUBJECTS.isdisjoint(statement.sentence.roots):
        return False
    earlier = ground.statements[max(0, statement.place - ANTECEDENT) : statement.place]
    return any(doer.may_be(name) for s in earlier for name in s.sentence.names)


def _is_used(name: Name, claim: Sentence) -> bool:
    return any(name.may_be(mine) for mine in claim.names)
