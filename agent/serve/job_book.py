"""The queue, schedules and monitors of a server, as JSON; loaded only where jobs are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent.errors import NotFound, UsageError
from agent.jobs.monitors import (
    Monitor,
    add_monitor,
    find_monitor,
    monitor_changes,
    monitors,
    remove_monitor,
    run_monitor,
)
from agent.jobs.schedules import (
    add_schedule,
    remove_schedule,
    run_schedule,
    schedules,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs
    from agent.jobs.schedules import Schedule

SHOWN: Final = 100
"""Jobs in the list; `research queue list` has them all."""
CHANGES_SHOWN: Final = 5
"""Changes of each monitor in a list; one that is asked for by its name has them all."""


class JobBook:
    """The jobs as JSON; what is added has the server's own flags.

    Synchronous and thread-safe. Raises what `agent.jobs` does: `UsageError`, `NotFound`,
    `JobsUnavailable`.
    """

    def __init__(self, jobs: Jobs, flags: Mapping[str, Any]) -> None:
        self.jobs = jobs
        self._flags = flags

    def view(self) -> dict[str, Any]:
        """Give all that the page shows."""
        return {
            "queue": self.queue(),
            "schedules": self.schedules(),
            "monitors": self.monitors(),
        }

    def queue(self) -> dict[str, Any]:
        """Give the jobs, newest first, why they are paused, and who works."""
        rows = [_row(job) for job in self.jobs.list(limit=SHOWN)]
        return {"jobs": rows, "paused": self.jobs.paused, "workers": list(self.jobs.workers())}

    def add(self, question: str, **given: Any) -> dict[str, Any]:
        """Put a question on the queue."""
        return _row(self.jobs.add(question, **given, **self._flags))

    def schedules(self) -> list[dict[str, Any]]:
        """Give the questions that come back; those of monitors stand with the monitors."""
        return [one.model_dump(mode="json") for one in self._own_schedules()]

    def add_schedule(self, **given: Any) -> dict[str, Any]:
        """Have a question asked again; one of the same name is replaced."""
        self._free(given["name"], monitor=True)
        return add_schedule(self.jobs, **given, **self._flags).model_dump(mode="json")

    def cancel(self, job: str) -> None:
        """Cancel a job; raises `NotFound`."""
        self._job(job)
        self.jobs.cancel(job)

    def retry(self, job: str) -> None:
        """Try a job again; raises `NotFound`."""
        self._job(job)
        self.jobs.retry(job)

    def run_schedule(self, name: str) -> dict[str, Any]:
        """Fire a schedule now; gives the job. Raises `NotFound`."""
        self._known(name, monitor=False)
        return _row(run_schedule(self.jobs, name))

    def remove_schedule(self, name: str) -> None:
        """Take a schedule away; raises `NotFound`."""
        self._known(name, monitor=False)
        remove_schedule(self.jobs, name)

    def monitors(self) -> list[dict[str, Any]]:
        """Give what is watched, each with its last changes, the newest first."""
        return [self._told(one, CHANGES_SHOWN) for one in monitors(self.jobs)]

    def monitor(self, name: str) -> dict[str, Any]:
        """Give one with all its changes; raises `NotFound`."""
        self._known(name, monitor=True)
        return self._told(find_monitor(self.jobs, name), None)

    def add_monitor(self, **given: Any) -> dict[str, Any]:
        """Watch a page or an answer; one of the same name is replaced."""
        self._free(given["name"], monitor=False)
        return self._told(add_monitor(self.jobs, **given, **self._flags), None)

    def run_monitor(self, name: str) -> dict[str, Any]:
        """Look now; gives the job. Raises `NotFound`."""
        self._known(name, monitor=True)
        return _row(run_monitor(self.jobs, name))

    def remove_monitor(self, name: str) -> None:
        """Watch no longer; raises `NotFound`."""
        self._known(name, monitor=True)
        remove_monitor(self.jobs, name)

    def _told(self, one: Monitor, most: int | None) -> dict[str, Any]:
        """Write a monitor with its changes and when it looks next."""
        told = monitor_changes(self.jobs, one.name)[::-1]
        known = {found.name: found for found in schedules(self.jobs)}
        comes = known[one.name].model_dump(mode="json")["next"] if one.name in known else None
        changes = [change.model_dump(mode="json") for change in told[:most]]
        zone = known[one.name].zone if one.name in known else "UTC"
        return {**one.model_dump(mode="json"), "next": comes, "zone": zone, "changes": changes}

    def _own_schedules(self) -> list[Schedule]:
        return [one for one in schedules(self.jobs) if one.kind != "monitor"]

    def _job(self, name: str) -> None:
        if self.jobs.find(name) is None:
            raise NotFound(f"no job {name}", hint="`/api/queue` lists them.")

    def _known(self, name: str, *, monitor: bool) -> None:
        """Raise `NotFound` where no monitor, or no schedule, is called so."""
        kind = "monitor" if monitor else "schedule"
        found = monitors(self.jobs) if monitor else self._own_schedules()
        if all(one.name != name for one in found):
            raise NotFound(f"no {kind} {name}", hint=f"`/api/{kind}s` lists them.")

    def _free(self, name: str | None, *, monitor: bool) -> None:
        """Raise `UsageError` where a name is that of the other kind, which it would take apart."""
        known = {one.name: one.kind == "monitor" for one in schedules(self.jobs)}
        if name in known and known[name] is monitor:
            raise UsageError(f"{name} is a {'monitor' if monitor else 'schedule'}")


def _row(job: Job) -> dict[str, Any]:
    return job.model_dump(mode="json", exclude={"report"})
