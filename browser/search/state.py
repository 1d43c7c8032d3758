"""State kept between searches: a cache of successful answers, and the engines' cooldowns.

Both are small SQLite files that several processes share and that can be deleted without harm. A
provider's cooldown after each outcome:

| outcome | first cooldown | each further one | longest | note |
|---|---|---|---|---|
| blocked | 15 min | twice as long | a day | each further attempt makes it worse |
| rate_limited | 3 min | twice as long | a day | `Retry-After` is used if given |
| quota | a day | - | a day | plans renew daily or monthly |
| unauthorized | a day | - | a day | a different key is a different identity |
| timeout, error, unreachable | 3 min | - | 3 min | soft: queried again if no other engine answers |
"""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import TYPE_CHECKING

from browser.text.words import one_line
from browser.types import Outcome, SearchPage, SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from browser.types import SearchQuery

# How many seconds to wait while another process writes; a write takes milliseconds.
_LOCK_TIMEOUT_S = 10.0
# 20,000 answers with ten results each take about 100 MB; the oldest are deleted first.
_MAX_ANSWERS = 20_000
_MINUTE = 60.0
_DAY = 24 * 60 * _MINUTE
_FIRST_COOLDOWN_S = {
    Outcome.BLOCKED: 15 * _MINUTE,
    Outcome.RATE_LIMITED: 3 * _MINUTE,
    Outcome.QUOTA: _DAY,
    Outcome.UNAUTHORIZED: _DAY,
    Outcome.TIMEOUT: 3 * _MINUTE,
    Outcome.ERROR: 3 * _MINUTE,
    Outcome.UNREACHABLE: 3 * _MINUTE,
}
_TRANSIENT_OUTCOMES = (Outcome.TIMEOUT, Outcome.ERROR, Outcome.UNREACHABLE)
_BACKOFF_OUTCOMES = (Outcome.BLOCKED, Outcome.RATE_LIMITED)

_ANSWER_SCHEMA = """CREATE TABLE IF NOT EXISTS answer (
    key TEXT PRIMARY KEY, until REAL NOT NULL, results TEXT NOT NULL
)"""
_COOLDOWN_SCHEMA = """CREATE TABLE IF NOT EXISTS rest (
    provider TEXT PRIMARY KEY, until REAL NOT NULL, outcome TEXT NOT NULL, times INTEGER NOT NULL
)"""


def _open(path: Path | None, schema: str) -> sqlite3.Connection:
    """Open or create a database; a damaged file is replaced.

    Without a path, or if the folder or file cannot be written, it is kept in memory.
    """
    if path is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                return _connect(path, schema)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                path.unlink()
                return _connect(path, schema)
        except (OSError, sqlite3.Error):
            pass
    return _connect(":memory:", schema)


def _connect(path: Path | str, schema: str) -> sqlite3.Connection:
    db = sqlite3.connect(
        path, timeout=_LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        # A system crash can only lose a cached answer or a cooldown, so the disk is not synced.
        db.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; {schema}")
    except sqlite3.Error:
        db.close()
        raise
    return db


class SearchCache:
    """Answers in a SQLite file that several processes may share."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._db = _open(path, _ANSWER_SCHEMA)

    def get(self, identity: str, query: SearchQuery) -> SearchPage | None:
        """Return a stored answer that is within its lifetime, or None."""
        found = self._db.execute(
            "SELECT results FROM answer WHERE key = ? AND until > ?",
            (_key(identity, query), self._clock()),
        ).fetchone()
        if found is None:
            return None
        results = tuple(SearchResult(**row) for row in json.loads(found[0]))
        return SearchPage(Outcome.OK, results, detail="cached")

    def put(self, identity: str, query: SearchQuery, page: SearchPage, lifetime: float) -> None:
        """Store an answer for `lifetime` seconds, if it has results."""
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
            (_MAX_ANSWERS,),
        )

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _key(identity: str, query: SearchQuery) -> str:
    folded = {**asdict(query), "text": one_line(query.text).casefold()}
    # the fields are part of the key, so that answers stored in an earlier form are not found
    form = [field.name for field in fields(SearchResult)]
    return sha256(json.dumps([form, identity, folded], sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class EngineCooldown:
    """An engine's cooldown.

    `until` is its end (seconds since the epoch), `outcome` its cause, and `times` the number of
    consecutive failures with this outcome.
    """

    until: float
    outcome: Outcome
    times: int = 1

    @property
    def soft(self) -> bool:
        """Whether the engine may still be queried if no other one answers."""
        return self.outcome in _TRANSIENT_OUTCOMES


class EngineCooldowns:
    """All engines' cooldowns, in a SQLite file; without a path, only in memory."""

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._db = _open(path, _COOLDOWN_SCHEMA)

    def current(self, identity: str) -> EngineCooldown | None:
        """Return an engine's current cooldown, or None."""
        cooldown = self._last(identity)
        return cooldown if cooldown is not None and cooldown.until > self._clock() else None

    def record(self, identity: str, page: SearchPage) -> None:
        """Record an outcome: an answer ends a cooldown, a failure starts or extends one."""
        seconds = _FIRST_COOLDOWN_S.get(page.outcome)
        if seconds is None:
            self._db.execute("DELETE FROM rest WHERE provider = ?", (identity,))
            return
        now, last, times = self._clock(), self._last(identity), 1
        if last is not None and last.outcome is page.outcome:
            # Two concurrent failed requests count as one failure.
            times = last.times + (last.until <= now)
        if page.retry_after is not None:
            seconds = max(page.retry_after, 1.0)
        elif page.outcome in _BACKOFF_OUTCOMES:
            seconds *= 2.0 ** min(times - 1, 10)
        self._db.execute(
            "INSERT OR REPLACE INTO rest VALUES (?, ?, ?, ?)",
            (identity, now + min(seconds, _DAY), page.outcome.value, times),
        )

    def remaining(self, cooldown: EngineCooldown) -> float:
        """Seconds until a cooldown is over."""
        return max(0.0, cooldown.until - self._clock())

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _last(self, identity: str) -> EngineCooldown | None:
        row = self._db.execute(
            "SELECT until, outcome, times FROM rest WHERE provider = ?", (identity,)
        ).fetchone()
        return EngineCooldown(row[0], Outcome(row[1]), row[2]) if row else None
