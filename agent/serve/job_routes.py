"""What is asked for later, again, or watched, over HTTP: the queue, schedules and monitors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from fastapi import APIRouter
from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from agent.serve.forms import Done, Words

if TYPE_CHECKING:
    from agent.serve.job_book import JobBook

T = TypeVar("T")
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


class JobsView(BaseModel):
    """What the page shows of jobs; each monitor with its last `changes`, the newest first."""

    queue: QueueState
    schedules: list[dict[str, Any]]
    monitors: list[dict[str, Any]]


class JobsDesk:
    """Opens the jobs when they are first wanted: their engine is large, and an extra.

    `opened` raises `UsageError` where it is not installed.
    """

    def __init__(self, opened: Callable[[], JobBook]) -> None:
        self._opened = opened
        self._book: JobBook | None = None
        self._lock = asyncio.Lock()

    async def call(self, function: Callable[[JobBook], T]) -> T:
        """Call something with the jobs, in a thread."""
        async with self._lock:
            if self._book is None:
                self._book = await asyncio.to_thread(self._opened)
        return await asyncio.to_thread(function, self._book)

    async def view(self) -> JobsView:
        """Say what is in the queue, what comes back and what is watched."""
        return JobsView(**await self.call(lambda book: book.view()))


def job_routes(desk: JobsDesk) -> APIRouter:
    """Make the routes of jobs."""
    api = APIRouter(prefix="/api")
    api.include_router(_queue_routes(desk))
    api.include_router(_schedule_routes(desk))
    api.include_router(_monitor_routes(desk))
    return api


def _queue_routes(desk: JobsDesk) -> APIRouter:
    api = APIRouter(prefix="/queue", tags=["queue"])

    @api.get("")
    async def listed() -> QueueState:
        """List the jobs, newest first."""
        return QueueState(**await desk.call(lambda book: book.queue()))

    @api.post("", status_code=201)
    async def add(form: JobForm) -> dict[str, Any]:
        """Add a question; `research worker` answers it."""
        return await desk.call(lambda book: book.add(**form.model_dump()))

    @api.post("/pause")
    async def pause() -> Done:
        """Begin no more jobs."""
        await desk.call(lambda book: book.jobs.pause())
        return Done()

    @api.post("/resume")
    async def resume() -> Done:
        """Begin jobs again."""
        await desk.call(lambda book: book.jobs.resume())
        return Done()

    @api.post("/{job}/cancel")
    async def cancel(job: JobName) -> Done:
        """Cancel a job, one that runs too."""
        await desk.call(lambda book: book.jobs.cancel(job))
        return Done()

    @api.post("/{job}/retry")
    async def retry(job: JobName) -> Done:
        """Try a job again that has ended without an answer."""
        await desk.call(lambda book: book.jobs.retry(job))
        return Done()

    return api


def _schedule_routes(desk: JobsDesk) -> APIRouter:
    api = APIRouter(prefix="/schedules", tags=["schedules"])

    @api.get("")
    async def listed() -> list[dict[str, Any]]:
        """List the questions that come back, with when they come next."""
        return await desk.call(lambda book: book.schedules())

    @api.post("", status_code=201)
    async def add(form: ScheduleForm) -> dict[str, Any]:
        """Have a question asked again and again, or once later; `research worker` fires it."""
        return await desk.call(lambda book: book.add_schedule(**form.model_dump()))

    @api.post("/{name}/run", status_code=201)
    async def run(name: Known) -> dict[str, Any]:
        """Put the question on the queue now; gives the job."""
        return await desk.call(lambda book: book.run_schedule(name))

    @api.delete("/{name}")
    async def remove(name: Known) -> Done:
        """Take a schedule away; jobs that it made stay."""
        await desk.call(lambda book: book.remove_schedule(name))
        return Done()

    return api


def _monitor_routes(desk: JobsDesk) -> APIRouter:
    api = APIRouter(prefix="/monitors", tags=["monitors"])

    @api.get("")
    async def listed() -> list[dict[str, Any]]:
        """List what is watched, each with its last changes as diffs."""
        return await desk.call(lambda book: book.monitors())

    @api.post("", status_code=201)
    async def add(form: MonitorForm) -> dict[str, Any]:
        """Watch a page or an answer; `research worker` looks."""
        return await desk.call(lambda book: book.add_monitor(**form.model_dump()))

    @api.get("/{name}")
    async def one(name: Known) -> dict[str, Any]:
        """Give a monitor with all its changes, the newest first."""
        return await desk.call(lambda book: book.monitor(name))

    @api.post("/{name}/run", status_code=201)
    async def run(name: Known) -> dict[str, Any]:
        """Have a worker look now; gives the job."""
        return await desk.call(lambda book: book.run_monitor(name))

    @api.delete("/{name}")
    async def remove(name: Known) -> Done:
        """Watch no longer; what was kept stays."""
        await desk.call(lambda book: book.remove_monitor(name))
        return Done()

    return api
