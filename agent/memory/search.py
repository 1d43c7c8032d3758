"""Searches a namespace's memories by words, meaning and associations.

Rare words yield candidates, which are scored together with their neighbours: an answer is often
next to a memory that contains the question's words, above all if that memory is itself a question.
Bonuses are relative to the best score by words alone; they were tuned on long conversations with
leave-one-out validation, and the optimum is flat. The cost is bounded for stores of any size: words
that occur too often yield no candidates, but add to the scores of candidates found by rarer words.
The inverted index is FTS5 in SQLite and GIN in Postgres.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from agent.memory.database import memories, rows_by_id
from agent.memory.kinds import OTHER_WEIGHT, WEIGHTS
from agent.memory.terms import (
    ASKS,
    NAMES_TIME,
    kind_term,
    parse_question,
    speaker_term,
    split_terms,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from agent.memory.associations import Links
    from agent.memory.terms import Query
    from agent.memory.vectors import Vector, Vectors

    Scored = list[tuple[float, "IndexedMemory"]]
    """Scores and memories, best first."""
    Found = list[tuple[float, int]]
    """Scores and ids of memories, best first."""

MIN_COMMON = 1_000  # a word in at least this many memories does not yield candidates
MAX_OCCURRENCES = 600  # maximum number of occurrences read for all words together
MAX_CANDIDATES = 40  # maximum number of candidates whose windows are read
MIN_CANDIDATES = 30  # with fewer candidates, combinations of common words are also looked up
MAX_PER_COMBINATION = 100  # maximum number of memories per combination of common words
IDF_SMOOTHING = 100  # virtual memories without the word, so that IDF also works in small stores

# Share of a memory's words that counts towards its neighbours, by distance in the session. The next
# memory gets the most: answers follow questions.
NEIGHBOUR_WEIGHTS = ((0, 1.0), (1, 0.5), (-1, 0.3), (2, 0.2), (-2, 0.2))
# Share of a question's words that also counts towards the next memory: a reply rarely repeats them.
# Without it, MRR on long conversations is 2 points lower.
QUESTION_WEIGHT = 0.6
SESSION_WEIGHT = 0.06  # share of a memory's words that counts towards every memory in the session
MAX_SESSION_COUNT = (
    # maximum number of occurrences counted in this way: very long sessions have no single topic
    6
)
BM25_K1 = 1.0  # k1 of BM25; its length normalization b is 0, since windows even out lengths
# Each bonus improves results on long conversations: without it, recall@10 or MRR drops by the
# number of points after the colon.
PAIR_BONUS = 0.4  # two of the question's words are adjacent: .4
SPEAKER_BONUS = 0.35  # the question names the speaker: 3.9
MONTH_BONUS = 0.6  # it happened in a month that the question names: 1.6
TIME_BONUS = 0.1  # the question asks for a time, and the text names one: .7
REPLY_BONUS = 0.08  # it follows a question that it may answer: .8
# a memory has `FULL_LENGTH` words (less for shorter ones), since "Great!" is not an answer: .2
LENGTH_BONUS = 0.15
FULL_LENGTH = 20

MAX_REORDERED = 100  # maximum number of word hits that are reordered by meaning
# Spread of cosines relative to that of word scores, after scaling both to the same range.
MEANING_WEIGHT = 0.5
MIN_SPREAD = 0.1  # minimum spread of word scores, as a share of their mean
# spread of scores if no word matches: determines the order, not relevance
MEANING_ONLY_WEIGHT = 0.05

# (hours, bonus), as in the reference engine; only for memories that contain a word of the question.
RECENCY_BONUSES = ((24, 0.15), (72, 0.05))

_IDS_WITH_TERMS_SQLITE = (
    "SELECT rowid AS id FROM memory_index WHERE memory_index MATCH %s AND rowid BETWEEN %s AND %s"
)
_IDS_WITH_TERMS_POSTGRES = (
    "SELECT id FROM memories WHERE string_to_array(terms, ' ') @> %s::text[] "
    "AND id BETWEEN %s AND %s AND state = 'active'"
)
_KIND_CONDITION_POSTGRES = " AND string_to_array(terms, ' ') && %s::text[]"


class IndexedMemory(NamedTuple):
    """The columns of a memory that the ranking uses; `terms` are separated by spaces."""

    id: int
    session: int
    at: float
    traits: int
    terms: str
    kind: str


_INDEXED = sa.select(*(memories.c[name] for name in IndexedMemory._fields)).where(
    memories.c.id.in_(sa.bindparam("ids", expanding=True)), memories.c.state == "active"
)


def index_memories(connection: sa.Connection, rows: Iterable[tuple[int, str]]) -> None:
    """Add memories, given as (id, terms), to the index; Postgres updates its index itself."""
    values = [(id_, terms) for id_, terms in rows if terms]
    if values and connection.dialect.name == "sqlite":
        connection.exec_driver_sql("INSERT INTO memory_index(rowid, terms) VALUES (?, ?)", values)


def unindex_memories(connection: sa.Connection, rows: Iterable[tuple[int, str]]) -> None:
    """Remove memories from the index; FTS5 needs the terms that were added."""
    values = [(id_, terms) for id_, terms in rows if terms]
    if values and connection.dialect.name == "sqlite":
        delete = "INSERT INTO memory_index(memory_index, rowid, terms) VALUES ('delete', ?, ?)"
        connection.exec_driver_sql(delete, values)


def find(words: WordSearch, text: str, vectors: Vectors | None, links: Links | None) -> Found:
    """Find memories that are relevant to `text`, best first.

    With `vectors`, this includes memories that share no word with `text`; with `links`, it includes
    those that proven associations connect to the best hits.
    """
    query_vector = vectors.question(text) if vectors is not None and text.strip() else None
    if vectors is None or query_vector is None:
        ranked = words.find(text)
        found = [(score, row.id) for score, row in ranked]
    else:
        near = vectors.nearest(words.connection, query_vector, words.first, words.last)
        ranked = words.find(text, near)
        found = [(score, row.id) for score, row in ranked]
        found = _reorder(words.connection, vectors, query_vector, found, near)
    known = {row.id: row for _, row in ranked}
    reached = links.follow(words.connection, found) if links is not None else {}
    if reached:
        known |= {row.id: row for row in words.memories(reached) if words.wants(row)}
        found += [(score, id_) for id_, score in reached.items() if id_ in known]
    weighed = [(_weigh(score, known[id_]), id_) for score, id_ in found]
    return sorted(weighed, key=lambda pair: (-pair[0], pair[1]))


class WordSearch:
    """Searches memories with ids from `first` to `last`, of `kinds` (None: all), by words."""

    def __init__(
        self, connection: sa.Connection, first: int, last: int, kinds: Collection[str] | None
    ) -> None:
        self.connection = connection
        self.first = first
        self.last = last
        self._kinds = kinds
        self._kind_terms = [kind_term(kind) for kind in kinds or ()]

    def find(self, text: str, also: Collection[int] = ()) -> Scored:
        """Find memories relevant to `text`, best first; `also` contains ids of more candidates."""
        query = parse_question(text)
        names = [speaker_term(term) for term in query.terms]
        reach = self._count_by_term([*query.terms, *names])
        known = sorted((t for t in query.terms if t in reach), key=lambda term: reach[term][0])
        if not known and not also:
            return []
        idf = {term: self._idf(*reach[term]) for term in known}
        mass = sum(idf.values()) + (len(query.terms) - len(known)) * self._idf(0, self.first)
        candidates = [*self._candidates(known, reach, idf), *also]
        rows = self.memories({id_ + by for id_ in candidates for by, _ in NEIGHBOUR_WEIGHTS})
        ranked = rank(query, rows, idf, [name for name in names if name in reach], mass, also)
        return [(score, row) for score, row in ranked if self.wants(row)]

    def wants(self, row: IndexedMemory) -> bool:
        """Return whether a memory's kind was requested."""
        return self._kinds is None or row.kind in self._kinds

    def memories(self, ids: Iterable[int]) -> list[IndexedMemory]:
        """Read the active memories with these ids."""
        rows = self.connection.execute(_INDEXED, {"ids": sorted(ids)})
        return [IndexedMemory._make(row) for row in rows]

    def _count_by_term(self, terms: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Count the memories with each term, up to `MIN_COMMON`; returns (count, last counted id).

        Terms that do not occur are left out.
        """
        counting = "SELECT {number}, count(*), max(id) FROM ({matching_ids} LIMIT {cap}) AS found"
        rows = self._query_each_term(terms, counting, cap=MIN_COMMON)
        return {terms[number]: (count, last) for number, count, last in rows if count}

    def _idf(self, count: int, last: int) -> float:
        size = self.last - self.first + 1
        found = float(count)
        if count >= MIN_COMMON:  # counting stopped here, so extrapolate at the same density
            found *= size / max(1, last - self.first + 1)
        return math.log(1 + (max(0.0, size - found) + IDF_SMOOTHING) / (found + 0.5))

    def _candidates(
        self, terms: list[str], reach: Mapping[str, tuple[int, int]], idf: Mapping[str, float]
    ) -> list[int]:
        """List the most promising memories; `terms` are the question's, rarest first."""
        rare: list[str] = []
        budget = MAX_OCCURRENCES
        for term in terms:
            budget -= reach[term][0]
            if reach[term][0] >= MIN_COMMON or (rare and budget < 0):
                break
            rare.append(term)
        scores: dict[int, float] = defaultdict(float)
        for number, id_ in self._query_each_term(
            rare, "SELECT {number}, id FROM ({matching_ids}) AS found"
        ):
            scores[id_] += idf[rare[number]]
        if len(rare) < len(terms):
            # Look up memories with all of the words, then with fewer, down to the rarest word
            # alone.
            for count in sorted({len(terms), len(terms) // 2, 2, 1} - {0}, reverse=True):
                if len(scores) >= MIN_CANDIDATES:
                    break
                matching_ids, values = self._matching_ids_sql(terms[:count])
                newest = f"{matching_ids} ORDER BY id DESC LIMIT {MAX_PER_COMBINATION}"
                together = sum(idf[term] for term in terms[:count])
                for (id_,) in self._execute(newest, values):
                    scores[id_] = max(scores[id_], together)
        best = heapq.nlargest(MAX_CANDIDATES, ((score, id_) for id_, score in scores.items()))
        return [id_ for _, id_ in best]

    def _query_each_term(
        self, terms: Sequence[str], template: str, **constants: int
    ) -> Sequence[Any]:
        """Run a query template for each term, in one UNION statement."""
        parts, values = [], []
        for number, term in enumerate(terms):
            matching_ids, bound = self._matching_ids_sql([term])
            parts.append(template.format(number=number, matching_ids=matching_ids, **constants))
            values += bound
        return self._execute(" UNION ALL ".join(parts), values) if parts else []

    def _matching_ids_sql(self, terms: Sequence[str]) -> tuple[str, list[Any]]:
        """Return the SQL that selects the ids of memories with all terms, and its bound values.

        The values are never part of the SQL. For FTS5's query language, terms are quoted; they
        consist of ASCII letters and digits.
        """
        if self.connection.dialect.name == "sqlite":
            match = " AND ".join(f'"{term}"' for term in terms)
            if self._kind_terms:
                match += " AND (" + " OR ".join(f'"{term}"' for term in self._kind_terms) + ")"
            return _IDS_WITH_TERMS_SQLITE, [match, self.first, self.last]
        values: list[Any] = [list(terms), self.first, self.last]
        if self._kind_terms:
            return _IDS_WITH_TERMS_POSTGRES + _KIND_CONDITION_POSTGRES, [*values, self._kind_terms]
        return _IDS_WITH_TERMS_POSTGRES, values

    def _execute(self, statement: str, values: Sequence[Any]) -> Sequence[Any]:
        if self.connection.dialect.name == "sqlite":
            statement = statement.replace("%s", "?")
        return self.connection.exec_driver_sql(statement, tuple(values)).all()


def rank(
    query: Query,
    candidates: Iterable[IndexedMemory],
    idf: Mapping[str, float],
    names: Sequence[str],
    mass: float,
    also: Collection[int] = (),
) -> Scored:
    """Score candidates, best first; one with every word of the question scores about 1.

    `names` contains the speaker terms of people named in the question. `mass` is the weight of all
    the question's words, including those that no memory contains. Ids in `also` are scored even
    without a matching word.
    """
    rows = {candidate.id: candidate for candidate in candidates}
    weights = dict(idf)
    for one, other in query.pairs:
        if one in idf and other in idf:
            weights[f"{one} {other}"] = PAIR_BONUS * (idf[one] + idf[other]) / 2
    words = _by_words(rows, weights)
    best = max(words.values(), default=0.0) or 1.0
    words |= {id_: 0.0 for id_ in also if id_ in rows and id_ not in words}
    scale = best / (mass or best)
    scored = [
        ((by_words / best + _bonus(query, rows[id_], rows.get(id_ - 1), names)) * scale, rows[id_])
        for id_, by_words in words.items()
    ]
    return sorted(scored, key=lambda pair: (-pair[0], pair[1].id))


def _by_words(rows: Mapping[int, IndexedMemory], weights: Mapping[str, float]) -> dict[int, float]:
    """Score memories with BM25, spreading terms over windows and sessions."""
    wanted = [(term, f" {term} ") for term in weights]
    spread: dict[int, dict[str, float]] = {}
    pools: dict[int, Counter[str]] = defaultdict(Counter)
    for id_, row in rows.items():
        text = f" {row.terms} "
        terms = [term for term, spaced in wanted if spaced in text]
        if not terms:
            continue
        pools[row.session].update(terms)
        questions = f" {split_terms(text)[1]}"
        asked = [term for term in terms if f" {term} " in questions]
        shares = [(distance, share, terms) for distance, share in NEIGHBOUR_WEIGHTS]
        shares.append((1, QUESTION_WEIGHT, asked))
        for distance, share, shared in shares:
            near = rows.get(id_ + distance)
            if near is not None and near.session == row.session:
                amounts = spread.setdefault(near.id, {})
                for term in shared:
                    amounts[term] = amounts.get(term, 0.0) + share
    pooled = {
        session: [
            (term, SESSION_WEIGHT * min(count, MAX_SESSION_COUNT)) for term, count in pool.items()
        ]
        for session, pool in pools.items()
    }
    scores = {}
    for id_, amounts in spread.items():
        total = 0.0
        for term, share in pooled[rows[id_].session]:
            amount = amounts.get(term, 0.0) + share
            total += weights[term] * amount / (amount + BM25_K1)
        scores[id_] = total * (BM25_K1 + 1)
    return scores


def _bonus(
    query: Query, row: IndexedMemory, before: IndexedMemory | None, names: Sequence[str]
) -> float:
    """Compute the bonus for the speaker, the time, the length, and replying to a question."""
    bonus = LENGTH_BONUS * min(1.0, split_terms(row.terms)[0].count(" ") / FULL_LENGTH)
    if any(name in row.terms for name in names):
        bonus += SPEAKER_BONUS
    if query.asks_when and row.traits & NAMES_TIME:
        bonus += TIME_BONUS
    if before and before.traits & ASKS and before.session == row.session:
        bonus += REPLY_BONUS
    if query.months and datetime.fromtimestamp(row.at, UTC).month in query.months:
        bonus += MONTH_BONUS
    return bonus


def _reorder(
    connection: sa.Connection,
    vectors: Vectors,
    asked: Vector,
    found: Found,
    near: Collection[int],
) -> Found:
    """Reorder the top word hits together with memories found only by meaning.

    A memory is compared together with its neighbours, since they show what it is about.
    """
    head = [
        *found[:MAX_REORDERED],
        *(pair for pair in found[MAX_REORDERED:] if pair[1] in set(near)),
    ]
    rows = rows_by_id(
        connection, sorted({id_ - by for _, id_ in head for by, _ in NEIGHBOUR_WEIGHTS})
    )
    rows = {id_: row for id_, row in rows.items() if row.state == "active"}
    head = [pair for pair in head if pair[1] in rows]
    # For each hit: itself, and its weighted neighbours in the session.
    windows = [
        [
            (share, rows[id_ - by])
            for by, share in NEIGHBOUR_WEIGHTS
            if id_ - by in rows and rows[id_ - by].session == rows[id_].session
        ]
        for _, id_ in head
    ]
    cosines = vectors.cosines(asked, windows)
    if cosines is None:
        return found
    known = {id_ for _, id_ in head}
    return [*_fuse_scores(head, cosines), *(pair for pair in found if pair[1] not in known)]


def _fuse_scores(found: Found, cosines: Sequence[float]) -> Found:
    """Order hits by the sum of their word scores and cosines, scaled to the same range."""
    if len(found) < 2:
        return found
    import statistics  # noqa: PLC0415 - needed only with embeddings

    scores = [score for score, _ in found]
    spread = (
        max(statistics.pstdev(scores), MIN_SPREAD * statistics.mean(scores)) or MEANING_ONLY_WEIGHT
    )
    scale, mean = spread / (statistics.pstdev(cosines) or 1.0), statistics.mean(cosines)
    summed = [
        (score + MEANING_WEIGHT * scale * (near - mean), id_)
        for (score, id_), near in zip(found, cosines, strict=True)
    ]
    return [(max(0.0, s), id_) for s, id_ in sorted(summed, key=lambda pair: (-pair[0], pair[1]))]


def _weigh(score: float, row: IndexedMemory) -> float:
    """Weight a score by the memory's kind, and add a recency bonus; a score of 0 stays 0.

    The weights are the reference engine's. The recency bonus is proportional to scores below 1.
    """
    if score <= 0:
        return 0.0
    hours = (time.time() - row.at) / 3_600
    recency = next((bonus for limit, bonus in RECENCY_BONUSES if 0 <= hours < limit), 0.0)
    return score * WEIGHTS.get(row.kind, OTHER_WEIGHT) + recency * min(1.0, score)
