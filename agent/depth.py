"""What a depth spends: every number of `quick`, `standard` and `deep` stands here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Depth = Literal["quick", "standard", "deep"]


@dataclass(frozen=True, slots=True)
class Effort:
    """How broad and how long a run may work where its limits are not named.

    steps, sources: of a whole run. `parts_steps` are the steps of one that is taken apart, where
    each loop searches and reads for itself; a part gets its share, `part_steps` at most.
    plans: whether a question may be taken apart at all.
    rounds, points: how often a draft is asked for what it leaves open, and how many of these
    points are then researched.
    sections: of a report, at most.
    engines: asked at once where a query is hard, their results merged.
    rephrases: how often a run may ask the model for other queries where a search found little;
    translates: and where it found enough, but was asked in another language than English.
    first_reads, next_reads, queries, searches, list_pages: how the keyless model reaches out: pages
    read after its first search and after each further one, queries in a round, rounds of search,
    pages of a list that are turned over.
    """

    steps: int
    sources: int
    parts_steps: int
    part_steps: int
    plans: bool
    rounds: int
    points: int
    sections: int
    engines: int
    rephrases: int
    translates: bool
    first_reads: int
    next_reads: int
    queries: int
    searches: int
    list_pages: int


# quick: a search, one reading, a second look and the answer; what one good page can tell.
# standard: the reference engine's twelve steps, eight for a part. A question over three hops needs
# three searches; ten first pages hold the answer of 86 % of plain questions, six of 82 %.
# deep: twice and more of everything, and two looks at what a draft leaves open: the first finds
# what was overlooked, the second what that brought up; a third seldom finds anything.
_NUMBERS: dict[str, tuple[Any, Any, Any]] = {
    "steps": (6, 12, 40),
    "sources": (6, 24, 60),
    "parts_steps": (9, 24, 60),
    "part_steps": (3, 8, 12),
    "plans": (False, True, True),
    "rounds": (0, 0, 2),
    "points": (0, 0, 3),
    "sections": (3, 4, 6),
    "engines": (1, 2, 3),
    "rephrases": (0, 2, 4),
    "translates": (False, False, True),
    "first_reads": (3, 10, 12),
    "next_reads": (2, 4, 8),
    "queries": (1, 3, 5),
    "searches": (1, 3, 5),
    "list_pages": (2, 5, 15),
}
_DEPTHS: tuple[Depth, ...] = ("quick", "standard", "deep")
EFFORTS: dict[Depth, Effort] = {
    depth: Effort(**{name: row[n] for name, row in _NUMBERS.items()})
    for n, depth in enumerate(_DEPTHS)
}
STANDARD = EFFORTS["standard"]
