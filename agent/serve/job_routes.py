"""The REST API for jobs: the queue, schedules and monitors."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter
from fastapi import Path as PathParam
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from agent.serve.schemas import Done, Words
from agent.serve.server_state import JobsDep, JobStores

JobId = Annotated[str, PathParam(pattern=r"^[^\x00-\x1f/]{1,200}$", description="The job's id.")]
Name = Annotated[
    str,
    PathParam(
        pattern=r"^[^\x00-\x1f/]{1,200}$", description="The name of the schedule or monitor."
    ),
]
NewName = Annotated[str, StringConstraints(pattern=r"^[\w-]{1,60}$")]
When = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Short = Annotated[str, StringConstraints(strip_whitespace=True, max_length=400)]
JOBS_LISTED: Final = 100
"""Maximum number of jobs in a list; `research queue list` shows all."""
CHANGES_LISTED: Final = 5
"""Maximum number of changes per monitor in a list; a request for one monitor returns all."""


class JobForm(BaseModel):
    """A question to queue. `after` lists the ids of runs and jobs whose answers it receives."""

    model_config = ConfigDict(extra="forbid")

    question: Words
    priority: int = Field(0, ge=-1_000_000, le=1_000_000)
    after: list[str] = Field(default_factory=list, max_length=20)


class ScheduleForm(BaseModel):
    """A scheduled question: `when` in plain words or five cron fields, in the time zone `zone`."""

    model_config = ConfigDict(extra="forbid")

    when: When
    question: Words
    name: NewName | None = None
    zone: Short | None = None
    missed: Literal["once", "skip"] = "once"
    retry: int = Field(1, ge=0, le=20)


class MonitorForm(BaseModel):
    """A page (URL) or an answer (question) to monitor.

    `words` and `css` select a part of the page; `when` (`<100`, `10%`) tests its first number.
    Noise is learned from `learn` reads.
    """

    model_config = ConfigDict(extra="forbid")

    target: Words
    every: When = "every 15 minutes"
    name: NewName | None = None
    zone: Short | None = None
    words: Short = ""
    css: Short = ""
    when: Short = ""
    learn: int = Field(3, ge=2, le=20)


class QueueState(BaseModel):
    """The jobs, newest first, the workers, and the reason for a pause ("" if not paused)."""

    jobs: list[dict[str, Any]]
    paused: str
    workers: list[str]


def _row(model: BaseModel) -> dict[str, Any]:
    """Return a job (without its report), a schedule, a monitor or a change as JSON."""
    return model.model_dump(mode="json", exclude={"report"})


queue_routes = APIRouter(prefix="/api/queue", tags=["queue"])


@queue_routes.get("")
def list_jobs(stores: JobsDep) -> QueueState:
    """List the jobs, newest first."""
    rows = [_row(job) for job in stores.jobs.list(limit=JOBS_LISTED)]
    return QueueState(jobs=rows, paused=stores.jobs.paused, workers=list(stores.jobs.workers()))


@queue_routes.post("", status_code=201)
def add_job(stores: JobsDep, form: JobForm) -> dict[str, Any]:
    """Add a question; `research worker` answers it."""
    return _row(stores.jobs.add(**form.model_dump(), **stores.flags))


@queue_routes.post("/pause")
def pause_queue(stores: JobsDep) -> Done:
    """Pause the queue, so that no more jobs are started."""
    stores.jobs.pause()
    return Done()


@queue_routes.post("/resume")
def resume_queue(stores: JobsDep) -> Done:
    """Resume the queue."""
    stores.jobs.resume()
    return Done()


@queue_routes.post("/{job}/cancel")
def cancel_job(stores: JobsDep, job: JobId) -> Done:
    """Cancel a job, even one that is running."""
    stores.jobs.cancel(job)
    return Done()


@queue_routes.post("/{job}/retry")
def retry_job(stores: JobsDep, job: JobId) -> Done:
    """Retry a job that ended without an answer."""
    stores.jobs.retry(job)
    return Done()


schedule_routes = APIRouter(prefix="/api/schedules", tags=["schedules"])


@schedule_routes.get("")
def list_schedules(stores: JobsDep) -> list[dict[str, Any]]:
    """List the schedules with their next times."""
    return [_row(schedule) for schedule in stores.schedules.all()]


@schedule_routes.post("", status_code=201)
def add_schedule(stores: JobsDep, form: ScheduleForm) -> dict[str, Any]:
    """Schedule a question, once or repeatedly; `research worker` runs it."""
    return _row(stores.schedules.add(**form.model_dump(), **stores.flags))


monitor_routes = APIRouter(prefix="/api/monitors", tags=["monitors"])


@monitor_routes.get("")
def list_monitors(stores: JobsDep) -> list[dict[str, Any]]:
    """List the monitors with their last changes as diffs."""
    return [
        _monitor_row(stores, monitor, changes=CHANGES_LISTED) for monitor in stores.monitors.all()
    ]


@monitor_routes.post("", status_code=201)
def add_monitor(stores: JobsDep, form: MonitorForm) -> dict[str, Any]:
    """Monitor a page or an answer; `research worker` checks it."""
    return _monitor_row(stores, stores.monitors.add(**form.model_dump(), **stores.flags))


@monitor_routes.get("/{name}")
def show_monitor(stores: JobsDep, name: Name) -> dict[str, Any]:
    """Return a monitor with all its changes, newest first."""
    return _monitor_row(stores, stores.monitors.find(name))


def _monitor_row(stores: JobStores, monitor: Any, *, changes: int | None = None) -> dict[str, Any]:
    """Return a monitor as JSON, with its last and next check, and its changes, newest first."""
    newest = stores.monitors.changes(monitor.name)[::-1][:changes]
    schedule = next((s for s in stores.monitors.schedules.all() if s.name == monitor.name), None)
    row = _row(schedule) if schedule else {}
    times = {"next": row.get("next"), "zone": row.get("zone", "UTC")}
    check = stores.monitors.last_check(monitor.name)
    times["last_check"] = _row(check) if check else None
    return {**_row(monitor), **times, "changes": [*map(_row, newest)]}


def _add_run_and_remove(routes: APIRouter, kind: str, remove_description: str) -> None:
    """Add the routes shared by schedules and monitors (`kind`)."""

    @routes.post("/{name}/run", status_code=201)
    def run_now(stores: JobsDep, name: Name) -> dict[str, Any]:
        """Queue the job now, regardless of the schedule, and return it."""
        return _row(getattr(stores, kind).run(name))

    @routes.delete("/{name}", description=remove_description)
    def remove(stores: JobsDep, name: Name) -> Done:
        getattr(stores, kind).remove(name)
        return Done()


_add_run_and_remove(schedule_routes, "schedules", "Remove a schedule. Its jobs are kept.")
_add_run_and_remove(monitor_routes, "monitors", "Remove a monitor. Its saved changes are kept.")
