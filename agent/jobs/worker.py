"""A worker: takes jobs off the queue, takes over what dead workers left, and fires schedules.

DBOS recovers what a process of the same name left behind. Whose process is dead, it does not know
without a service of its own; here a worker's lock tells on its machine, at once, and elsewhere its
heartbeat in the database, when it is `STALE_S` old. A worker that cannot say that it lives ends
before the others take its jobs.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import platform
import random
import secrets
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

from dbos import DBOS, DBOSConfig
from filelock import FileLock, Timeout
from sqlalchemy.exc import DBAPIError

from agent.config import load_options, private_folder
from agent.errors import InternalError, ResearchError, error_class
from agent.jobs.job import LONGEST_DELAY_S, QUEUE, JobOutcome, JobSpec
from agent.jobs.jobs import (
    APP,
    POLL_S,
    SERIALIZER,
    STALE_S,
    VERSION,
    WORKFLOW,
    Jobs,
    enqueue_options,
    told,
)
from agent.jobs.shared_limits import SharedPace, SharedSpending
from agent.jobs.telling import tell
from agent.journal.runs import RunFolder, Runs
from agent.journal.usage import REACHED
from agent.run.outcome import FINAL
from agent.run.record import RunRecord
from agent.run.research import research
from agent.run.resume import resume
from agent.run.settings import remaining_budget
from agent.types import ErrorInfo, Report
from browser.net.pace import pacing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from agent.jobs.telling import Ways
    from agent.journal.events import Event

BEAT_S: Final = 5.0
UPKEEP_S: Final = 1.0
POLLS_A_SECOND: Final = 200
"""Looks at a queue by all workers together: a look costs Postgres about a millisecond."""
_FENCE: Final = 0.6
"""Share of `STALE_S` after which a worker that could not say that it lives ends itself."""
_LOST: Final = 20
"""Workers that may end under one job before it is given up: it may be what ends them."""
HOST_DELAY_S: Final = 0.2
"""Least time between two pages of one host, over all workers: five a second."""

STALL_S: Final = 1800.0
"""Seconds without an event after which a run counts as stalled: the reference's half hour."""
_LOCK_POLL_S: Final = 0.5
_LOOK_S: Final = 1.0
_LASTING: Final = frozenset(
    {"UsageError", "ModelUnauthorized", "ModelQuota", "JournalError", "LimitReached"}
)
"""Errors that another attempt would only meet again."""

Ask = Callable[[JobSpec], Awaitable[JobOutcome]]
Handler = Callable[[JobSpec, Jobs, Ask], Awaitable[JobOutcome]]
"""What does the jobs of a kind other than `ask`; it can have a question researched."""


class RunStalled(ResearchError):
    """A run told nothing for too long, and was given up."""


class RunPulse:
    """What a run under way has told so far: when it spoke last, and what it cost."""

    def __init__(self) -> None:
        self.heard = time.monotonic()
        self.usd = 0.0

    def note(self, event: Event) -> None:
        """Take up an event."""
        self.heard = time.monotonic()
        if event.type == "model.reply":
            self.usd += event.data["usd"]


class WorkerCutOff(ResearchError):
    """The database was out of reach for so long that others may have taken the jobs over."""

    hint = "Start the worker again; what it had under way goes on."


