"""The queue: adds, lists, cancels and retries jobs from any process.

Each attempt of a job is a DBOS workflow; data for which DBOS has no field is stored in the
workflow's attributes. Workers (`worker.py`) take the attempts from the queue.
"""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Self

import sqlalchemy as sa
from dbos import DBOS, DBOSClient
from dbos._serialization import DBOSPortableJSON  # JSON, not pickles: the database is shared
from filelock import FileLock

from agent.config import load_options, private_folder
from agent.errors import UsageError
from agent.export.report_view import saved_text
from agent.jobs.job import (
    FINAL_STATES,
    QUEUE,
    Job,
    JobSpec,
    NoSuchJob,
    job_id_of,
    json_flags,
    parse_duration,
)
from agent.jobs.job_notices import check_targets
from agent.jobs.jobs_database import JobsDatabase, JobsUnavailable, NoteTable
from agent.journal.runs import Runs, new_id
from agent.options import default_data_dir
from agent.run.record import RunRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from dbos import EnqueueOptions, WorkflowStatus

APP: Final = "urchin"
VERSION: Final = "urchin-1"
"""Version of `JobSpec` and the workflow; releases with the same version can share jobs."""
WORKFLOW_NAME: Final = "urchin.job"
SERIALIZER: Final = DBOSPortableJSON
POLL_S: Final = 0.25
"""Seconds between a worker's polls of the queue; on average, a job waits half as long."""
_UNFINISHED_STATES: Final = ("waiting", "queued", "running")
_AWAITING_JOBS_DELAY_S: Final = 20 * 365 * 86400.0
"""Delay in seconds for a job that waits for others, since DBOS has no such state. `release_waiting`
ends the delay.
"""

logging.getLogger("dbos").setLevel(logging.CRITICAL)  # the job reports errors


