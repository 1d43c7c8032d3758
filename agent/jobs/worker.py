"""A worker: a process that takes jobs from the queue, runs them, and sends notifications.

A retried job continues the run of its last attempt: recorded steps are not repeated. A run's errors
determine the job's outcome, and therefore whether it is retried.
"""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
import time
from typing import TYPE_CHECKING, Any, Final, Self

from dbos import DBOS
from filelock import AsyncFileLock

from agent.config import private_folder
from agent.errors import ResearchError, error_class
from agent.jobs.job import QUEUE, JobOutcome, JobSpec, backoff
from agent.jobs.job_notices import deliver_notice
from agent.jobs.jobs import (
    APP,
    SERIALIZER,
    VERSION,
    WORKFLOW_NAME,
    answer_as_context,
    enqueue_options,
)
from agent.jobs.monitor_checks import check_monitor
from agent.jobs.shared_limits import SharedPace, SharedSpending
from agent.jobs.upkeep import FENCE_S, WorkerUpkeep
from agent.journal.runs import RunFolder, Runs
from agent.run.recheck import recheck
from agent.run.record import RunRecord
from agent.run.research import research
from agent.run.resume import resume
from agent.types import FINAL_STATUSES, ErrorInfo, Report
from browser.net.pace import shared_pace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.jobs.job_notices import ChannelSenders
    from agent.jobs.jobs import Jobs
    from agent.journal.events import Event

HOST_DELAY_S: Final = 0.2
"""Minimum seconds between requests to a host, across all workers: five requests a second."""
STALL_S: Final = 1800.0
"""Seconds without an event after which a run counts as stalled, as in the reference engine."""
_PROGRESS_POLL_S: Final = 1.0  # seconds between checks for progress
_PERMANENT_ERRORS: Final = frozenset(
    {"UsageError", "ModelUnauthorized", "ModelQuota", "ModelUnknown", "NotAnEndpoint"}
    | {"KeyMissing", "ModelFiltered", "JournalError", "LimitReached"}
)
"""Errors that a retry cannot fix."""
_SILENT_STATUSES: Final = frozenset({"first", "same"})
"""Monitor outcomes that do not send a notification."""
_MAX_RECOVERIES: Final = 20
"""Maximum number of workers that may die while running a job, since the job may be the cause."""


class RunStalled(ResearchError):
    """Raised if a run was cancelled because it did not write an event for too long."""


class RunProgress:
    """An active run's progress: the time of its last event, and its cost."""

    def __init__(self) -> None:
        self.last_event = time.monotonic()
        self.usd = 0.0

    def note(self, event: Event) -> None:
        """Count an event."""
        self.last_event = time.monotonic()
        if event.type == "model.reply":
            self.usd += event.data["usd"]


class WorkerCutOff(ResearchError):
    """Raised if the database is unreachable so long that other workers may take over the jobs."""

    hint = "Start the worker again; its jobs will continue."


