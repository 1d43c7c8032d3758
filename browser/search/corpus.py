"""Searches a folder of local files (`--corpus DIR`); results have `file://` addresses."""

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

from browser.errors import SearchError
from browser.net.local_files import LocalFiles
from browser.search.corpus_index import (
    PASSAGE_BITS,
    Index,
    SyncResult,
    foreign_stems,
    resolve_corpus_folder,
)
from browser.search.indexing import Indexing
from browser.search.provider import SearchSource
from browser.search.results import since_day
from browser.text.languages import question_language, small_words_in
from browser.text.sentences import sentences
from browser.text.words import STOP_WORDS, character_pairs, content_words, one_line, shorten
from browser.types import Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from browser.net.http import HttpClient
    from browser.search.corpus_index import Extractor
    from browser.types import SearchQuery

# The share of a search's deadline that may be spent on indexing, if `prepare` was not called.
_INDEXING_SHARE = 0.7
# Seconds between progress reports, and between checks of whether an update has finished.
_PROGRESS_SECONDS, _WAIT_SECONDS = 1.0, 0.25
# Checking each file's time takes 10 ms for 1,000 files. A folder with more files than this is
# checked again only after this many seconds: it rarely changes during a run.
_LARGE_FOLDER_FILES, _RECHECK_SECONDS = 2_000, 5.0
# Titles are short and well chosen, so a word in a title counts this many times.
_TITLE_WEIGHT = 3.0
# A word that occurs in more than this share of the passages does not distinguish them.
_COMMON_SHARE = 0.25
# Shares are computed from at least this many passages: with two, every word is in half of them.
_MIN_PASSAGES = 100
_MAX_TERMS = 12
# Maximum number of passages read for one query: 20 for each of ten results.
_MAX_PASSAGES = 200
# The weight of a file's second-best passage: two matching passages are better than one.
_SECOND_PASSAGE_WEIGHT = 0.25
# If the best hit covers less than this share of the query's weight, the folder has no answer, and
# the chain searches the web. Of 188 questions about five folders of manuals, one goes to the web
# although its folder has the answer; if they are asked of a different folder, 34 go to the web.
_MIN_COVERAGE = 0.2
_SNIPPET_CHARS = 320
# Maximum number of unread files named in the trail.
_MAX_UNREAD_NAMED = 5

# Security: only constants are formatted into these statements; the query is always bound.
_FILES_WITH_TERM = f"SELECT rowid >> {PASSAGE_BITS} FROM passage WHERE passage MATCH ?"  # noqa: S608
_SCORED_PASSAGES = (
    f"SELECT rowid, -bm25(passage, {_TITLE_WEIGHT}, 1.0, 1.0) AS score"  # noqa: S608
    f" FROM passage WHERE passage MATCH ?%s ORDER BY score DESC, rowid LIMIT {_MAX_PASSAGES}"
)
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class _Term:
    """A query word: its FTS5 expression, weight (IDF), number of passages, and stems.

    `foreign` contains its stems in languages other than English; one match is enough.
    """

    match: str
    weight: float
    passages: int
    stems: tuple[str, ...]
    foreign: frozenset[str]


@dataclass(frozen=True, slots=True)
class _FileHit:
    path: str
    title: str
    passage: str
    modified: int
    language: str


