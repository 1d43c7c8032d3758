"""`--corpus DIR`: local files, found by their words, as results with `file://` addresses."""

from __future__ import annotations

import asyncio
import math
import re
import sqlite3
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from browser.search.corpus_index import PASSAGE_BITS, Index, Synced, checked_folder, unspaced
from browser.search.provider import SearchSource
from browser.search.results import one_line, since_day
from browser.text.sentences import sentences
from browser.text.words import STOP_WORDS, content_words
from browser.types import Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from browser.net.http import HttpClient
    from browser.search.corpus_index import Extractor
    from browser.types import SearchQuery

# Without `prepare` the share of a search's deadline that may go into indexing.
_INDEXING = 0.7
# Seconds of indexing between two signs of life.
_ROUND = 2.0
# Looking at each file's time takes 10 ms for 1,000 files. A large folder is not looked at again
# for as many seconds: within a run it hardly changes.
_LARGE, _LOOK_AGAIN = 2_000, 5.0
# A title is short and chosen: a word in it counts this often.
_TITLE_WEIGHT = 3.0
# A word in more than this share of passages says nothing about which of them is meant.
_COMMON = 0.25
# In a folder of fewer passages shares mean nothing: of two passages any word stands in half.
_FEW = 100
_MOST_TERMS = 12
# Passages looked at for one query: 20 for each of ten results.
_LOOKED_AT = 200
# What a file's second-best passage adds: two places that match are better than one.
_SECOND = 0.25
# A best hit with less than this share of the query's weight is about something else: the chain
# goes on to the web. Of 188 questions to five folders of manuals one loses its folder by it; asked
# of another folder, 34 go on.
_LEAST = 0.2
_SNIPPET = 320
# Files that could not be read, of which the trail names so many.
_NAMED = 5

# Only constants are put into these statements; what is asked is always bound.
_FILES_WITH = f"SELECT rowid >> {PASSAGE_BITS} FROM passage WHERE passage MATCH ?"  # noqa: S608
_SCORED = (
    f"SELECT rowid, -bm25(passage, {_TITLE_WEIGHT}, 1.0, 1.0) AS score"  # noqa: S608
    f" FROM passage WHERE passage MATCH ?%s ORDER BY score DESC, rowid LIMIT {_LOOKED_AT}"
)
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of the query as FTS5 is asked for it, and its weight (inverse document frequency)."""

    match: str
    weight: float
    found: int
    stems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _FileHit:
    path: str
    title: str
    passage: str
    modified: int


class Corpus(SearchSource):
    """The documents below `folder` (the kinds of `corpus_index.KINDS`), indexed in SQLite.

    `index_path` is the index's file, or (without a suffix) a folder for the indexes of corpora.

    `extract(body, content_type, url)` gives the `Document` of a file; without it only .md and .txt
    are read. Raises `SearchError` where the folder or the index cannot be used.
    """

    name = "corpus"
    local = True

    def __init__(
        self, folder: Path | str, index_path: Path | str, extract: Extractor | None = None
    ) -> None:
        self.folder = checked_folder(Path(folder))
        path = Path(index_path)
        if not path.suffix:
            path /= f"{sha256(str(self.folder).encode()).hexdigest()[:16]}.db"
        self._index = Index(self.folder, path)
        self._extract = extract
        self._synced = Synced()
        self._looked = -math.inf
        self._unread_named = False
        self._preparing = asyncio.Lock()

    @property
    def identity(self) -> str:
        """The folder that it is."""
        return f"corpus:{self.folder}"

    def sync(self, *, seconds: float | None = None) -> Synced:
        """Bring the index up to date, for `seconds` at most; a search does so by itself."""
        self._synced = self._index.sync(self._extract, seconds=seconds)
        self._looked = time.monotonic()
        return self._synced

    def _is_fresh(self) -> bool:
        large = self._synced.files > _LARGE and not self._synced.left
        return large and time.monotonic() - self._looked <= _LOOK_AGAIN

    async def prepare(self) -> AsyncIterator[Synced]:
        """Bring the index up to date before a search, and tell every few seconds how far it is.

        Yields nothing where nothing changed. Files that fail are named in `Synced.unread`.
        """
        async with self._preparing:
            while not self._is_fresh():
                synced = await asyncio.to_thread(self.sync, seconds=_ROUND)
                if synced.indexed:
                    yield synced
                if not synced.left:
                    return

    async def search(
        self, query: SearchQuery, http: HttpClient | None = None, *, deadline: float = 60.0
    ) -> SearchPage:
        """Find the files that answer best; `site` excludes them all, for they belong to none."""
        del http
        if query.site:
            return SearchPage(Outcome.EMPTY, detail="local files belong to no site")
        try:
            return await asyncio.to_thread(self._search, query, deadline)
        except sqlite3.Error as error:
            return SearchPage(Outcome.ERROR, detail=f"the corpus index failed: {error}")

    def _search(self, query: SearchQuery, deadline: float) -> SearchPage:
        if not self._is_fresh():
            self.sync(seconds=deadline * _INDEXING)
        first = (query.page - 1) * query.limit
        with self._index.connect() as db:
            terms = _terms(db, query.text)
            hits = _find(db, terms, first + query.limit)
        if since := since_day(query.since):
            hits = [
                hit
                for hit in hits
                if datetime.fromtimestamp(hit.modified / 1e9, UTC).date() >= since
            ]
        results = tuple(
            SearchResult(
                url=Path(hit.path).as_uri(),
                title=one_line(hit.title),
                snippet=one_line(_snippet(hit.passage, terms)),
                provider=self.name,
                rank=rank,
            )
            for rank, hit in enumerate(hits[first:], 1)
        )
        return SearchPage(Outcome.OK if results else Outcome.EMPTY, results, self._detail())

    def _detail(self) -> str:
        """What a person should know of the folder; files that failed are named once."""
        synced, parts = self._synced, []
        if not synced.files:
            parts.append(f"no .md, .html, .pdf, .docx or other document in {self.folder}")
        if synced.left:
            parts.append(f"{synced.left} of {synced.files} files not indexed yet")
        if synced.unread and not self._unread_named:
            self._unread_named = True
            named = [f"{Path(path).name} ({note})" for path, note in synced.unread[:_NAMED]]
            more = len(synced.unread) - len(named)
            named += [f"and {more} more"] if more else []
            count = f"{len(synced.unread)} of {synced.files} files could not be read"
            parts.append(f"{count}: {'; '.join(named)}")
        return "; ".join(parts)


def _terms(db: sqlite3.Connection, text: str) -> list[_Term]:
    """Give the query's words that carry meaning, the rarest first."""
    # FTS5's table of lengths has a row a passage; counting `passage` itself reads every text.
    (counted,) = db.execute("SELECT count(*) FROM passage_docsize").fetchone()
    passages = max(counted, _FEW)
    terms = []
    for word in dict.fromkeys(_WORD.findall(text.lower())):
        if word in STOP_WORDS:
            continue
        match = f'"{unspaced(word) or word}"'
        having = "SELECT count(*) FROM passage WHERE passage MATCH ?"
        (found,) = db.execute(having, (match,)).fetchone()
        weight = math.log(1 + (passages - found + 0.5) / (found + 0.5))
        terms.append(_Term(match, weight, found, tuple(content_words(word))))
    terms.sort(key=lambda term: -term.weight)
    telling = [term for term in terms if term.found <= _COMMON * passages]
    # What a small folder is about stands everywhere in it: it is asked for where nothing else is.
    return (telling if any(term.found for term in telling) else terms)[:_MOST_TERMS]