class Worker:
    """One process of workers' kind. `async with Worker(jobs)` works until the block is left.

    `at_once` is how many jobs each worker has at a time (it is the queue's, so it holds for all);
    `queues` those it takes from, all where None. `host_delay` and `stall` are in seconds, `ways`
    gives those to people's channels.
    """

    def __init__(
        self,
        jobs: Jobs,
        *,
        at_once: int | None = None,
        queues: Sequence[str] | None = None,
        host_delay: float = HOST_DELAY_S,
        stall: float = STALL_S,
        stale: float = STALE_S,
        handlers: dict[str, Handler] | None = None,
        upkeep: Sequence[Callable[[Jobs], object]] = (),
        ways: Ways | None = None,
    ) -> None:
        self.jobs = jobs
        self.id = f"{platform.node()[:40] or 'host'}-{os.getpid()}-{secrets.token_hex(3)}"
        self.running: dict[str, RunPulse] = {}
        self.pace = SharedPace(jobs.database, host_delay)
        self._at_once = at_once
        self._queues = queues
        self._stall = stall
        self._stale = stale
        self._handlers = handlers or {}
        self._upkeep = upkeep
        self.ways = ways
        self._stop = threading.Event()
        self._cut_off = asyncio.Event()
        self._threads: list[threading.Thread] = []
        self._spending = SharedSpending(jobs.database, jobs.data_dir)
        self._counted = 0.0

    async def __aenter__(self) -> Self:
        """Begin to work."""
        _CURRENT.append(self)
        self._loop = asyncio.get_running_loop()
        self._folder = private_folder(private_folder(self.jobs.data_dir / "jobs") / "workers")
        self._place = _place(self._folder)
        self._lock = FileLock(str(self._folder / f"{self.id}.lock"), thread_local=False)
        self._lock.acquire()
        await asyncio.to_thread(self._launch)
        for work in (self._beat, self._look_after):
            thread = threading.Thread(target=work, daemon=True, name=f"jobs-{work.__name__}")
            thread.start()
            self._threads.append(thread)
        return self

    def _launch(self) -> None:
        self.jobs.register(QUEUE, self._at_once)
        self.jobs.database.beat(self.id, self._place)
        DBOS(config=_config(self.jobs.database.url, self.id))
        if self._queues is not None:
            DBOS.listen_queues(self._queues)
        DBOS.launch()

    async def __aexit__(self, *_: object) -> None:
        """Stop: jobs under way are anybody's, and go on where they stopped."""
        self._stop.set()
        await asyncio.to_thread(self._leave)
        _CURRENT.remove(self)

    def _leave(self) -> None:
        DBOS.destroy(workflow_completion_timeout_sec=0)
        for thread in self._threads:
            thread.join()
        with suppress(DBAPIError):  # out of reach: the lock is free, and the heartbeat grows old
            self.jobs.database.leave(self.id)
        self._lock.release()
        (self._folder / f"{self.id}.lock").unlink(missing_ok=True)

    async def cut_off(self) -> None:
        """Wait until this worker has to end; raises `WorkerCutOff`."""
        await self._cut_off.wait()
        raise WorkerCutOff(
            f"the database of jobs was out of reach for {self._stale * _FENCE:.0f} s"
        )

    async def do(self, spec: JobSpec) -> JobOutcome:
        """Do one attempt."""
        progress = self.running[spec.id] = RunPulse()
        try:
            with pacing(self.pace):
                ask = partial(attempt, jobs=self.jobs, progress=progress, stall=self._stall)
                handler = self._handlers.get(spec.kind)
                return await (handler(spec, self.jobs, ask) if handler else ask(spec))
        finally:
            self.running.pop(spec.id, None)

    def _beat(self) -> None:
        heard = time.monotonic()
        while not self._stop.wait(min(BEAT_S, self._stale / 6)):
            try:
                self.jobs.database.beat(self.id, self._place)
                heard = time.monotonic()
            except DBAPIError:
                if time.monotonic() - heard > self._stale * _FENCE:
                    self._loop.call_soon_threadsafe(self._cut_off.set)
                    return

    def _look_after(self) -> None:
        """Do for all what one of the workers must: take over, call, drop, fire.

        The more there are the less often each does it, so that all together do it once a second.
        """
        wait = UPKEEP_S
        while not self._stop.wait(min(wait * random.uniform(0.5, 1.5), self._stale / 2)):
            with suppress(DBAPIError):  # it is back, or the heartbeat ends this worker
                living = self.jobs.database.living(self._stale)
                wait = UPKEEP_S * max(1, len(living))
                self._take_over(living)
                self.jobs.poll_every(max(POLL_S, len(living) / POLLS_A_SECOND))
                self.jobs.call_waiting()
                self.jobs.drop_expired()
                self._keep_budgets()
                for work in self._upkeep:
                    work(self.jobs)

    def _keep_budgets(self) -> None:
        """Pause the queue where the day's or the month's budget is reached; go on with the next."""
        if time.monotonic() - self._counted < BEAT_S:
            return
        self._counted = time.monotonic()
        self._spending.tell()
        settings = load_options({"data_dir": self.jobs.data_dir}, config=True)
        reached, paused = remaining_budget(settings, self._spending).reached, self.jobs.paused
        if reached and not paused:
            self.jobs.pause(reached)
        elif paused in REACHED and not reached:
            self.jobs.resume()

    def _take_over(self, living: dict[str, str]) -> None:
        here = [name for name, place in living.items() if place == self._place]
        for name in here:
            if name != self.id and _is_free(self._folder / f"{name}.lock"):
                self.jobs.database.leave(name)
                del living[name]
        lost = [name for name in self.jobs.lost(living) if name != self.id]
        if lost and not self._stop.is_set():
            DBOS._recover_pending_workflows(lost)  # noqa: SLF001 - what DBOS's own service calls