class Jobs:
    """The jobs in a database: synchronous, thread-safe, and a context manager; see `Jobs.open`."""

    def __init__(self, database: JobsDatabase, data_dir: Path) -> None:
        self.database = database
        self.data_dir = data_dir
        self._settings: NoteTable[Any] = NoteTable(database, "settings", object)
        self.client = DBOSClient(
            system_database_url=database.url,
            serializer=SERIALIZER,
            application_name=APP,
            lazy=True,  # connect on the first call, as the tables may not exist yet
        )

    @classmethod
    def open(cls, url: str | None = None, data_dir: Path | None = None) -> Self:
        """Open by URL (`sqlite:///…`, `postgresql://…`), or open `jobs.db` in the data folder.

        Raises `UsageError` for an invalid URL, `JobsUnavailable` if the server does not respond.
        """
        folder = data_dir or default_data_dir()
        database = JobsDatabase.open(url, folder)
        jobs = cls(database, folder)
        try:
            if jobs._settings.get("version") != VERSION:
                with FileLock(private_folder(folder / "jobs") / "migration.lock"):
                    # Another process may have created them in the meantime.
                    if jobs._settings.get("version") != VERSION:
                        DBOS.migrate(database.url)
                        jobs.register_queue(QUEUE, 4)
                        jobs._settings.put("version", VERSION)
        except sa.exc.DBAPIError as error:
            raise JobsUnavailable(f"cannot open the jobs database: {error.orig}") from error
        return jobs

    def register_queue(self, queue: str, at_once: int | None) -> None:
        """Create a queue; if it exists and `at_once` is given, set its number of parallel jobs."""
        known = self.client.retrieve_queue(queue)
        if known is None:
            self.client.register_queue(
                queue, worker_concurrency=at_once or 4, polling_interval_sec=POLL_S
            )
        elif at_once is not None and known.worker_concurrency != at_once:
            known.set_worker_concurrency(at_once)

    def close(self) -> None:
        """Close the connections."""
        self.client.destroy()
        self.database.close()

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()

    # Adding

    def add(
        self,
        question: str,
        *,
        after: Sequence[str] = (),
        ttl: float | str | None = None,
        delay: float = 0.0,
        notify: Sequence[str] = (),
        **settings: Any,
    ) -> Job:
        """Add a job; raises `UsageError` for invalid arguments.

        `after` lists jobs or runs whose answers are passed on to the job. `ttl` (seconds, or `2h`)
        is the maximum time until the job starts, `delay` (s) the minimum. `settings` are fields of
        `JobSpec` (`priority`, `retry`, …) and flags of `research`.
        """
        if not question.strip():
            raise UsageError("a job needs a question")
        fields = {name: settings.pop(name) for name in JobSpec.model_fields.keys() & settings}
        flags = json_flags(settings)
        if fields.get("kind", "ask") == "ask":
            load_options(flags)  # raises UsageError immediately rather than on a worker
        check_targets(notify)
        if ttl is not None:
            wait = parse_duration(ttl) if isinstance(ttl, str) else ttl
            fields["expires"] = time.time() + delay + wait
        name = new_id(datetime.now(UTC), 6)
        fields |= {"id": name, "run": name, **self._resolve_after(after)}
        spec = JobSpec(question=question.strip(), options=flags, notify=notify, **fields)
        self.enqueue(spec, delay=delay)
        return self.show(spec.id)

    def enqueue(self, spec: JobSpec, *, delay: float = 0.0) -> None:
        """Queue an attempt unless its id exists; it waits for the jobs in `after`."""
        options = enqueue_options(spec, _AWAITING_JOBS_DELAY_S if spec.after else delay)
        self.client.enqueue(options, spec.model_dump(mode="json"))
        if spec.after:
            self.release_waiting()  # its parents may already have ended

    def _resolve_after(self, after: Sequence[str]) -> dict[str, Any]:
        """Return the spec fields for the jobs and runs in `after`.

        The new job waits for these jobs. Runs have already ended, so the first run is continued,
        and the answers of the other runs are passed on as text.
        """
        jobs: list[str] = []
        runs: list[RunRecord] = []
        for name in dict.fromkeys(after):
            if (job := self.find(name)) is not None:
                jobs.append(job.id)
                continue
            record = RunRecord.read(Runs(self.data_dir).find(name))
            if not record.end:
                hint = "Finish it with `research resume`, or queue its question and use that job."
                raise UsageError(f"{record.folder.id} is not finished", hint=hint)
            runs.append(record)
        return {
            "after": tuple(jobs),
            "continues": runs[0].folder.id if runs else None,
            "context": tuple(
                answer_as_context(run.question, run.report, run.folder.id) for run in runs[1:]
            ),
        }

    # Reading

    def list(
        self, states: Iterable[str] | None = None, *, prefix: str = "", limit: int | None = None
    ) -> Sequence[Job]:
        """List jobs, newest first, each with its latest attempt, without reports.

        `prefix` selects jobs whose ids begin with it.
        """
        newest: dict[str, WorkflowStatus] = {}
        for row in self._rows(prefix, sort_desc=True):  # the latest attempt comes first
            newest.setdefault(job_id_of(row.workflow_id), row)
        wanted = None if states is None else set(states)
        jobs = [Job.from_row(row) for row in newest.values()]
        return [job for job in jobs if wanted is None or job.state in wanted][:limit]

    def last_ended(self, origin: str, prefix: str) -> Job | None:
        """Return the latest attempt that has ended, of the jobs with an origin and id prefix."""
        jobs = map(Job.from_row, self._rows(prefix, sort_desc=True))
        ended = (job for job in jobs if job.origin == origin and job.state in FINAL_STATES)
        return next(ended, None)

    def find(self, name: str) -> Job | None:
        """Find a job with its report by id, or return None."""
        rows = self._attempts(name)
        return Job.from_row(rows[-1], report=True) if rows else None

    def show(self, name: str) -> Job:
        """Return a job with its report, given the job's id or an unambiguous prefix of it.

        Raises `NoSuchJob`.
        """
        if (job := self.find(name)) is not None:
            return job
        rows = self._rows(name) if name else []
        ids = {job_id_of(row.workflow_id) for row in rows}
        if len(ids) == 1 and (job := self.find(ids.pop())) is not None:
            return job
        hint = "Use more characters of the id." if ids else "`research queue list` shows the jobs."
        raise NoSuchJob(f"{'several jobs begin with' if ids else 'no job'} {name}", hint=hint)

    def _rows(self, prefix: str = "", **filters: Any) -> Sequence[WorkflowStatus]:
        """List attempts without their reports, which are large; lists use the attributes."""
        return self.client.list_workflows(
            name=WORKFLOW_NAME, load_output=False, workflow_id_prefix=prefix or None, **filters
        )

    def _attempts(self, job: str) -> Sequence[WorkflowStatus]:
        """Read a job's attempts in order, with their reports."""
        if not job:
            return []
        rows = self.client.list_workflows(workflow_id_prefix=job, name=WORKFLOW_NAME)
        # the prefix may also match other jobs, because an id may begin with another one
        own = [row for row in rows if job_id_of(row.workflow_id) == job]
        return sorted(own, key=lambda row: JobSpec.from_row(row).attempt)

    # Changing

    def cancel(self, name: str, *, reason: str = "") -> Job:
        """Cancel a job, even a running one; raises `UsageError` if it has ended."""
        job = self.show(name)
        # an expired job stays in its queue until a worker removes it
        if job.state in FINAL_STATES and job.state != "expired":
            raise UsageError(f"{job.id} has already ended: {job.state}")
        self._cancel_attempt(self._attempts(job.id)[-1].workflow_id, "cancelled", reason)
        self.release_waiting()
        return self.show(job.id)

    def _cancel_attempt(self, workflow: str, state: str, reason: str) -> None:
        """Cancel an attempt; set its job's state, and store the reason as the job's error."""
        noted = {"state": state, "reason": reason}
        self.client.update_workflow_attributes(workflow, noted, merge=True)
        self.client.cancel_workflow(workflow)

    def retry(self, name: str) -> Job:
        """Retry a job that ended without an answer, continuing its run where it stopped.

        Raises `UsageError` if the job does not exist, has not ended, or has an answer.
        """
        job = self.show(name)
        if job.state not in FINAL_STATES:
            raise UsageError(f"{job.id} is {job.state}")
        if job.state == "done" and job.status != "partial":
            raise UsageError(f"{job.id} is already answered", hint="Add a new job to ask again.")
        spec = JobSpec.from_row(self._attempts(job.id)[-1])
        # One more than its remaining retries, as a manual retry does not count towards them.
        changed = {"attempt": spec.attempt + 1, "expires": None, "retry": spec.retry + 1}
        self.enqueue(spec.model_copy(update=changed))
        return self.show(job.id)

    def delete(self, prefix: str) -> None:
        """Delete all jobs whose ids begin with `prefix`, even running ones, but keep their runs."""
        self._delete(row.workflow_id for row in self._rows(prefix))

    def remove(self, name: str) -> Job:
        """Delete a job that has ended, but keep its run.

        Raises `UsageError` if the job does not exist, has not ended, or is awaited by another job.
        """
        job = self.show(name)
        if job.state not in FINAL_STATES:
            raise UsageError(
                f"{job.id} is {job.state}", hint="Cancel it with `research queue cancel`."
            )
        if job.id in self._awaited_job_ids():
            raise UsageError(f"another job is waiting for {job.id}", hint="Cancel that job first.")
        self._delete(row.workflow_id for row in self._attempts(job.id))
        return job

    def remove_older(self, age: timedelta) -> Sequence[str]:
        """Delete jobs that ended longer ago than `age`; return their ids."""
        before, awaited = datetime.now(UTC) - age, self._awaited_job_ids()
        ended = [job for job in self.list(FINAL_STATES) if (job.ended or job.created) < before]
        removed = [job.id for job in ended if job.id not in awaited]
        self._delete(row.workflow_id for name in removed for row in self._attempts(name))
        return removed

    def _awaited_job_ids(self) -> set[str]:
        """Return the ids of jobs that other jobs are waiting for."""
        return {name for job in self.list(_UNFINISHED_STATES) for name in job.after}

    def _delete(self, workflows: Iterable[str]) -> None:
        if rows := [*workflows]:
            self.client.cancel_workflows(rows)  # an expired job may still be in its queue
            self.client.delete_workflows(rows)

    def pause(self, reason: str = "paused by the user") -> None:
        """Stop starting new jobs. Running jobs continue."""
        now = datetime.now(UTC).isoformat()
        self._settings.put("paused", {"reason": reason, "at": now})
        for queue in self.client.list_queues():
            # DBOS cannot pause a queue, but a limit of 0 jobs per second has the same effect.
            queue.set_limiter({"limit": 0, "period": 1.0})

    def resume(self) -> None:
        """Resume starting jobs."""
        self._settings.delete("paused")
        for queue in self.client.list_queues():
            queue.set_limiter(None)

    @property
    def paused(self) -> str:
        """The reason why the queue is paused, or "" if it is not."""
        note = self._settings.get("paused")
        return str(note["reason"]) if note else ""

    def workers(self) -> Sequence[str]:
        """Return the ids of workers with a heartbeat in the last minute."""
        return sorted(self.database.living_workers())

    # Maintenance that any worker does on behalf of all workers

    def set_poll_interval(self, seconds: float) -> None:
        """Set the poll interval of all queues, unless it is already close enough."""
        for queue in self.client.list_queues():
            if not 0.8 < queue.polling_interval_sec / seconds < 1.25:
                queue.set_polling_interval_sec(seconds)

    def release_waiting(self) -> None:
        """Start the waiting jobs whose parents are done; fail those with a failed parent."""
        for row in self._rows(status="DELAYED"):
            after = JobSpec.from_row(row).after
            if not after:  # it waits for a start time, not for other jobs
                continue
            # A deleted parent does not block the jobs that wait for it.
            parents = [job for name in after if (job := self.find(name))]
            failed = [parent for parent in parents if parent.state in FINAL_STATES - {"done"}]
            if failed:
                why = f"its parent job {failed[0].id} did not succeed: {failed[0].state}"
                self._cancel_attempt(row.workflow_id, "failed", why)
            elif all(parent.state == "done" for parent in parents):
                self.client.set_workflow_delay(row.workflow_id, delay_seconds=0)

    def dead_workers(self, living: Mapping[str, str]) -> Sequence[str]:
        """Return the ids of workers that have running jobs but are not in `living`."""
        rows = self.client.list_workflows(
            status="PENDING", load_input=False, load_output=False, application_name=APP
        )
        return sorted({row.executor_id for row in rows if row.executor_id} - living.keys())


def answer_as_context(question: str, report: Mapping[str, Any], run: str) -> str:
    """Format a saved report and its origin as Markdown, as input for a later run."""
    answer = saved_text(report)
    return f"# Answer of an earlier run ({run})\n\nQuestion: {question}\n\n{answer}\n"


def enqueue_options(spec: JobSpec, delay: float) -> EnqueueOptions:
    """Return the DBOS options for an attempt."""
    options: EnqueueOptions = {
        "workflow_name": WORKFLOW_NAME,
        "queue_name": spec.queue,
        "workflow_id": spec.workflow,
        "app_version": VERSION,
        "priority": spec.rank,
    }
    if delay > 0:
        options["delay_seconds"] = delay
    return options
