"""Remembers which sites only a browser can read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from browser.files import write_atomic

if TYPE_CHECKING:
    from pathlib import Path


# HTTP is skipped after so many reads that needed the browser, if they are so large a share of all.
_MIN_READS = 3
_MIN_SHARE = 0.8
# Sites are rebuilt; after so long HTTP is tried again.
_LIFETIME = timedelta(days=30)
# Keeps the file small: the sites read longest ago are forgotten first.
_MAX_SITES = 2_000


@dataclass(frozen=True, slots=True)
class Habit:
    """How often a site was read by HTTP alone, how often by the browser, and the last reason.

    `at` is the ISO time of the last read.
    """

    http: int = 0
    browser: int = 0
    reason: str = ""
    at: str = ""

    @property
    def needs_browser(self) -> bool:
        """Whether HTTP should be skipped."""
        if not self.at or datetime.now(UTC) - datetime.fromisoformat(self.at) >= _LIFETIME:
            return False
        total = self.http + self.browser
        return self.browser >= _MIN_READS and self.browser >= _MIN_SHARE * total


class Habits:
    """The habits of all sites, in a JSON file; without a path only in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._sites: dict[str, Habit] = {}
        if path is None or not path.exists():
            return
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            self._sites = {site: Habit(**fields) for site, fields in data.items()}
        except (ValueError, TypeError, AttributeError):
            pass  # it is a cache: a damaged file is rebuilt

    def all(self) -> dict[str, Habit]:
        """All habits by site."""
        return dict(self._sites)

    def for_site(self, site: str) -> Habit:
        """The habit of a site; an empty one if nothing is known."""
        return self._sites.get(site, Habit())

    def needed_browser(self, site: str, reason: str) -> None:
        """Record that the browser brought content which HTTP did not."""
        habit = self.for_site(site)
        self._record(site, replace(habit, browser=habit.browser + 1, reason=reason))

    def http_was_enough(self, site: str) -> None:
        """Record that HTTP was enough; only for sites that needed the browser before."""
        if habit := self._sites.get(site):
            self._record(site, replace(habit, http=habit.http + 1))

    def reset(self, site: str) -> None:
        """Forget a site."""
        self._sites.pop(site, None)
        self._save()

    def _record(self, site: str, habit: Habit) -> None:
        self._sites.pop(site, None)  # dicts keep the order of insertion: the newest comes last
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