class Corpus(SearchSource):
    """The documents below `folder` (of the kinds in `corpus_index.KINDS`), indexed in SQLite.

    `index_path` is the index's file or, without a suffix, a folder for the indexes of all corpora.
    `extract(body, content_type, url)` returns a file's `Document`. If the corpus is only part of
    the folder, `only` returns the paths of its files, and `part` names that part. Raises
    `SearchError` if the folder or the index cannot be used.
    """

    name = "corpus"
    local = True

    def __init__(
        self,
        folder: Path | str,
        index_path: Path | str,
        extract: Extractor,
        *,
        only: Callable[[], frozenset[str]] | None = None,
        part: str = "",
    ) -> None:
        self.folder = resolve_corpus_folder(Path(folder))
        self._files = LocalFiles([self.folder])
        path = Path(index_path)
        if not path.suffix:
            path /= f"{sha256(f'{self.folder}{part}'.encode()).hexdigest()[:16]}.db"
        self._index = Index(self.folder, path, only)
        self._indexing = Indexing(self._index, extract)
        self._looked_at = -math.inf
        self._unread_reported = False

    @property
    def identity(self) -> str:
        """The folder's path."""
        return f"corpus:{self.folder}"

    @property
    def state(self) -> SyncResult:
        """The progress of the index update, or the result of the last one."""
        return self._indexing.state

    def start(self) -> None:
        """Start updating the index in the background; a search does so automatically."""
        if not (self._indexing.is_running or self._is_fresh()):
            self._looked_at = time.monotonic()
            self._indexing.start()

    def close(self) -> None:
        """Stop an update. Finished files stay indexed; the next update continues from there."""
        self._indexing.stop()

    @property
    def progress(self) -> str:
        """How much of the folder is indexed; "" when indexing is complete."""
        state = self.state
        if state.left:
            return f"{state.files - state.left} of {state.files} files are indexed so far"
        return "the index of the folder is still being built" if self._indexing.is_running else ""

    def _is_fresh(self) -> bool:
        large = self.state.files > _LARGE_FOLDER_FILES and not self.state.left
        return large and time.monotonic() - self._looked_at <= _RECHECK_SECONDS

    async def prepare(self, seconds: float = math.inf) -> None:
        """Update the index before a search; after `seconds`, continue in the background."""
        self.start()
        until = time.monotonic() + seconds
        while self._indexing.is_running and (left := until - time.monotonic()) > 0:
            await asyncio.to_thread(self._indexing.join, min(left, _WAIT_SECONDS))

    async def follow(self) -> AsyncIterator[SyncResult]:
        """Start an update and, if there are files to index, yield its state every second."""
        self.start()
        before = None
        while self._indexing.is_running:
            await asyncio.to_thread(self._indexing.join, _PROGRESS_SECONDS)
            state = self.state
            if state != before and (state.left or state.indexed):
                before = state
                yield state

    async def search(
        self, query: SearchQuery, http: HttpClient | None = None, *, deadline: float = 60.0
    ) -> SearchPage:
        """Find the best files. A query with `site` finds none, because files have no site."""
        del http
        if query.site:
            return SearchPage(Outcome.EMPTY, detail="local files do not belong to a site")
        try:
            return await asyncio.to_thread(self._search, query, deadline)
        except (sqlite3.Error, OSError, SearchError) as error:
            return SearchPage(Outcome.ERROR, detail=f"the corpus index failed: {error}")

    def _search(self, query: SearchQuery, deadline: float) -> SearchPage:
        # If the caller gave up waiting for the index, search what has been indexed.
        if not self._indexing.is_running:
            self.start()
            self._indexing.wait(deadline * _INDEXING_SHARE)
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
                url=self._files.address(Path(hit.path)),
                title=one_line(hit.title),
                snippet=one_line(_snippet(hit, terms)),
                provider=self.name,
            )
            for hit in hits[first:]
        )
        return SearchPage(Outcome.OK if results else Outcome.EMPTY, results, self._detail())

    def _detail(self) -> str:
        """Notes for the user about the index; files that could not be read are reported once."""
        synced, parts = self.state, []
        if not synced.files and not self._indexing.is_running:
            parts.append(f"no .md, .html, .pdf, .docx or other documents in {self.folder.name}")
        if synced.left:
            parts.append(f"{synced.left} of {synced.files} files not indexed yet")
        if synced.unread and not self._unread_reported:
            self._unread_reported = True
            named = [
                f"{Path(path).name} ({note})" for path, note in synced.unread[:_MAX_UNREAD_NAMED]
            ]
            more = len(synced.unread) - len(named)
            named += [f"and {more} more"] if more else []
            count = f"{len(synced.unread)} of {synced.files} files were not read"
            parts.append(f"{count}: {'; '.join(named)}")
        return "; ".join(parts)


def _query_words(text: str) -> Iterator[str]:
    """Yield a query's words; for words in scripts without spaces, their character pairs."""
    for word in _WORD.findall(text.lower()):
        yield from character_pairs(word) or (word,)