_CURRENT: list[Worker] = []
"""The worker of this process: DBOS calls a workflow by its name, and has one instance."""


@DBOS.step(name="urchin.attempt", preemptible=True)
async def _attempt(spec: dict[str, Any]) -> dict[str, Any]:
    outcome = await _CURRENT[-1].do(JobSpec.model_validate(spec))
    return outcome.model_dump(mode="json")


@DBOS.step(name="urchin.delay")
async def _delay(spec: dict[str, Any]) -> float:
    return delay_before(JobSpec.model_validate(spec))


_NO_NEWS: Final = frozenset({"first", "same"})
"""Outcomes of a monitor of which nobody is told."""


@DBOS.step(name="urchin.tell")
async def _tell(spec: dict[str, Any], outcome: dict[str, Any]) -> list[str]:
    return await tell(JobSpec.model_validate(spec), outcome, _CURRENT[-1].ways)


@DBOS.workflow(name=WORKFLOW, max_recovery_attempts=_LOST)
async def _job(spec: dict[str, Any]) -> dict[str, Any]:
    """Do one attempt of a job, and put the next one on the queue where it is to be tried again."""
    outcome = await _attempt(spec)
    assert DBOS.workflow_id is not None
    brief = {name: value for name, value in outcome.items() if name != "report"}
    noted: dict[str, Any] = {"outcome": brief}
    if spec["notify"] and not outcome["again"] and outcome["status"] not in _NO_NEWS:
        noted["told"] = await _tell(spec, outcome)
    await DBOS.update_workflow_attributes_async(DBOS.workflow_id, noted, merge=True)
    if outcome["again"]:
        made = JobSpec.model_validate(spec)
        after = made.model_copy(update={"attempt": made.attempt + 1})
        await DBOS.enqueue_workflow_with_options_async(
            enqueue_options(after, await _delay(spec)),
            after.model_dump(mode="json"),
        )
    return outcome


def _config(url: str, executor: str) -> DBOSConfig:
    return DBOSConfig(
        name=APP,
        system_database_url=url,
        application_version=VERSION,
        executor_id=executor,
        serializer=SERIALIZER,
        log_level="CRITICAL",
        scheduler_polling_interval_sec=3600.0,  # its schedules are not used: see `schedules`
    )


def _place(folder: Path) -> str:
    """Name the machine and the data folder: whose locks can be tried here."""
    named = f"{platform.node()}\n{folder.resolve()}"
    return hashlib.sha256(named.encode()).hexdigest()[:16]


