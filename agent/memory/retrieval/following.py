"""Following associations from what the words found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.memory.links import FOLLOWED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.memory.links import Link

STARTS = 5  # hits whose links are followed
PASSED_ON = 0.6  # of a hit's score, to what is linked to it with full strength


def follow(
    found: Sequence[tuple[float, int]], links: Sequence[Link], limit: int
) -> list[tuple[float, int]]:
    """Add what is linked to the best hits: proven links rank, others fill up a short list.

    What the words found keeps its order and its scores.
    """
    starts = {id_: score for score, id_ in found[:STARTS]}
    known = {id_ for _, id_ in found}
    proven: dict[int, float] = {}
    filling: dict[int, float] = {}
    for link in links:
        for near, far in ((link.one, link.other), (link.other, link.one)):
            if near in starts and far not in known and link.strength >= FOLLOWED:
                score = PASSED_ON * link.strength * starts[near]
                target = proven if link.proven else filling
                target[far] = max(score, target.get(far, 0.0))
    ranked = [*found, *((score, id_) for id_, score in proven.items())]
    ranked.sort(key=lambda pair: (-pair[0], pair[1]))
    room = limit - len(ranked)
    if room <= 0:
        return ranked
    lowest = ranked[-1][0]
    rest = [(-min(s, lowest), id_) for id_, s in filling.items() if id_ not in proven]
    return [*ranked, *((-score, id_) for score, id_ in sorted(rest)[:room])]