def _terms(db: sqlite3.Connection, text: str) -> list[_Term]:
    """Return the query's terms, rarest first."""
    # FTS5's table of lengths has one row per passage; counting `passage` would read every passage.
    (row_count,) = db.execute("SELECT count(*) FROM passage_docsize").fetchone()
    passages = max(row_count, _MIN_PASSAGES)
    rows = db.execute("SELECT DISTINCT language FROM file WHERE language NOT IN ('', 'en')")
    asked = question_language(text) or ""
    languages = {language for (language,) in rows} | {asked} - {"", "en"}
    terms = []
    for word in dict.fromkeys(_query_words(text)):
        if word in STOP_WORDS | small_words_in(asked):
            continue
        foreign = frozenset(stem for one in languages for stem in foreign_stems(one, word))
        match = " OR ".join(f'"{form}"' for form in (word, *sorted(foreign - {word})))
        count = "SELECT count(*) FROM passage WHERE passage MATCH ?"
        (found,) = db.execute(count, (match,)).fetchone()
        weight = math.log(1 + (passages - found + 0.5) / (found + 0.5))
        terms.append(_Term(f"({match})", weight, found, tuple(content_words(word)), foreign))
    terms.sort(key=lambda term: -term.weight)
    specific = [term for term in terms if term.passages <= _COMMON_SHARE * passages]
    # Common words are used only if no other word is found: they may be the folder's topic.
    return (specific if any(term.passages for term in specific) else terms)[:_MAX_TERMS]


def _find(db: sqlite3.Connection, terms: list[_Term], limit: int) -> list[_FileHit]:
    """Return the best files: those that contain all terms first, then by BM25 score."""
    matches = [term.match for term in terms if term.passages]
    if not matches:
        return []
    any_of, passages = " OR ".join(matches), []
    if len(matches) == len(terms):
        files = " INTERSECT ".join([_FILES_WITH_TERM] * len(matches))
        having_all = _SCORED_PASSAGES % f" AND rowid >> {PASSAGE_BITS} IN ({files})"
        passages = db.execute(having_all, [any_of, *matches]).fetchall()
    complete = {row >> PASSAGE_BITS for row, _ in passages}
    if len(complete) < limit:
        passages += db.execute(_SCORED_PASSAGES % "", [any_of]).fetchall()
    by_file: dict[int, dict[int, float]] = defaultdict(dict)
    for row, score in passages:
        by_file[row >> PASSAGE_BITS][row] = score

    def rank(number: int) -> tuple[bool, float]:
        best, *others = sorted(by_file[number].values(), reverse=True)
        return number not in complete, -best - _SECOND_PASSAGE_WEIGHT * (
            others[0] if others else 0.0
        )

    best = sorted(by_file, key=rank)[:limit]
    hits = [_file_hit(db, number, by_file[number]) for number in best]
    if complete or any(_coverage(hit, terms) >= _MIN_COVERAGE for hit in hits):
        return hits
    return []


def _file_hit(db: sqlite3.Connection, number: int, scores: dict[int, float]) -> _FileHit:
    select = "SELECT path, title, modified, language FROM file WHERE id = ?"
    path, title, modified, language = db.execute(select, (number,)).fetchone()
    row = max(scores, key=lambda row: scores[row])
    (passage,) = db.execute("SELECT text FROM passage WHERE rowid = ?", (row,)).fetchone()
    return _FileHit(path, title, passage, modified, language)


def _coverage(hit: _FileHit, terms: list[_Term]) -> float:
    """The weighted share of the terms that occur in a hit's title or passage, from 0 to 1."""
    text = f"{hit.title} {hit.passage}"
    words = set(content_words(text))
    foreign = set(foreign_stems(hit.language, text))
    found = sum(
        term.weight
        for term in terms
        if words.issuperset(term.stems) or not foreign.isdisjoint(term.foreign)
    )
    return found / (sum(term.weight for term in terms) or 1.0)


def _snippet(hit: _FileHit, terms: list[_Term]) -> str:
    """Extract the sentences around the best match, up to _SNIPPET_CHARS characters."""
    passage, language = hit.passage, hit.language
    weights = {stem: term.weight for term in terms for stem in (*term.stems, *term.foreign)}
    spans = sentences(passage)
    if not spans:
        return " ".join(passage.split())[:_SNIPPET_CHARS]
    scores = [
        sum(
            weights.get(stem, 0.0)
            for stem in {*content_words(text), *foreign_stems(language, text)}
        )
        for text in (passage[span.start : span.end] for span in spans)
    ]
    first = last = max(range(len(spans)), key=lambda n: scores[n])
    while last + 1 < len(spans) and spans[last + 1].end - spans[first].start <= _SNIPPET_CHARS:
        last += 1
    while first > 0 and spans[last].end - spans[first - 1].start <= _SNIPPET_CHARS:
        first -= 1
    text = passage[spans[first].start : spans[last].end]
    return shorten(text, _SNIPPET_CHARS, whole_words=True)
