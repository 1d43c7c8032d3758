"""Searching by words: rare ones bring candidates, which are scored with their neighbours.

A memory is scored over a window, because an answer often lies beside the words that were asked for.
Weights are relative to the best score by words alone; they were tuned on long conversations,
leaving one out at a time, and are flat around these values. The cost is bounded whatever the size
of the store: words that occur too often bring no candidates of their own, but count for those that
rarer words bring.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agent.memory.kinds import OTHER_WEIGHT, WEIGHTS
from agent.memory.term_index import ASKS, NAMES_TIME, Reach, kind_term, parse, speaker_term

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import sqlalchemy as sa

    from agent.memory.term_index import IndexedTerm, Query, Range, TermIndex

    Scored = list[tuple[float, IndexedTerm]]

COMMON = 1_000  # a word in more memories than this brings no candidates of its own
OCCURRENCES = 600  # that are looked at, of all words together
CANDIDATES = 60  # whose windows are read
PROMISING = 0.35  # of the best candidate's words: what a candidate must have
ENOUGH = 30  # candidates, before common words are asked for
TOGETHER = 100  # memories in which common words stand together
BACKGROUND = 100  # memories without a word that every store is thought to have besides its own

# How much of a neighbour's words counts as one's own, by its distance in the session.
# A memory gives to those around it, most to the one that follows: answers follow questions.
WINDOW = ((0, 1.0), (1, 0.5), (-1, 0.3), (2, 0.2), (-2, 0.2))
SESSION = 0.06  # and of every other memory of the session
SESSION_CAP = 6  # of which so many count: a session that goes on for ever is no topic
SATURATION = 1.0  # k1 of BM25; its length norm b is 0: a window evens lengths out
# Each bonus pays on the long conversations: without it recall@10 or MRR is lower by so many points.
PAIR = 0.4  # two words of the question that stand together: .4
SPEAKER_BONUS = 0.35  # the one who speaks is named: 3.1
MONTH_BONUS = 0.6  # it happened in a month that is named: .8
TIME_BONUS = 0.1  # a question for the time, a text that names one: .9
REPLY_BONUS = 0.08  # it follows a question, which it may answer: 1.0
LENGTH_BONUS = 0.15  # of a text of this many words; "Great!" answers nothing: .3
FULL_LENGTH = 20

# The reference engine's, in hours; a memory without a word of the question is not new enough.
RECENCY = ((24, 0.15), (72, 0.05))


class WordSearch:
    """Searches by words over one namespace; `kinds` are those wanted, None for all."""

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

    def find(self, text: str, also: Collection[int] = ()) -> Scored:
        """Find memories that bear on a text, best first; `also` are ids of further candidates."""
        query = parse(text)
        counts, names = self._count(query)
        if not counts and not also:
            return []
        idf = {term: self._idf(reach) for term, reach in counts.items()}
        unknown = len(query.terms) - len(counts)
        mass = sum(idf.values()) + unknown * self._idf(Reach(0, self._where.first))
        candidates = [*self._candidates(counts, idf), *also] if counts else also
        nearby = sorted({id_ + by for id_ in candidates for by, _ in WINDOW})
        rows = self._index.rows(self._connection, nearby)
        ranked = rank(query, rows, idf, names, mass, also)
        return [pair for pair in ranked if self._kinds is None or pair[1].kind in self._kinds]

    def _count(self, query: Query) -> tuple[dict[str, Reach], list[str]]:
        """Count the words that some memory has, rarest first; name those who speak somewhere."""
        names = [speaker_term(term) for term in query.terms]
        reaches = self._index.reach(
            self._connection, [*query.terms, *names], self._where, COMMON, self._among
        )
        words, spoken = reaches[: len(names)], reaches[len(names) :]
        known = [(t, reach) for t, reach in zip(query.terms, words, strict=True) if reach.count]
        speakers = [name for name, reach in zip(names, spoken, strict=True) if reach.count]
        return dict(sorted(known, key=lambda entry: entry[1].count)), speakers

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


def rank(
    query: Query,
    candidates: Iterable[IndexedTerm],
    idf: Mapping[str, float],
    names: Sequence[str],
    mass: float,
    also: Collection[int] = (),
) -> Scored:
    """Score candidates, best first; a score of 1 is about what has every word of the question.

    `names` are the speaker terms of those whom the question names; `mass` is what all words of
    the question weigh, those that no memory has included; `also` are scored without any word.
    """
    rows = {candidate.id: candidate for candidate in candidates}
    weights = dict(idf)
    for one, other in query.pairs:
        if one in idf and other in idf:
            weights[f"{one} {other}"] = PAIR * (idf[one] + idf[other]) / 2
    words = _by_words(rows, weights)
    best = max(words.values(), default=0.0) or 1.0
    words |= {id_: 0.0 for id_ in also if id_ in rows and id_ not in words}
    scale = best / (mass or best)
    scored = [
        ((by_words / best + _bonus(query, rows[id_], rows.get(id_ - 1), names)) * scale, rows[id_])
        for id_, by_words in words.items()
    ]
    return sorted(scored, key=lambda pair: (-pair[0], pair[1].id))


def _by_words(rows: Mapping[int, IndexedTerm], weights: Mapping[str, float]) -> dict[int, float]:
    """Spread terms over windows and sessions, and add them up with saturation, as BM25 does."""
    wanted = [(term, f" {term} ") for term in weights]
    spread: dict[int, dict[str, float]] = {}
    pools: dict[int, Counter[str]] = defaultdict(Counter)
    for id_, row in rows.items():
        text = f" {row.terms} "
        terms = [term for term, spaced in wanted if spaced in text]
        if not terms:
            continue
        pools[row.session].update(terms)
        for distance, share in WINDOW:
            near = rows.get(id_ + distance)
            if near is not None and near.session == row.session:
                amounts = spread.setdefault(near.id, {})
                for term in terms:
                    amounts[term] = amounts.get(term, 0.0) + share
    pooled = {
        session: [(term, SESSION * min(count, SESSION_CAP)) for term, count in pool.items()]
        for session, pool in pools.items()
    }
    scores = {}
    for id_, amounts in spread.items():
        total = 0.0
        for term, share in pooled[rows[id_].session]:
            amount = amounts.get(term, 0.0) + share
            total += weights[term] * amount / (amount + SATURATION)
        scores[id_] = total * (SATURATION + 1)
    return scores


def _bonus(
    query: Query, row: IndexedTerm, before: IndexedTerm | None, names: Sequence[str]
) -> float:
    """Add what the words do not say: speaker, time, what stands before, length."""
    bonus = LENGTH_BONUS * min(1.0, row.terms.count(" ") / FULL_LENGTH)
    if any(name in row.terms for name in names):
        bonus += SPEAKER_BONUS
    if query.asks_when and row.traits & NAMES_TIME:
        bonus += TIME_BONUS
    if before and before.traits & ASKS and before.session == row.session:
        bonus += REPLY_BONUS
    if query.months and datetime.fromtimestamp(row.at, UTC).month in query.months:
        bonus += MONTH_BONUS
    return bonus


def weighed(score: float, row: IndexedTerm, now: float | None = None) -> float:
    """Weigh a score by the kind of the memory, and add to it what is new; 0 stays 0.

    The reference engine's weights. What is new counts by as much as its words do.
    """
    if score <= 0:
        return 0.0
    hours = ((time.time() if now is None else now) - row.at) / 3_600
    recency = next((bonus for limit, bonus in RECENCY if 0 <= hours < limit), 0.0)
    return score * WEIGHTS.get(row.kind, OTHER_WEIGHT) + recency * min(1.0, score)