class Worker:
    """The only worker in this process; `async with Worker(jobs)` works until the block ends.

    `at_once` is the number of parallel jobs per worker, which is stored with the queue and applies
    to all workers. `queues` lists the queues from which it takes jobs; None means all. The main
    queue's worker starts scheduled jobs. `host_delay` and `stall` are in seconds; `senders` deliver
    notices to channels.
    """

    def __init__(
        self,
        jobs: Jobs,
        *,
        at_once: int | None = None,
        queues: Sequence[str] | None = None,
        host_delay: float = HOST_DELAY_S,
        stall: float = STALL_S,
        senders: ChannelSenders | None = None,
    ) -> None:
        self.jobs = jobs
        self.id = f"{platform.node()[:40] or 'host'}-{os.getpid()}-{secrets.token_hex(3)}"
        self.running: dict[str, RunProgress] = {}
        self.senders = senders
        self._pace = SharedPace(jobs.database, host_delay)
        self._at_once = at_once
        self._queues = queues
        self._stall = stall
        self._cut_off = asyncio.Event()
        self._upkeep = WorkerUpkeep(
            jobs,
            self.id,
            fires_schedules=queues is None or QUEUE in queues,
            on_cut_off=lambda: self._loop.call_soon_threadsafe(self._cut_off.set),
        )

    async def __aenter__(self) -> Self:
        """Start working."""
        _CURRENT_WORKER.append(self)
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._start)
        return self

    def _start(self) -> None:
        self.jobs.register_queue(QUEUE, self._at_once)
        self._upkeep.take_lease()
        DBOS(
            config={
                "name": APP,
                "system_database_url": self.jobs.database.url,
                "application_version": VERSION,
                "executor_id": self.id,
                "serializer": SERIALIZER,
                "log_level": "CRITICAL",
                "scheduler_polling_interval_sec": 3600.0,  # not used: see `schedules`
            }
        )
        if self._queues is not None:
            DBOS.listen_queues(self._queues)
        DBOS.launch()
        self._upkeep.start()

    async def __aexit__(self, *_: object) -> None:
        """Stop. Other workers continue the running jobs."""
        self._upkeep.stop()
        await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=0)
        await asyncio.to_thread(self._upkeep.release)
        _CURRENT_WORKER.remove(self)

    async def cut_off(self) -> None:
        """Wait until this worker must stop; raises `WorkerCutOff`."""
        await self._cut_off.wait()
        raise WorkerCutOff(f"the jobs database was unreachable for {FENCE_S:.0f} s")

    async def run_attempt(self, job: JobSpec) -> JobOutcome:
        """Run one attempt of a job."""
        self.running[job.id] = RunProgress()
        try:
            with shared_pace(self._pace):  # applies to everything that the run opens
                if job.kind == "monitor":
                    return await check_monitor(job, self.jobs, self._answer, recheck)
                if job.kind == "remind":  # the reminder is sent as the job's final notice
                    report = {"answer": job.question}
                    return JobOutcome(state="done", status="reminded", report=report)
                return await self._answer(job)
        finally:
            self.running.pop(job.id, None)

    async def _answer(self, job: JobSpec) -> JobOutcome:
        """Run a job's question; errors become the job's outcome."""
        folder = RunFolder(Runs(self.jobs.data_dir).root / job.run)
        overdue = job.expires is not None and job.expires < time.time() and job.attempt == 1
        if overdue and not folder.journal.exists():
            return JobOutcome(state="expired", error="it did not start in time")
        locks = private_folder(private_folder(self.jobs.data_dir / "jobs") / "locks")
        lock = AsyncFileLock(
            str(locks / f"{job.run}.lock"),
            thread_local=False,
            poll_interval=0.5,
            run_in_executor=False,  # quick enough, and a thread would outlive a cancellation
        )
        try:
            async with lock:  # another worker that only seemed dead may still be running this
                report = await self._run_watched(job, folder)
        except ResearchError as error:
            # A stalled run is retried once, even if no retry is requested.
            tries = max(job.retry, 1) if isinstance(error, RunStalled) else job.retry
            permanent = any(isinstance(error, error_class(name)) for name in _PERMANENT_ERRORS)
            again = job.attempt <= tries and not permanent
            return JobOutcome(state="failed", error=str(error), hint=error.hint, again=again)
        failed, info = report.status == "failed", report.error or ErrorInfo(type="", message="")
        return JobOutcome(
            state="failed" if failed else "done",
            status=report.status,
            badge=report.badge,
            usd=report.usage.usd,
            elapsed_s=report.elapsed_s,
            error=info.message,
            hint=info.hint,
            report=report.model_dump(mode="json"),
            again=failed and job.attempt <= job.retry and info.type not in _PERMANENT_ERRORS,
        )

    async def _run_watched(self, job: JobSpec, folder: RunFolder) -> Report:
        """Run a job's question; raises `RunStalled` after `stall` seconds without an event."""
        progress, stall = self.running[job.id], self._stall
        progress.last_event = time.monotonic()  # do not count the wait for the lock
        working = asyncio.create_task(self._run(job, folder, progress))
        try:
            while not working.done():
                await asyncio.wait({working}, timeout=min(_PROGRESS_POLL_S, stall))
                if time.monotonic() - progress.last_event > stall and not working.done():
                    raise RunStalled(f"the run made no progress for {stall:.0f} s and was stopped")
            return working.result()
        finally:
            if not working.done():
                working.cancel()
                await asyncio.wait({working})

    async def _run(self, job: JobSpec, folder: RunFolder, progress: RunProgress) -> Report:
        """Depending on the journal, start the run, resume it, or return its report."""
        data = self.jobs.data_dir
        spending = SharedSpending(self.jobs.database, data)
        budgets = await asyncio.to_thread(spending.budgets_after_other_folders, job.options)
        if folder.journal.exists() and folder.journal.stat().st_size:
            record = await asyncio.to_thread(RunRecord.read, folder)
            if record.report.get("status") in FINAL_STATUSES and folder.report.is_file():
                return Report.model_validate_json(folder.report.read_bytes())
            for event in record.events:  # count the run's cost so far in the batch's budget
                progress.note(event)
            return await resume(record, data_dir=data, on_event=progress.note, **budgets)
        flags: dict[str, Any] = {**job.options, **budgets, "data_dir": data}
        flags |= await asyncio.to_thread(_context_flags, job, self.jobs, flags)
        return await research(
            job.question, run=job.run, config=True, on_event=progress.note, **flags
        )


