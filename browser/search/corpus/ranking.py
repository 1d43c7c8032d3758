"""From a question to the files of a corpus that speak of it, and where in them."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from browser.search.corpus.index import PASSAGE_BITS
from browser.search.corpus.passages import unspaced
from browser.text import STOP_WORDS, content_words

if TYPE_CHECKING:
    import sqlite3

# A title is short and chosen: a word in it counts this often.
_TITLE_WEIGHT = 3.0
# A word in more than this share of passages says nothing about which of them is meant.
_COMMON = 0.25
_MOST_TERMS = 12
# Passages looked at for one query: 20 for each of ten results.
_LOOKED_AT = 200
# What a file's second-best passage adds: two places that match are better than one.
_SECOND = 0.25

# Only constants are put into these statements; what is asked is always bound.
_FILES_WITH = f"SELECT rowid >> {PASSAGE_BITS} FROM passage WHERE passage MATCH ?"  # noqa: S608
_SCORED = (
    f"SELECT rowid, -bm25(passage, {_TITLE_WEIGHT}, 1.0, 1.0) AS score"  # noqa: S608
    " FROM passage WHERE passage MATCH ?"
)

# A best hit with less than this share of the query's weight is about something else: the chain
# goes on to the web. Of 110 questions over 1,700 pages one loses its answer by it.
_LEAST = 0.25

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the query as FTS5 is asked for it, and its weight (inverse document frequency)."""

    word: str
    match: str
    weight: float
    found: int

    @property
    def stems(self) -> list[str]:
        """The word as our own tokenizer sees it, to find it in a passage again."""
        return content_words(self.word)


@dataclass(frozen=True, slots=True)
class Hit:
    """A file that matches: its path and title, its best passage, and its score."""

    path: str
    title: str
    passage: str
    score: float
    modified: int


def terms(db: sqlite3.Connection, text: str) -> list[Term]:
    """Give the query's words that carry meaning, the rarest first."""
    # FTS5's table of lengths has a row a passage; counting `passage` itself reads every text.
    (passages,) = db.execute("SELECT count(*) FROM passage_docsize").fetchone()
    result = []
    for word in dict.fromkeys(_WORD.findall(text.lower())):
        if word in STOP_WORDS:
            continue
        match = '"' + (unspaced(word) or word) + '"'
        (found,) = db.execute(
            "SELECT count(*) FROM passage WHERE passage MATCH ?", (match,)
        ).fetchone()
        weight = math.log(1 + (passages - found + 0.5) / (found + 0.5))
        result.append(Term(word, match, weight, found))
    result.sort(key=lambda term: -term.weight)
    telling = [term for term in result if term.found <= _COMMON * passages]
    return (telling or result)[:_MOST_TERMS]


def find(db: sqlite3.Connection, asked: list[Term], limit: int) -> list[Hit]:
    """Give the best files: those that have all the words first, then those that have the rarest."""
    found = [term for term in asked if term.found]
    if not found:
        return []
    passages = _passages(db, found, everywhere=True) if len(found) == len(asked) else []
    whole = {row >> PASSAGE_BITS for row, _ in passages}
    if len(whole) < limit:
        passages += _passages(db, found, everywhere=False)
    hits = _files(db, passages, whole, limit)
    return hits if whole or any(_covered(hit, asked) >= _LEAST for hit in hits) else []


def _covered(hit: Hit, asked: list[Term]) -> float:
    """Share of the query's weight whose words stand in a hit's title or passage, 0 to 1."""
    have = set(content_words(f"{hit.title} {hit.passage}"))
    found = sum(term.weight for term in asked if have.issuperset(term.stems))
    return found / (sum(term.weight for term in asked) or 1.0)


def _passages(
    db: sqlite3.Connection, found: list[Term], *, everywhere: bool
) -> list[tuple[int, float]]:
    """Score passages by BM25, best first, as (row id, score).

    With `everywhere` only those of files in which every term is found, in whatever passage.
    """
    matches = [term.match for term in found]
    sql, parameters = _SCORED, [" OR ".join(matches)]
    if everywhere:
        files = " INTERSECT ".join([_FILES_WITH] * len(matches))
        sql, parameters = f"{sql} AND rowid >> {PASSAGE_BITS} IN ({files})", parameters + matches
    return db.execute(f"{sql} ORDER BY score DESC, rowid LIMIT {_LOOKED_AT}", parameters).fetchall()


def _files(
    db: sqlite3.Connection, passages: list[tuple[int, float]], whole: set[int], limit: int
) -> list[Hit]:
    by_file: dict[int, dict[int, float]] = defaultdict(dict)
    for row, score in passages:
        by_file[row >> PASSAGE_BITS][row] = score
    ranked = sorted(by_file, key=lambda number: (number not in whole, -_score(by_file[number])))
    hits = []
    for number in ranked[:limit]:
        scores = by_file[number]
        best = max(scores, key=lambda row: scores[row])
        hits.append(_hit(db, number, best, _score(scores)))
    return hits


def _score(scores: dict[int, float]) -> float:
    best, *others = sorted(scores.values(), reverse=True)
    return best + _SECOND * (others[0] if others else 0.0)


def _hit(db: sqlite3.Connection, number: int, row: int, score: float) -> Hit:
    path, title, modified = db.execute(
        "SELECT path, title, modified FROM file WHERE id = ?", (number,)
    ).fetchone()
    (passage,) = db.execute("SELECT text FROM passage WHERE rowid = ?", (row,)).fetchone()
    return Hit(path, title, passage, score, modified)
