"""What is asked for later, again, or watched, over HTTP: the queue, schedules and monitors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from agent.serve.forms import Done, Words
from agent.serve.office import InOffice, Office

JobName = Annotated[str, InPath(pattern=r"^[^\x00-\x1f/]{1,200}$", description="Its id.")]
Known = Annotated[str, InPath(pattern=r"^[^\x00-\x1f/]{1,200}$", description="Its name.")]
NewName = Annotated[str, StringConstraints(pattern=r"^[\w-]{1,60}$")]
When = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Short = Annotated[str, StringConstraints(strip_whitespace=True, max_length=400)]


class JobForm(BaseModel):
    """A question for later; `after` names a run or a job whose answer is handed on."""

    model_config = ConfigDict(extra="forbid")

    question: Words
    priority: int = Field(0, ge=-1_000_000, le=1_000_000)
    after: list[str] = Field(default_factory=list, max_length=20)


class ScheduleForm(BaseModel):
    """A question that comes back: `when` in plain words or cron's five fields, in `zone`."""

    model_config = ConfigDict(extra="forbid")

    when: When
    question: Words
    name: NewName | None = None
    zone: Short | None = None
    missed: Literal["once", "skip"] = "once"
    retry: int = Field(1, ge=0, le=20)


class MonitorForm(BaseModel):
    """A page (an address) or an answer (a question) that is watched.

    `words` and `css` choose a part of the page, `when` (`<100`, `10%`) is about its first figure.
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
    """The jobs, newest first, why the queue is paused ("": it is not), and the workers."""

    jobs: list[dict[str, Any]]
    paused: str
    workers: list[str]


queue_routes = APIRouter(prefix="/api/queue", tags=["queue"])


async def _row(office: Office, work: Callable[[Any], Any]) -> dict[str, Any]:
    """Have something done with the jobs; gives what it came to as JSON, without a report."""
    made = await office.jobs(work)
    row: dict[str, Any] = made.model_dump(mode="json", exclude={"report"})
    return row


async def _done(office: Office, work: Callable[[Any], object]) -> Done:
    await office.jobs(work)
    return Done()


@queue_routes.get("")
async def list_jobs(office: InOffice) -> QueueState:
    """List the jobs, newest first."""
    return QueueState(**await office.jobs(lambda book: book.queue()))


@queue_routes.post("", status_code=201)
async def add_job(office: InOffice, form: JobForm) -> dict[str, Any]:
    """Add a question; `research worker` answers it."""
    return await _row(office, lambda book: book.jobs.add(**form.model_dump(), **book.flags))


@queue_routes.post("/pause")
async def pause_queue(office: InOffice) -> Done:
    """Begin no more jobs."""
    return await _done(office, lambda book: book.jobs.pause())


@queue_routes.post("/resume")
async def resume_queue(office: InOffice) -> Done:
    """Begin jobs again."""
    return await _done(office, lambda book: book.jobs.resume())


@queue_routes.post("/{job}/cancel")
async def cancel_job(office: InOffice, job: JobName) -> Done:
    """Cancel a job, one that runs too."""
    return await _done(office, lambda book: book.jobs.cancel(job))


@queue_routes.post("/{job}/retry")
async def retry_job(office: InOffice, job: JobName) -> Done:
    """Try a job again that has ended without an answer."""
    return await _done(office, lambda book: book.jobs.retry(job))


schedule_routes = APIRouter(prefix="/api/schedules", tags=["schedules"])
monitor_routes = APIRouter(prefix="/api/monitors", tags=["monitors"])


@schedule_routes.get("")
async def list_schedules(office: InOffice) -> list[dict[str, Any]]:
    """List the questions that come back, with when they come next."""
    return await office.jobs(lambda book: book.scheduled())


@schedule_routes.post("", status_code=201)
async def add_schedule(office: InOffice, form: ScheduleForm) -> dict[str, Any]:
    """Have a question asked again and again, or once later; `research worker` fires it."""
    return await _row(office, lambda book: book.schedules.add(**form.model_dump(), **book.flags))


@monitor_routes.get("")
async def list_monitors(office: InOffice) -> list[dict[str, Any]]:
    """List what is watched, each with its last changes as diffs."""
    return await office.jobs(lambda book: book.watched())


@monitor_routes.post("", status_code=201)
async def add_monitor(office: InOffice, form: MonitorForm) -> dict[str, Any]:
    """Watch a page or an answer; `research worker` looks."""
    return await office.jobs(lambda book: book.watch(**form.model_dump()))


@monitor_routes.get("/{name}")
async def show_monitor(office: InOffice, name: Known) -> dict[str, Any]:
    """Give a monitor with all its changes, the newest first."""
    return await office.jobs(lambda book: book.told(book.monitors.find(name)))


def _run_and_remove(routes: APIRouter, kind: str, removed: str) -> None:
    """Add what is the same of schedules and monitors; `kind` is their name in the book."""

    @routes.post("/{name}/run", status_code=201)
    async def run_now(office: InOffice, name: Known) -> dict[str, Any]:
        """Put it on the queue now, whatever its times say; gives the job."""
        return await _row(office, lambda book: getattr(book, kind).run(name))

    @routes.delete("/{name}", description=removed)
    async def remove(office: InOffice, name: Known) -> Done:
        return await _done(office, lambda book: getattr(book, kind).remove(name))


_run_and_remove(schedule_routes, "schedules", "Take a schedule away; jobs that it made stay.")
_run_and_remove(monitor_routes, "monitors", "Watch no longer; what was kept stays.")