def _context_flags(job: JobSpec, jobs: Jobs, flags: dict[str, Any]) -> dict[str, Any]:
    """Return flags that pass on earlier answers, as a conversation to continue and as files.

    The first answer is continued, and the others become files. The first answer also becomes a file
    if its journal is on another machine or memory is off.
    """
    answers, continues = list(job.context), job.continues
    remembers = flags.get("memory") is not False and not flags.get("session")
    for name in job.after:
        parent = jobs.find(name)
        if parent is None or parent.report is None:
            continue
        here = RunFolder(Runs(jobs.data_dir).root / parent.run).journal.exists()
        if continues is None and here and remembers:
            continues = parent.run
        else:
            answers.append(answer_as_context(parent.question, parent.report, parent.run))
    files = [*flags.get("file", ())]
    for n, answer in enumerate(answers, start=1):
        path = private_folder(jobs.data_dir / "jobs") / f"{job.run}-after-{n}.md"
        path.write_text(answer, encoding="utf-8")
        files.append(path)
    context: dict[str, Any] = {"file": files} if files else {}
    return {**context, "continue_run": continues} if continues else context


_CURRENT_WORKER: list[Worker] = []
"""This process's worker. Workflows are called by name, so they get it from here."""

# Do not change the steps' names or order: workers of other releases may continue workflows that
# this one started.


@DBOS.step(name="urchin.attempt", preemptible=True)
async def _attempt(job: dict[str, Any]) -> dict[str, Any]:
    outcome = await _CURRENT_WORKER[-1].run_attempt(JobSpec.model_validate(job))
    return outcome.model_dump(mode="json")


@DBOS.step(name="urchin.delay")
async def _delay(job: dict[str, Any]) -> float:
    return backoff(JobSpec.model_validate(job))


@DBOS.step(name="urchin.tell")
async def _notify(job: dict[str, Any], outcome: dict[str, Any]) -> list[str]:
    return await deliver_notice(JobSpec.model_validate(job), outcome, _CURRENT_WORKER[-1].senders)


@DBOS.workflow(name=WORKFLOW_NAME, max_recovery_attempts=_MAX_RECOVERIES)
async def _job_workflow(job: dict[str, Any]) -> dict[str, Any]:
    """Run one attempt of a job, then send the notification or queue the next attempt."""
    outcome = await _attempt(job)
    assert DBOS.workflow_id is not None
    brief = {name: value for name, value in outcome.items() if name != "report"}
    attributes: dict[str, Any] = {"outcome": brief}
    if job["notify"] and not outcome["again"] and outcome["status"] not in _SILENT_STATUSES:
        attributes["undelivered"] = await _notify(job, outcome)
    await DBOS.update_workflow_attributes_async(DBOS.workflow_id, attributes, merge=True)
    if outcome["again"]:
        spec = JobSpec.model_validate(job)
        following = spec.model_copy(update={"attempt": spec.attempt + 1})
        await DBOS.enqueue_workflow_with_options_async(
            enqueue_options(following, await _delay(job)), following.model_dump(mode="json")
        )
    return outcome
