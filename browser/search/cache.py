"""Good answers of engines, kept for their lifetime; failures and empty pages are never kept."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING

from browser.search.store import open_store
from browser.types import Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from browser.types import SearchQuery

# 20,000 answers of ten results each are about 100 MB; the oldest go first.
MOST = 20_000

_SCHEMA = """CREATE TABLE IF NOT EXISTS answer (
    key TEXT PRIMARY KEY, until REAL NOT NULL, results TEXT NOT NULL
)"""


class SearchCache:
    """A SQLite file of answers; several processes may share it."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._db = open_store(path, _SCHEMA)

    def get(self, identity: str, query: SearchQuery) -> SearchPage | None:
        """Give a kept answer that is still within its lifetime."""
        with closing(
            self._db.execute(
                "SELECT results FROM answer WHERE key = ? AND until > ?",
                (_key(identity, query), self._clock()),
            )
        ) as rows:
            row = rows.fetchone()
        if row is None:
            return None
        results = tuple(SearchResult(**fields) for fields in json.loads(row[0]))
        return SearchPage(Outcome.OK, results, detail="cached")

    def put(self, identity: str, query: SearchQuery, page: SearchPage, lifetime: float) -> None:
        """Keep an answer for `lifetime` seconds, if it is one with results."""
        if page.outcome is not Outcome.OK or not page.results or lifetime <= 0:
            return
        now = self._clock()
        rows = json.dumps([asdict(result) for result in page.results], ensure_ascii=False)
        self._db.execute(
            "INSERT OR REPLACE INTO answer VALUES (?, ?, ?)",
            (_key(identity, query), now + lifetime, rows),
        )
        self._db.execute("DELETE FROM answer WHERE until <= ?", (now,))
        self._db.execute(
            "DELETE FROM answer WHERE key IN (SELECT key FROM answer ORDER BY until DESC"
            " LIMIT -1 OFFSET ?)",
            (MOST,),
        )

    def clear(self) -> None:
        """Forget all answers."""
        self._db.execute("DELETE FROM answer")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def _key(identity: str, query: SearchQuery) -> str:
    folded = {**asdict(query), "text": " ".join(query.text.split()).casefold()}
    said = json.dumps([identity, folded], sort_keys=True)
    return sha256(said.encode()).hexdigest()
