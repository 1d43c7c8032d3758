"""`--corpus DIR`: local files, found by their words, as results with `file://` addresses."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import time
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from browser.search.corpus import ranking
from browser.search.corpus.files import checked_folder
from browser.search.corpus.index import Index, Synced
from browser.search.corpus.passages import snippet
from browser.search.dates import since_day
from browser.search.tidy import readable
from browser.types import Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from browser.net.http import HttpClient
    from browser.search.corpus.files import Extractor
    from browser.types import SearchQuery

# The share of a search's deadline that may go into indexing; the rest of it is for the answer.
_INDEXING = 0.7
# Looking at each file's time takes 10 ms for 1,000 files. A large folder is not looked at again
# for as many seconds: within a run it hardly changes.
_LARGE, _LOOK_AGAIN = 2_000, 5.0


class Corpus:
    """The documents below `folder` (the kinds of `files.KINDS`), indexed in SQLite.

    `index_path` is the index's file, or (without a suffix) a folder for the indexes of corpora.

    `extract(body, content_type, url)` gives the `Document` of what is no plain text; without it
    only .md and .txt are read. Raises `SearchError` where the folder or the index cannot be used.
    """

    name = "corpus"
    lifetime = 0.0
    interval = 0.0
    local = True

    def __init__(
        self, folder: Path | str, index_path: Path | str, extract: Extractor | None = None
    ) -> None:
        self.folder = checked_folder(Path(folder))
        self._index = Index(self.folder, _index_file(Path(index_path), self.folder))
        self._extract = extract
        self._synced = Synced()
        self._looked = -math.inf

    @property
    def identity(self) -> str:
        """The folder that it is."""
        return f"corpus:{self.folder}"

    def unavailable(self) -> str:
        """Say nothing: what could be wrong was found when it was made."""
        return ""

    def sync(self, *, seconds: float | None = None) -> Synced:
        """Bring the index up to date, for `seconds` at most; a search does so by itself."""
        return self._index.sync(self._extract, seconds=seconds)

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
        synced = self._fresh(deadline * _INDEXING)
        first = (query.page - 1) * query.limit
        with self._index.connect() as db:
            asked = ranking.terms(db, query.text)
            hits = ranking.find(db, asked, first + query.limit)
        weights = {stem: term.weight for term in asked for stem in term.stems}
        since = since_day(query.since)
        kept = [hit for hit in hits if since is None or _modified(hit) >= since.isoformat()]
        results = tuple(_result(hit, rank, weights) for rank, hit in enumerate(kept[first:], 1))
        detail = f"{synced.left} of {synced.files} files not indexed yet" if synced.left else ""
        if not synced.files:
            detail = f"no .md, .html, .pdf, .docx or other document in {self.folder}"
        return SearchPage(Outcome.OK if results else Outcome.EMPTY, results, detail)

    def _fresh(self, seconds: float) -> Synced:
        """Bring the index up to date, unless a large folder was looked at a moment ago."""
        done = self._synced.files > _LARGE and not self._synced.left
        if not done or time.monotonic() - self._looked > _LOOK_AGAIN:
            self._synced = self.sync(seconds=seconds)
            self._looked = time.monotonic()
        return self._synced


def _index_file(path: Path, folder: Path) -> Path:
    if path.suffix:
        return path
    return path / f"{sha256(str(folder).encode()).hexdigest()[:16]}.db"


def _result(hit: ranking.Hit, rank: int, weights: dict[str, float]) -> SearchResult:
    return SearchResult(
        url=Path(hit.path).as_uri(),
        title=readable(hit.title),
        snippet=readable(snippet(hit.passage, weights)),
        provider=Corpus.name,
        rank=rank,
    )


def _modified(hit: ranking.Hit) -> str:
    return datetime.fromtimestamp(hit.modified / 1e9, UTC).date().isoformat()