def _find(db: sqlite3.Connection, terms: list[_Term], limit: int) -> list[_FileHit]:
    """Give the best files: those that have all the words first, then those that have the rarest."""
    matches = [term.match for term in terms if term.found]
    if not matches:
        return []
    any_of, passages = " OR ".join(matches), []
    if len(matches) == len(terms):
        files = " INTERSECT ".join([_FILES_WITH] * len(matches))
        having_all = _SCORED % f" AND rowid >> {PASSAGE_BITS} IN ({files})"
        passages = db.execute(having_all, [any_of, *matches]).fetchall()
    complete = {row >> PASSAGE_BITS for row, _ in passages}
    if len(complete) < limit:
        passages += db.execute(_SCORED % "", [any_of]).fetchall()
    by_file: dict[int, dict[int, float]] = defaultdict(dict)
    for row, score in passages:
        by_file[row >> PASSAGE_BITS][row] = score

    def rank(number: int) -> tuple[bool, float]:
        best, *others = sorted(by_file[number].values(), reverse=True)
        return number not in complete, -best - _SECOND * (others[0] if others else 0.0)

    best = sorted(by_file, key=rank)[:limit]
    hits = [_hit(db, number, by_file[number]) for number in best]
    return hits if complete or any(_covered(hit, terms) >= _LEAST for hit in hits) else []


def _hit(db: sqlite3.Connection, number: int, scores: dict[int, float]) -> _FileHit:
    about = "SELECT path, title, modified FROM file WHERE id = ?"
    path, title, modified = db.execute(about, (number,)).fetchone()
    row = max(scores, key=lambda row: scores[row])
    (passage,) = db.execute("SELECT text FROM passage WHERE rowid = ?", (row,)).fetchone()
    return _FileHit(path, title, passage, modified)


def _covered(hit: _FileHit, terms: list[_Term]) -> float:
    """Share of the query's weight whose words stand in a hit's title or passage, 0 to 1."""
    have = set(content_words(f"{hit.title} {hit.passage}"))
    found = sum(term.weight for term in terms if have.issuperset(term.stems))
    return found / (sum(term.weight for term in terms) or 1.0)


def _snippet(passage: str, terms: list[_Term]) -> str:
    """Cut the sentences around the one that matches best."""
    weights = {stem: term.weight for term in terms for stem in term.stems}
    spans = sentences(passage)
    if not spans:
        return " ".join(passage.split())[:_SNIPPET]
    scores = [
        sum(weights.get(word, 0.0) for word in set(content_words(passage[span.start : span.end])))
        for span in spans
    ]
    first = last = max(range(len(spans)), key=lambda n: scores[n])
    while last + 1 < len(spans) and spans[last + 1].end - spans[first].start <= _SNIPPET:
        last += 1
    while first > 0 and spans[last].end - spans[first - 1].start <= _SNIPPET:
        first -= 1
    cut = " ".join(passage[spans[first].start : spans[last].end].split())
    return cut if len(cut) <= _SNIPPET else f"{cut[: _SNIPPET - 1].rsplit(' ', 1)[0]}…"
