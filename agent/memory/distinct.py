"""Of what is recalled, what says something that the rest does not: nothing is told twice.

A question that was asked in three ways left three outcomes, and each page that said a thing its
fact. The facts stay, since they name their page; an outcome stays where it says more than they do.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from agent.memory import kinds
from agent.memory.terms import index_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.memory.types import Hit

SAID = 0.9  # of a text's words; the rest is a heading or a cell that came along
# Of some kinds a few are enough: one way that worked, some pages to look at first.
MOST = {kinds.PLAYBOOK: 1, kinds.SOURCE: 3, kinds.OUTCOME: 2}


def distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Leave out what repeats a hit that stands before it, or a fact wherever it stands."""
    kept: list[Hit] = []
    said: list[frozenset[str]] = []
    counts: Counter[str] = Counter()
    for hit in sorted(hits, key=lambda hit: _ORDER.get(hit.kind, 0)):
        words = _words(hit)
        if counts[hit.kind] < MOST.get(hit.kind, len(hits)) and not _repeats(
            hit, words, said, kept
        ):
            kept.append(hit)
            said.append(words)
            counts[hit.kind] += 1
    ids = {hit.id for hit in kept}
    return [hit for hit in hits if hit.id in ids]


_ORDER = {kinds.OUTCOME: 1, kinds.SOURCE: 2, kinds.PLAYBOOK: 3}


def _repeats(
    hit: Hit, words: frozenset[str], said: Sequence[frozenset[str]], kept: Sequence[Hit]
) -> bool:
    if hit.kind == kinds.SOURCE:
        return any(
            other.kind == kinds.FACT and other.origin.url == hit.origin.url for other in kept
        )
    if hit.kind == kinds.OUTCOME:
        said = [*said, frozenset().union(*said)]
    return any(words and len(words & other) >= SAID * len(words) for other in said)


def _words(hit: Hit) -> frozenset[str]:
    """Give the words of what a hit says: of an outcome, the answer."""
    answer = hit.text.partition(" → ")[2].partition(": ")[2] if hit.kind == kinds.OUTCOME else ""
    return frozenset(index_terms(answer or hit.text))
