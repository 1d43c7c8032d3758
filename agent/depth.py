"""What a depth spends: every number of `quick`, `standard` and `deep` stands here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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


EFFORTS: dict[Depth, Effort] = {
    # A search, one reading, a second look and the answer; what one good page can tell.
    "quick": Effort(
        steps=6,
        sources=6,
        parts_steps=9,
        part_steps=3,
        plans=False,
        rounds=0,
        points=0,
        sections=3,
        engines=1,
        rephrases=0,
        translates=False,
        first_reads=3,
        next_reads=2,
        queries=1,
        searches=1,
        list_pages=2,
    ),
    # The reference engine's twelve steps, eight for a part. A question over three hops needs
    # three searches; ten first pages hold the answer of 86 % of plain questions, six of 82 %.
    "standard": Effort(
        steps=12,
        sources=24,
        parts_steps=24,
        part_steps=8,
        plans=True,
        rounds=0,
        points=0,
        sections=4,
        engines=2,
        rephrases=2,
        translates=False,
        first_reads=10,
        next_reads=4,
        queries=3,
        searches=3,
        list_pages=5,
    ),
    # Twice and more of everything, and two looks at what a draft leaves open: the first finds
    # what was overlooked, the second what that brought up; a third seldom finds anything.
    "deep": Effort(
        steps=40,
        sources=60,
        parts_steps=60,
        part_steps=12,
        plans=True,
        rounds=2,
        points=3,
        sections=6,
        engines=3,
        rephrases=4,
        translates=True,
        first_reads=12,
        next_reads=8,
        queries=5,
        searches=5,
        list_pages=15,
    ),
}
STANDARD = EFFORTS["standard"]
