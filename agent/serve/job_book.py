"""The queue, schedules and monitors of a server; loaded only where jobs are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent.jobs.monitors import Monitors
from agent.jobs.schedules import Schedules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.jobs.jobs import Jobs
    from agent.jobs.monitors import Monitor

SHOWN: Final = 100
"""Jobs in the list; `research queue list` has them all."""
CHANGES_SHOWN: Final = 5
"""Changes of each monitor in a list; one that is asked for by its name has them all."""


class JobBook:
    """The jobs, and the server's own flags, which what is added gets.

    Synchronous and thread-safe. Raises what `agent.jobs` does: `UsageError`, `NoSuchJob`,
    `JobsUnavailable`.
    """

    def __init__(self, jobs: Jobs, flags: Mapping[str, Any]) -> None:
        self.jobs = jobs
        self.flags = flags
        self.schedules, self.monitors = Schedules(jobs), Monitors(jobs)

    def queue(self) -> dict[str, Any]:
        """Give the jobs, newest first, why they are paused, and who works."""
        rows = [_row(job) for job in self.jobs.list(limit=SHOWN)]
        return {"jobs": rows, "paused": self.jobs.paused, "workers": list(self.jobs.workers())}

    def scheduled(self) -> list[dict[str, Any]]:
        """Give the questions that come back."""
        return [_row(one) for one in self.schedules.all()]

    def watched(self) -> list[dict[str, Any]]:
        """Give what is watched, each with its last changes, the newest first."""
        return [self.told(one, CHANGES_SHOWN) for one in self.monitors.all()]

    def watch(self, **given: Any) -> dict[str, Any]:
        """Watch a page or an answer."""
        return self.told(self.monitors.add(**given, **self.flags))

    def told(self, one: Monitor, most: int | None = None) -> dict[str, Any]:
        """Write a monitor with its changes and when it looks next."""
        changes = [_row(change) for change in self.monitors.changes(one.name)[::-1][:most]]
        looks = next((_row(s) for s in self.monitors.schedules.all() if s.name == one.name), {})
        comes = {"next": looks.get("next"), "zone": looks.get("zone", "UTC")}
        return {**_row(one), **comes, "changes": changes}


def _row(model: Any) -> dict[str, Any]:
    """Write a job, without its report, a schedule, a monitor or a change as JSON."""
    row: dict[str, Any] = model.model_dump(mode="json", exclude={"report"})
    return row
