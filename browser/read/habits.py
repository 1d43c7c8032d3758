"""What was learned about sites: which of them only a browser can read."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


# So many reads that needed the browser, and so large a share of all, before HTTP is left out.
_SEEN = 3
_SHARE = 0.8
# Sites are rebuilt; after so long the plain way is tried again.
_LIFETIME = timedelta(days=30)
# The file stays small: the sites seen longest ago are forgotten first.
_MOST_SITES = 2_000


@dataclass(frozen=True, slots=True)
class Habit:
    """How often a site was read by HTTP alone and how often it took the browser, and why last."""

    http: int = 0
    browser: int = 0
    reason: str = ""
    at: str = ""

    @property
    def wants_browser(self) -> bool:
        """Whether HTTP is not worth asking any more."""
        fresh = bool(self.at) and datetime.now(UTC) - datetime.fromisoformat(self.at) < _LIFETIME
        enough = self.browser >= _SEEN and self.browser >= _SHARE * (self.http + self.browser)
        return fresh and enough


class Habits:
    """A small JSON file, one entry a site; without a path it lasts as long as the process."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._sites: dict[str, Habit] = {}
        if path is None or not path.exists():
            return
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            self._sites = {site: Habit(**fields) for site, fields in data.items()}
        except (ValueError, TypeError, AttributeError):
            pass  # a cache: a file that cannot be read is learned anew

    def all(self) -> dict[str, Habit]:
        """Everything learned, by site."""
        return dict(self._sites)

    def of(self, site: str) -> Habit:
        """What is known of a site."""
        return self._sites.get(site, Habit())

    def needed_browser(self, site: str, reason: str) -> None:
        """Note that HTTP did not bring the content and the browser did."""
        known = self.of(site)
        self._note(site, replace(known, browser=known.browser + 1, reason=reason))

    def http_was_enough(self, site: str) -> None:
        """Note that HTTP did, for sites that once needed more."""
        if known := self._sites.get(site):
            self._note(site, replace(known, http=known.http + 1))

    def reset(self, site: str) -> None:
        """Forget a site."""
        self._sites.pop(site, None)
        self._save()

    def _note(self, site: str, habit: Habit) -> None:
        self._sites.pop(site, None)  # the newest stands last
        self._sites[site] = replace(habit, at=datetime.now(UTC).isoformat(timespec="seconds"))
        while len(self._sites) > _MOST_SITES:
            self._sites.pop(next(iter(self._sites)))
        self._save()

    def _save(self) -> None:
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        data = {site: asdict(habit) for site, habit in self._sites.items()}
        draft.write_text(json.dumps(data, indent=1), encoding="utf-8")
        draft.replace(self._path)
