"""Why a claim in other words stays undecided: a hedge dropped, a scope widened, a turn of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.language.dates import is_month
from agent.evidence.language.vocabulary import HEDGES, NEGATORS, PARTIAL, UNIVERSAL, root_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.language.normalise import Token
    from agent.evidence.language.statements import Sentence, Statement

_CAUSE = root_set("because due owing thanks therefore hence cause result reason")
_TIME = root_set("before after until since during while when")


def doubt(claim: Sentence, about: Statement) -> str | None:
    """Say in what a claim goes beyond the statement that it is about; None where in nothing."""
    page = about.sentence
    hedge = _only_in(page, claim, HEDGES)
    if hedge:
        return f"the page says “{hedge.raw}”, the claim states it as certain"
    partial, universal = _first(page, PARTIAL), _only_in(claim, page, UNIVERSAL)
    if partial and universal:
        return f"the page says “{partial.raw}”, the claim “{universal.raw}”"
    for words, kind in ((_CAUSE, "a cause"), (_TIME, "an order in time"), (NEGATORS, "a denial")):
        added = _only_in(claim, page, words)
        if added:
            return f"the claim states {kind} (“{added.raw}”) that is not in the page's words"
    return None


def _only_in(one: Sentence, other: Sentence, words: frozenset[str]) -> Token | None:
    """Find the first of these words in one sentence, if the other has none of them."""
    return None if words & set(other.roots) else _first(one, words)


def _first(sentence: Sentence, words: frozenset[str]) -> Token | None:
    tokens: Sequence[Token] = sentence.words
    return next((t for t in tokens if t.root in words and not is_month(t)), None)