def _is_free(path: Path) -> bool:
    """Tell whether nobody holds a worker's lock: its process is gone."""
    lock = FileLock(str(path), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    lock.release()
    path.unlink(missing_ok=True)
    return True


async def attempt(
    spec: JobSpec, jobs: Jobs, progress: RunPulse, *, stall: float = STALL_S
) -> JobOutcome:
    """Do the run of a job; what is on record of an earlier attempt is not asked again.

    `progress` is kept up to date meanwhile. Errors become outcomes; only a cancellation is raised.
    """
    if spec.expires is not None and spec.expires < time.time() and spec.attempt == 1:
        folder = RunFolder(Runs(jobs.data_dir).root / spec.run)
        if not folder.journal.exists():
            return JobOutcome(state="expired", error="it was not begun in time")
    try:
        async with _alone(jobs.data_dir, spec.run):
            report = await _watched(spec, jobs, progress, stall)
    except ResearchError as error:
        return _failed(spec, error)
    return outcome_of(spec, report)


def outcome_of(spec: JobSpec, report: Report) -> JobOutcome:
    """Say what a report makes of a job: one that failed is tried again where that may help."""
    failed, error = report.status == "failed", report.error or ErrorInfo(type="", message="")
    return JobOutcome(
        state="failed" if failed else "done",
        status=report.status,
        usd=report.usage.usd,
        elapsed_s=report.elapsed_s,
        error=error.message,
        hint=error.hint,
        report=report.model_dump(mode="json"),
        again=failed and spec.attempt <= spec.retry and error.type not in _LASTING,
    )


def delay_before(spec: JobSpec) -> float:
    """Seconds before the attempt after this one: doubled each time, up to half less by chance."""
    longest: float = min(LONGEST_DELAY_S, spec.base_delay * 2 ** (spec.attempt - 1))
    return longest * random.uniform(0.5, 1.0)


def _failed(spec: JobSpec, error: ResearchError) -> JobOutcome:
    stalled = isinstance(error, RunStalled)
    lasting = any(isinstance(error, error_class(name)) for name in _LASTING)
    tries = max(spec.retry, 1) if stalled else spec.retry
    again = spec.attempt <= tries and not lasting
    return JobOutcome(state="failed", error=str(error), hint=error.hint, again=again)


@asynccontextmanager
async def _alone(data_dir: Path, run: str) -> AsyncIterator[None]:
    """Let nobody else on this machine work on a run: one that only seems dead may wake up."""
    locks = private_folder(private_folder(data_dir / "jobs") / "locks")
    lock = FileLock(str(locks / f"{run}.lock"), thread_local=False)
    while True:
        try:
            lock.acquire(timeout=0)
            break
        except Timeout:
            await asyncio.sleep(_LOCK_POLL_S)
    try:
        yield
    finally:
        lock.release()


async def _watched(spec: JobSpec, jobs: Jobs, progress: RunPulse, stall: float) -> Report:
    """Run, and give up when nothing is heard for `stall` seconds."""
    working = asyncio.create_task(_run(spec, jobs, progress))
    try:
        while not working.done():
            await asyncio.wait({working}, timeout=min(_LOOK_S, stall))
            if time.monotonic() - progress.heard > stall and not working.done():
                working.cancel()
                await asyncio.wait({working}, timeout=stall)
                raise RunStalled(f"the run told nothing for {stall:.0f} s, and was given up")
        return working.result()
    finally:
        if not working.done():
            working.cancel()
            await asyncio.wait({working})


async def _run(spec: JobSpec, jobs: Jobs, progress: RunPulse) -> Report:
    """Begin the run, go on with it, or hand over its report: whatever its record calls for."""
    folder = RunFolder(Runs(jobs.data_dir).root / spec.run)
    spending = SharedSpending(jobs.database, jobs.data_dir)
    left = await asyncio.to_thread(spending.flags, spec.options)
    if folder.journal.exists() and folder.journal.stat().st_size:
        record = await asyncio.to_thread(RunRecord.read, folder)
        if record.report.get("status") in FINAL and folder.report.is_file():
            return Report.model_validate_json(folder.report.read_bytes())
        for event in record.events:
            progress.note(event)
        return await resume(record, data_dir=jobs.data_dir, on_event=progress.note, **left)
    flags: dict[str, Any] = {**spec.options, **left, "data_dir": jobs.data_dir}
    flags.update(await asyncio.to_thread(_handed_on, spec, jobs, flags))
    report = await research(
        spec.question, run=spec.run, config=True, on_event=progress.note, **flags
    )
    if report.error is not None and report.error.type == InternalError.__name__:
        raise InternalError(report.error.message)
    return report


def _handed_on(spec: JobSpec, jobs: Jobs, flags: dict[str, Any]) -> dict[str, Any]:
    """Hand on what came before: the first answer as a conversation, others as files.

    An answer whose record is on another machine, or that nobody remembers, is a file too.
    """
    answers = list(spec.context)
    continues = spec.continues
    remembers = flags.get("memory") is not False and not flags.get("session")
    for name in spec.after:
        job = jobs.find(name)
        if job is None or job.report is None:
            continue
        here = RunFolder(Runs(jobs.data_dir).root / job.run).journal.exists()
        if continues is None and here and remembers:
            continues = job.run
        else:
            answers.append(told(job.question, job.report["answer"], job.run))
    files = [*flags.get("file", ())]
    for n, answer in enumerate(answers, start=1):
        path = private_folder(jobs.data_dir / "jobs") / f"{spec.run}-after-{n}.md"
        path.write_text(answer, encoding="utf-8")
        files.append(path)
    handed: dict[str, Any] = {"file": files} if files else {}
    return {**handed, "continue_run": continues} if continues else handed
