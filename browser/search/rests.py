"""Which engine is left alone until when; kept in SQLite, so that later runs know it too.

| outcome | first rest | each further one | longest | note |
|---|---|---|---|---|
| blocked | 15 min | twice as long | a day | a wall grows with each try |
| rate_limited | 3 min | twice as long | a day | `Retry-After` decides where given |
| quota | a day | - | a day | plans renew by day or month |
| unauthorized | a day | - | a day | another key is another identity |
| timeout, error | 3 min | - | 3 min | soft: asked again if nobody else answers |
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from browser.search.store import open_store
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from browser.types import SearchPage

MINUTE = 60.0
LONGEST = 24 * 3600.0
SHORTEST = 3 * MINUTE
_FIRST_REST = {
    Outcome.BLOCKED: 15 * MINUTE,
    Outcome.RATE_LIMITED: SHORTEST,
    Outcome.QUOTA: LONGEST,
    Outcome.UNAUTHORIZED: LONGEST,
    Outcome.TIMEOUT: SHORTEST,
    Outcome.ERROR: SHORTEST,
}
_SOFT = (Outcome.TIMEOUT, Outcome.ERROR)
_GROWING = (Outcome.BLOCKED, Outcome.RATE_LIMITED)

_SCHEMA = """CREATE TABLE IF NOT EXISTS rest (
    provider TEXT PRIMARY KEY, until REAL NOT NULL, outcome TEXT NOT NULL, times INTEGER NOT NULL
)"""


@dataclass(frozen=True, slots=True)
class Rest:
    """An engine rests until `until` (seconds since the epoch) because of `outcome`."""

    until: float
    outcome: Outcome
    times: int = 1

    @property
    def soft(self) -> bool:
        """Whether it may be asked all the same when nobody else answers."""
        return self.outcome in _SOFT


class Rests:
    """The rests of all engines; without a path they last as long as this object."""

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._db = open_store(path, _SCHEMA)

    def of(self, identity: str) -> Rest | None:
        """Give the rest that an engine is in now, if any."""
        rest = self._last(identity)
        return rest if rest is not None and rest.until > self._clock() else None

    def note(self, identity: str, page: SearchPage) -> None:
        """Learn from an answer: an honest one ends all rests, a failure begins or lengthens one."""
        first = _FIRST_REST.get(page.outcome)
        if first is None:
            self._db.execute("DELETE FROM rest WHERE provider = ?", (identity,))
            return
        last = self._last(identity)
        times = 1
        if last is not None and last.outcome is page.outcome:
            # Two that were asked at once and failed are one failure.
            times = last.times + (last.until <= self._clock())
        seconds = _seconds(page, first, times)
        self._db.execute(
            "INSERT OR REPLACE INTO rest VALUES (?, ?, ?, ?)",
            (identity, self._clock() + seconds, page.outcome.value, times),
        )

    def left(self, rest: Rest) -> float:
        """Seconds until a rest is over."""
        return max(0.0, rest.until - self._clock())

    def clear(self) -> None:
        """Forget all rests."""
        self._db.execute("DELETE FROM rest")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _last(self, identity: str) -> Rest | None:
        with closing(
            self._db.execute(
                "SELECT until, outcome, times FROM rest WHERE provider = ?", (identity,)
            )
        ) as rows:
            row = rows.fetchone()
        return Rest(row[0], Outcome(row[1]), row[2]) if row else None


def _seconds(page: SearchPage, first: float, times: int) -> float:
    if page.retry_after is not None:
        return min(max(page.retry_after, 1.0), LONGEST)
    doublings = min(times - 1, 10) if page.outcome in _GROWING else 0
    return float(min(first * 2**doublings, LONGEST))
