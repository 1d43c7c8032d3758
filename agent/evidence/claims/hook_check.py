"""Who it is: the name that a claim hangs on a deed, a part or a word against the page's."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from agent.evidence.claims.acquaintance import kin, known
from agent.evidence.claims.alignment import ANTECEDENT, SYNONYM, Alignment, forms_on_page
from agent.evidence.claims.findings import Finding, contradicts
from agent.evidence.language.hooks import SAYS, Hook, find_hooks
from agent.evidence.language.vocabulary import FUNCTION, NEGATORS, SUBJECT_PRONOUNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.language.names import Name
    from agent.evidence.language.statements import Ground, Sentence, Statement

LEAST = {"does": 0.8, "is": 0.7, "at": 0.9}
"""Share of the claim's other words that the page's statement of the hook must cover: a part has
one bearer, while many things can be tied to one word."""

LEAST_ABSENT = 0.7
"""The same where the claim's name stands nowhere on the page."""

BESIDE = 4
"""Tokens between two names that may share a hook: `Aas and Holt`, `Aas, with Ida Holt`."""

_SHORTEST_DEED = 4

ASCRIBED = 2
"""Words of what is said that must be the same for it to be the same saying."""

_ENDS = frozenset({";", "."})


def check_hooks(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a deed, part or tie of the claim's name that the page gives to another name.

    A claim that denies something says nothing of who else does it.
    """
    if not NEGATORS.isdisjoint(claim.roots):
        return None
    theirs = [
        (statement, hook)
        for statement in ground.statements
        if statement.passage.kind != "table"
        for hook in find_hooks(statement.sentence)
        if ground.is_name(hook.name)
    ]
    for mine in find_hooks(claim):
        if not ground.is_name(mine.name):
            continue
        found = _rival(mine, theirs, claim, ground)
        if found:
            statement, other = found
            reason = f"the page names {other.name.text} here, the claim {mine.name.text}"
            return contradicts((statement,), reason)
    return None


def _rival(
    mine: Hook, theirs: Sequence[tuple[Statement, Hook]], claim: Sentence, ground: Ground
) -> tuple[Statement, Hook] | None:
    """Find another name on the claim's hook, if its own hangs nowhere on the page's."""
    same = [(s, h) for s, h in theirs if _alike(mine, h, ground)]
    if any(mine.name.may_be(hook.name) for _, hook in same):
        return None
    others = [t.root for t in claim.words if t.root not in FUNCTION and t.value is None]
    rest = [root for root in others if root not in mine.name.roots]
    if not rest or (mine.kind == "at" and len({hook.name.roots for _, hook in same}) > 1):
        return None
    score = Alignment(rest, ground).score
    least = LEAST[mine.kind] if known(mine.name, ground) else LEAST_ABSENT
    for statement, hook in same:
        used = any(hook.name.may_be(name) or kin(hook.name, name) for name in claim.names)
        if used or score[statement.place] < least:
            continue
        if not _may_be_there(mine, hook, statement, ground):
            return statement, hook
    return None


def _alike(mine: Hook, other: Hook, ground: Ground) -> bool:
    """Whether two hooks are one: the same part, deed or tie, by whatever name."""
    if {mine.kind, other.kind} == {"is", "does"}:
        return _plays_what_other_does(mine, other)
    if mine.kind != other.kind or mine.link != other.link:
        return False
    if mine.words == other.words == SAYS:
        rest = {form for word in mine.rest for form in forms_on_page(word, ground)}
        return len(rest & other.rest) >= ASCRIBED
    forms = {
        form
        for word in mine.words
        for form, strength in forms_on_page(word, ground).items()
        if strength >= SYNONYM
    }
    if forms.isdisjoint(other.words):
        return False
    if mine.kind != "does" or not mine.rest:
        return True
    rest = {form for word in mine.rest for form in forms_on_page(word, ground)}
    return not rest.isdisjoint(other.rest) or not other.rest


def _plays_what_other_does(mine: Hook, other: Hook) -> bool:
    """Whether a part and a deed are one: `the designer` and `designed by`, by their beginning."""
    part, deed = (mine, other) if mine.kind == "is" else (other, mine)
    return any(
        noun == verb or (len(verb) >= _SHORTEST_DEED and noun.startswith(verb[:-1]))
        for noun, verb in itertools.product(part.words, deed.words)
    )


def _may_be_there(mine: Hook, other: Hook, statement: Statement, ground: Ground) -> bool:
    """Whether the claim's name may hang there too: beside the other, or by a pronoun."""
    sentence = statement.sentence
    own = [name for name in sentence.names if mine.name.may_be(name)]
    if own:
        beside = any(abs(name.place - other.name.place) <= BESIDE for name in own)
        if all(_apart(name.place, other.name.place, sentence) for name in own):
            return False
        return beside or (mine.kind != "is" and not _hangs_elsewhere(mine.name, other, sentence))
    if mine.kind != "does" or SUBJECT_PRONOUNS.isdisjoint(sentence.roots):
        return False
    earlier = ground.statements[max(0, statement.place - ANTECEDENT) : statement.place]
    return any(mine.name.may_be(name) for s in earlier for name in s.sentence.names)


def _hangs_elsewhere(name: Name, other: Hook, sentence: Sentence) -> bool:
    """Whether a name of the sentence has a hook of its own there, on another word."""
    own = [hook for hook in find_hooks(sentence) if name.may_be(hook.name)]
    return bool(own) and all(hook.words.isdisjoint(other.words) for hook in own)


def _apart(one: int, other: int, sentence: Sentence) -> bool:
    """Whether a semicolon or full stop stands between two places of a sentence."""
    first, last = sorted((one, other))
    return any(token.form in _ENDS for token in sentence.tokens[first:last])
