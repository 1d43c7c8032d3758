"""A search: rare words bring candidates and their neighbours, the ranking orders them.

The cost is bounded whatever the size of the store: words that occur too often bring no candidates
of their own, but count for those that rarer words bring.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from typing import TYPE_CHECKING

from agent.memory.retrieval.index import Reach
from agent.memory.retrieval.query import parse
from agent.memory.retrieval.ranking import WINDOW, rank
from agent.memory.retrieval.rewording import SHARE, other_words
from agent.memory.terms import kind_term, speaker_term

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import sqlalchemy as sa

    from agent.memory.retrieval.index import Range, TermIndex
    from agent.memory.retrieval.query import Query
    from agent.memory.retrieval.ranking import Candidate

COMMON = 1_000  # a word in more memories than this brings no candidates of its own
OCCURRENCES = 600  # that are looked at, of all words together
CANDIDATES = 60  # whose windows are read
PROMISING = 0.35  # of the best candidate's words: what a candidate must have
ENOUGH = 30  # candidates, before common words are asked for
TOGETHER = 100  # memories in which common words stand together
BACKGROUND = 100  # memories without a word that every store is thought to have besides its own
# Someone whose name stands before three memories and a third of those that have it, speaks there.
SPEAKS = 3
SPEAKS_SHARE = 0.3


class Search:
    """One search over one namespace."""

    def __init__(
        self,
        connection: sa.Connection,
        index: TermIndex,
        where: Range,
        kinds: Collection[str] | None,
    ) -> None:
        self._connection = connection
        self._index = index
        self._where = where
        self._kinds = kinds
        self._among = [kind_term(kind) for kind in kinds or ()]

    def find(self, text: str, also: Collection[int] = ()) -> list[tuple[float, Candidate]]:
        """Find memories that bear on a text, best first; `also` are ids of further candidates."""
        query = parse(text)
        counts, names = self._count(query)
        idf = {term: self._idf(reach) for term, reach in counts.items()}
        mass = self._mass(query, idf, names)
        others = self._count_others(query, counts, names)
        if not counts and not others and not also:
            return []
        idf |= {term: SHARE * self._idf(reach) for term, reach in others.items()}
        counts = dict(sorted((counts | others).items(), key=lambda entry: entry[1].count))
        candidates = [*self._candidates(counts, idf), *also] if counts else also
        nearby = sorted({id_ + by for id_ in candidates for by, _ in WINDOW})
        rows = self._index.rows(self._connection, nearby)
        ranked = rank(query, rows, idf, names, mass, also)
        return [pair for pair in ranked if self._kinds is None or pair[1].kind in self._kinds]

    def _mass(self, query: Query, idf: Mapping[str, float], names: Sequence[str]) -> float:
        """Weigh all words of content; one that no memory has weighs most."""
        named = {term for term in query.terms if speaker_term(term) in names}
        unknown = len(set(query.terms) - idf.keys() - named)
        return sum(idf.values()) + unknown * self._idf(Reach(0, self._where.first))

    def _count(self, query: Query) -> tuple[dict[str, Reach], list[str]]:
        """Count the words of content, rarest first; tell them from names of speakers."""
        names = [speaker_term(term) for term in query.terms]
        reaches = self._index.reach(
            self._connection, [*query.terms, *names], self._where, COMMON, self._among
        )
        words, spoken = reaches[: len(names)], reaches[len(names) :]
        known = [
            (term, reach, by)
            for term, reach, by in zip(query.terms, words, spoken, strict=True)
            if reach.count
        ]
        known.sort(key=lambda entry: entry[1].count)
        content = {term: reach for term, reach, by in known if not _speaks(by, reach)}
        speakers = [speaker_term(term) for term, _, by in known if by.count]
        return content or {term: reach for term, reach, _ in known}, speakers

    def _count_others(
        self, query: Query, counts: Mapping[str, Reach], names: Sequence[str]
    ) -> dict[str, Reach]:
        """Count what can stand for the words that no memory has."""
        missing = [t for t in query.terms if t not in counts and speaker_term(t) not in names]
        terms = [term for term in other_words(missing) if term not in query.terms]
        reaches = self._index.reach(self._connection, terms, self._where, COMMON, self._among)
        return {term: reach for term, reach in zip(terms, reaches, strict=True) if reach.count}

    def _idf(self, reach: Reach) -> float:
        size = self._where.last - self._where.first + 1
        found = float(reach.count)
        if reach.count >= COMMON:  # counting stopped: go on at the same density
            found *= size / max(1, reach.last - self._where.first + 1)
        return math.log(1 + (max(0.0, size - found) + BACKGROUND) / (found + 0.5))

    def _candidates(self, counts: Mapping[str, Reach], idf: Mapping[str, float]) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        rare = _affordable(counts)
        for number, id_ in self._index.holders(self._connection, rare, self._where, self._among):
            scores[id_] += idf[rare[number]]
        if len(rare) < len(counts):
            self._add_common(list(counts), idf, scores)
        floor = PROMISING * max(scores.values(), default=0.0)
        able = [(score, id_) for id_, score in scores.items() if score >= floor]
        return [id_ for _, id_ in heapq.nlargest(CANDIDATES, able)]

    def _add_common(
        self, terms: list[str], idf: Mapping[str, float], scores: dict[int, float]
    ) -> None:
        """Look where many of the words stand together, then fewer, down to the rarest alone."""
        for count in sorted({len(terms), len(terms) // 2, 2, 1} - {0}, reverse=True):
            if len(scores) >= ENOUGH:
                return
            together = terms[:count]
            for id_ in self._index.holding_all(
                self._connection, together, self._where, TOGETHER, self._among
            ):
                scores[id_] = max(scores[id_], sum(idf[term] for term in together))


def _speaks(by: Reach, reach: Reach) -> bool:
    return by.count >= SPEAKS and by.count >= SPEAKS_SHARE * reach.count


def _affordable(counts: Mapping[str, Reach]) -> Sequence[str]:
    """Take the rarest terms while the memories that hold them are few enough to look at."""
    taken: list[str] = []
    budget = OCCURRENCES
    for term, reach in counts.items():
        budget -= reach.count
        if reach.count >= COMMON or (taken and budget < 0):
            break
        taken.append(term)
    return taken
