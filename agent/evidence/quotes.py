"""The words of a passage that come nearest to a sentence, as short as they can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.language.normalise import tokenise, words_of
from agent.evidence.language.statements import Ground, content_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import Passage


def nearest_quote(sentence: str, passages: Sequence[Passage]) -> str:
    """Give the sentence of the passages that shares most with `sentence`; empty if none does."""
    ground = Ground(passages)
    wanted = set(content_of(words_of(tokenise(sentence))))
    best, score = "", 0.0
    for statement in ground.statements:
        shared = sum(ground.weight(root) for root in wanted & statement.sentence.content)
        if shared > score:
            best, score = statement.quote, shared
    return best
