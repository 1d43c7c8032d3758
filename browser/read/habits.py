"""Remembers how sites can be read: which need a browser, which are slow, which keep failing.

The time limit for a read depends on this history. `research habits` shows and deletes it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from browser.files import write_atomic
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


# HTTP is skipped if at least this many reads, and this share of all reads, needed the browser.
_MIN_READS = 3
_MIN_SHARE = 0.8
# Sites change; after this time, HTTP is tried again.
_LIFETIME = timedelta(days=30)
# Keeps the file small; the sites that were read least recently are dropped first.
_MAX_SITES = 2_000

# After the first number of consecutive timeouts, a site's deadline is multiplied by
# `_LONGER_FACTOR`; after the second, by `_SHORTER_FACTOR`: waiting longer did not help, and would
# cost every run time.
_SLOW_AFTER, _UNRESPONSIVE_AFTER = 2, 5
_LONGER_FACTOR, _SHORTER_FACTOR = 2.0, 0.5
# The deadline of a slow site is this many times the duration of its slowest read.
_SLOWEST_MARGIN = 1.5
FAILURES = frozenset(
    {
        *(Outcome.TIMEOUT, Outcome.BLOCKED, Outcome.BOT_CHECK, Outcome.CAPTCHA),
        *(Outcome.LOGIN, Outcome.PAYWALL, Outcome.RATE_LIMITED),
    }
)
"""Outcomes caused by the site, rather than by one page or the network."""
REPEATED_FAILURES = 3
"""After this many identical consecutive failures, a site is reported once."""


@dataclass(frozen=True, slots=True)
class Habit:
    """What earlier reads of a site have shown.

    `http` and `browser` count the reads for which HTTP was enough and those that needed the
    browser, beginning with the first that failed or needed it. `reason` says why it last needed the
    browser. `at` is the ISO time of the last read. `failed` is the outcome of the last reads if
    they failed, `times` the number of consecutive failures with that outcome. `seconds` is the
    duration of the slowest read, recorded once reads have timed out.
    """

    http: int = 0
    browser: int = 0
    reason: str = ""
    at: str = ""
    failed: str = ""
    times: int = 0
    seconds: float = 0.0

    @property
    def needs_browser(self) -> bool:
        """Whether HTTP should be skipped."""
        total = self.http + self.browser
        often = self.browser >= _MIN_READS and self.browser >= _MIN_SHARE * total
        return often and self.is_recent

    @property
    def is_recent(self) -> bool:
        """Whether the habit is still valid."""
        return bool(self.at) and datetime.now(UTC) - datetime.fromisoformat(self.at) < _LIFETIME

    def deadline(self, usual: float) -> float:
        """Return how many seconds a read may take: between half and twice the usual value."""
        if not self.is_recent:
            return usual
        if self.failed == Outcome.TIMEOUT and self.times >= _SLOW_AFTER:
            return usual * (_LONGER_FACTOR if self.times < _UNRESPONSIVE_AFTER else _SHORTER_FACTOR)
        return min(max(usual, _SLOWEST_MARGIN * self.seconds), _LONGER_FACTOR * usual)


class Habits:
    """The habits of all sites, in a JSON file; without a path, only in memory.

    `on_repeated` is called with a site and its habit when `REPEATED_FAILURES` consecutive reads
    have failed in the same way.
    """

    def __init__(
        self, path: Path | None = None, on_repeated: Callable[[str, Habit], None] | None = None
    ) -> None:
        self._path = path
        self._on_repeated = on_repeated
        self._sites: dict[str, Habit] = {}
        if path is None or not path.exists():
            return
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            self._sites = {site: Habit(**fields) for site, fields in data.items()}
        except (ValueError, TypeError, AttributeError):
            pass  # the file is a cache: if damaged, it is rebuilt

    def all(self) -> dict[str, Habit]:
        """All habits by site."""
        return dict(self._sites)

    def for_site(self, site: str) -> Habit:
        """A site's habit; an empty one if nothing is known."""
        return self._sites.get(site, Habit())

    def needed_browser(self, site: str, reason: str) -> None:
        """Record that the browser returned content that HTTP did not."""
        habit = self.for_site(site)
        self._record(site, replace(habit, browser=habit.browser + 1, reason=reason))

    def http_was_enough(self, site: str) -> None:
        """Record that HTTP was enough for a site that needed the browser before."""
        if habit := self._sites.get(site):
            self._record(site, replace(habit, http=habit.http + 1))

    def read_failed(self, site: str, outcome: Outcome) -> None:
        """Record a failed read; `outcome` is one of `FAILURES`."""
        habit = self.for_site(site)
        times = habit.times + 1 if habit.failed == outcome else 1
        habit = replace(habit, failed=outcome.value, times=times)
        self._record(site, habit)
        if times == REPEATED_FAILURES and self._on_repeated is not None:
            self._on_repeated(site, self._sites[site])

    def read_succeeded(self, site: str, seconds: float) -> None:
        """Record a successful read of a site that is slow or whose last reads failed."""
        habit = self._sites.get(site)
        if habit is None or not (habit.failed or habit.seconds):
            return
        slow = habit.seconds or habit.failed == Outcome.TIMEOUT
        took = round(seconds, 1) if slow else 0.0
        self._record(site, replace(habit, failed="", times=0, seconds=took))

    def reset(self, site: str) -> None:
        """Forget a site."""
        self._sites.pop(site, None)
        self._save()

    def _record(self, site: str, habit: Habit) -> None:
        self._sites.pop(site, None)  # dicts keep insertion order: the newest site is last
        self._sites[site] = replace(habit, at=datetime.now(UTC).isoformat(timespec="seconds"))
        while len(self._sites) > _MAX_SITES:
            self._sites.pop(next(iter(self._sites)))
        self._save()

    def _save(self) -> None:
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        data = {site: asdict(habit) for site, habit in self._sites.items()}
        write_atomic(self._path, json.dumps(data, indent=1).encode())
