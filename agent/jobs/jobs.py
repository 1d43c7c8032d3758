"""The face of the queue: what is added, listed, cancelled and tried again, from any process."""

from __future__ import annotations

import logging
import os
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Self

import sqlalchemy as sa
from dbos import DBOS, DBOSClient
from dbos._serialization import DBOSPortableJSON  # JSON, not pickles: the database is shared
from filelock import FileLock

from agent.config import default_data_dir, load_options, private_folder
from agent.errors import UsageError
from agent.jobs.job import (
    ENDED,
    QUEUE,
    Job,
    JobSpec,
    NoSuchJob,
    attempt_id,
    fresh_id,
    job_id_of,
    job_of,
    plain,
    run_id_of,
    seconds_of,
    spec_of,
)
from agent.jobs.jobs_database import JobsDatabase, JobsUnavailable
from agent.journal.runs import Runs
from agent.notify.targets import check_target
from agent.run.record import RunRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from dbos import EnqueueOptions, WorkflowStatus

APP: Final = "urchin"
VERSION: Final = "urchin-1"
"""Of the form of a job: workers of all releases with the same one take over from each other."""
WORKFLOW: Final = "urchin.job"
SERIALIZER: Final = DBOSPortableJSON
POLL_S: Final = 0.25
"""How often a worker looks for a job: it waits half of that, and a look costs a millisecond."""
STALE_S: Final = 60.0
"""Age of a heartbeat at which a worker counts as dead: what DBOS's own service waits, too."""
_TILL_CALLED_S: Final = 20 * 365 * 86400.0
"""Delay of a job that waits for another: that one's end calls it."""
_PAUSED: Final = ("settings", "paused")

logging.getLogger("dbos").setLevel(logging.CRITICAL)  # what went wrong is told by the job


class Jobs:
    """The jobs of a database; synchronous and thread-safe. Open with `Jobs.open`, or use `with`."""

    def __init__(self, database: JobsDatabase, data_dir: Path) -> None:
        self.database = database
        self.data_dir = data_dir
        self.client = DBOSClient(
            system_database_url=database.url,
            serializer=SERIALIZER,
            application_name=APP,
            lazy=True,
        )

    @classmethod
    def open(cls, url: str | None = None, data_dir: Path | None = None) -> Self:
        """Open by URL (`sqlite:///…`, `postgresql://…`), else `jobs.db` in the data folder.

        Raises `UsageError` for what is no address, `JobsUnavailable` where nobody answers.
        """
        folder = data_dir or default_data_dir()
        database = JobsDatabase.open(url, folder)
        opened = cls(database, folder)
        try:
            opened._prepare()
        except sa.exc.DBAPIError as error:
            raise JobsUnavailable(f"cannot open the jobs: {error.orig}") from error
        return opened

    def _prepare(self) -> None:
        if self.database.note("settings", "version") == VERSION:
            return
        with FileLock(private_folder(self.data_dir / "jobs") / "migration.lock"):
            if self.database.note("settings", "version") != VERSION:  # nobody did it meanwhile
                DBOS.migrate(self.database.url)
                self.register(QUEUE, 4)
                self.database.keep("settings", "version", VERSION)

    def register(self, queue: str, at_once: int | None) -> None:
        """Make a queue, or say how many of its jobs each worker has `at_once`; None keeps that."""
        known = self.client.retrieve_queue(queue)
        if known is not None:
            if at_once is not None and known.worker_concurrency != at_once:
                known.set_worker_concurrency(at_once)
            return
        self.client.register_queue(
            queue, worker_concurrency=at_once or 4, polling_interval_sec=POLL_S
        )

    def close(self) -> None:
        """Close the connections."""
        self.client.destroy()
        self.database.close()

    def __enter__(self) -> Self:
        """Give the jobs."""
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
        id: str | None = None,  # noqa: A002 - the field's name
        **given: Any,
    ) -> Job:
        """Add a job; one whose `id` is known is left as it is, and given back.

        `after` names jobs or runs whose answers are handed on, `ttl` (seconds, or `2h`) says how
        long it may wait to begin, `delay` (s) when it may at the earliest. `given` are fields of
        `JobSpec` (`priority`, `retry`, …) and flags of `research`. Raises `UsageError` for what
        cannot be done.
        """
        if not question.strip():
            raise UsageError("a job needs a question")
        own = {name: given.pop(name) for name in JobSpec.model_fields.keys() & given.keys()}
        flags = plain(given)
        if own.get("kind", "ask") == "ask":
            load_options(flags)  # raises UsageError now, not on a worker
        check_targets(notify)
        waits, own["continues"], own["context"] = self._handed(after)
        if ttl is not None:
            wait = seconds_of(ttl) if isinstance(ttl, str) else ttl
            own["expires"] = time.time() + delay + wait
        name = id or fresh_id()
        own["run"] = run_id_of(id) if id else name
        spec = JobSpec(
            id=name, question=question.strip(), options=flags, after=waits, notify=notify, **own
        )
        self.enqueue(spec, delay=delay, waits=bool(waits))
        return self.show(spec.id)

    def enqueue(self, spec: JobSpec, *, delay: float = 0.0, waits: bool = False) -> None:
        """Put an attempt on its queue, unless it is there; one that `waits` till it is called."""
        options = enqueue_options(spec, _TILL_CALLED_S if waits else delay, waits=waits)
        self.client.enqueue(options, spec.model_dump(mode="json"))
        if waits:
            self.call_waiting()

    def _handed(self, after: Sequence[str]) -> tuple[tuple[str, ...], str | None, tuple[str, ...]]:
        """Sort what a job comes after: jobs to wait for, a run to continue, answers of others."""
        waits: list[str] = []
        runs: list[RunRecord] = []
        for name in dict.fromkeys(after):
            if (job := self.find(name)) is not None:
                waits.append(job.id)
            else:
                runs.append(RunRecord.read(Runs(self.data_dir).find(name)))
        for record in runs:
            if not record.end:
                hint = "`research resume` ends it; or add it as a job and wait for that."
                raise UsageError(f"{record.folder.id} has come to no end", hint=hint)
        continues = runs[0].folder.id if runs else None
        others = [
            told(record.question, record.report["answer"], record.folder.id) for record in runs[1:]
        ]
        return tuple(waits), continues, tuple(others)

    # Looking

    def list(
        self,
        states: Iterable[str] | None = None,
        *,
        origin: str | None = None,
        limit: int | None = None,
    ) -> Sequence[Job]:
        """List jobs, newest first, each by its last attempt; without reports."""
        rows = self._rows(origin=origin, sort_desc=True)
        newest: dict[str, WorkflowStatus] = {}
        for row in rows:  # a later attempt was made later
            newest.setdefault(job_id_of(row.workflow_id), row)
        wanted = None if states is None else set(states)
        jobs = (job_of(row) for row in newest.values())
        found = [job for job in jobs if wanted is None or job.state in wanted]
        return found[:limit]

    def find(self, name: str) -> Job | None:
        """Find a job by its id, with its report; None where there is none."""
        rows = self._attempts(name)
        return job_of(rows[-1], report=True) if rows else None

    def show(self, name: str) -> Job:
        """Give a job by its id or the unambiguous beginning of it, with its report.

        Raises `NoSuchJob`.
        """
        if (job := self.find(name)) is not None:
            return job
        begun = self._rows(workflow_id_prefix=name)
        ids = {job_id_of(row.workflow_id) for row in begun} if name else set()
        if len(ids) == 1 and (job := self.find(ids.pop())) is not None:
            return job
        hint = "Say more of it." if ids else "`research queue list` lists them."
        raise NoSuchJob(f"{'several jobs begin with' if ids else 'no job'} {name}", hint=hint)

    def _rows(self, **wanted: Any) -> Sequence[WorkflowStatus]:
        """List attempts without reports; what is no field of a row is one of its attributes."""
        asked = {name: value for name, value in wanted.items() if value is not None}
        marks: dict[str, Any] = {
            n: asked.pop(n) for n in ("origin", "waits", "expires") if n in asked
        }
        rows = self.client.list_workflows(
            name=WORKFLOW,
            load_output=False,
            attributes=marks if marks and self.database.postgres else None,
            **asked,
        )  # DBOS cannot look for attributes in SQLite
        return [row for row in rows if marks.items() <= (row.attributes or {}).items()]

    def _attempts(self, job: str) -> Sequence[WorkflowStatus]:
        if not job:
            return []
        rows = self.client.list_workflows(workflow_id_prefix=job, name=WORKFLOW)
        own = [row for row in rows if job_id_of(row.workflow_id) == job]
        return sorted(own, key=lambda row: spec_of(row).attempt)

    # Changing

    def cancel(self, name: str, *, reason: str = "") -> Job:
        """Cancel a job, one under way too; raises `UsageError` where it has ended."""
        job = self.show(name)
        if job.state in ENDED and job.state != "expired":
            raise UsageError(f"{job.id} has ended: {job.state}")
        self._give_up(attempt_id(job.id, job.attempt), "cancelled", reason)
        self.call_waiting()
        return self.show(job.id)

    def _give_up(self, workflow: str, state: str, reason: str) -> None:
        """Cancel an attempt, with the state and the reason that its job is told with."""
        noted = {"state": state, "reason": reason}
        self.client.update_workflow_attributes(workflow, noted, merge=True)
        self.client.cancel_workflow(workflow)

    def retry(self, name: str) -> Job:
        """Try a job again that has ended without an answer: its run goes on where it stopped.

        Raises `UsageError` where there is none, or it runs, waits or has its answer.
        """
        job = self.show(name)
        if job.state not in ENDED:
            raise UsageError(f"{job.id} is {job.state}")
        if job.state == "done" and job.status != "partial":
            raise UsageError(f"{job.id} has its answer", hint="Add it anew to ask once more.")
        spec = spec_of(self._attempts(job.id)[-1])
        changed = {"attempt": spec.attempt + 1, "expires": None, "retry": spec.retry + 1}
        self.enqueue(spec.model_copy(update=changed), waits=bool(spec.after))
        return self.show(job.id)

    def delete(self, origin: str) -> None:
        """Take all jobs of an origin away, those under way too; their runs stay."""
        self._delete(row.workflow_id for row in self._rows(origin=origin))

    def remove(self, name: str) -> Job:
        """Take a job that has ended off the list; its run stays.

        Raises `UsageError` where there is none, it has not ended, or another one waits for it.
        """
        job = self.show(name)
        if job.state not in ENDED:
            raise UsageError(f"{job.id} is {job.state}", hint="`research queue cancel` ends it.")
        if job.id in self._awaited():
            raise UsageError(f"another job waits for {job.id}", hint="Cancel that one first.")
        self._delete(row.workflow_id for row in self._attempts(job.id))
        return job

    def remove_older(self, age: timedelta) -> Sequence[str]:
        """Take jobs off the list that ended longer ago than that; gives their ids."""
        before, awaited = datetime.now(UTC) - age, self._awaited()
        ended = [job for job in self.list(ENDED) if (job.ended or job.created) < before]
        gone = [job.id for job in ended if job.id not in awaited]
        self._delete(row.workflow_id for name in gone for row in self._attempts(name))
        return gone

    def _awaited(self) -> set[str]:
        """Name the jobs whose answers others still want."""
        rows = self._rows(status=["DELAYED", "ENQUEUED", "PENDING"])
        return {name for row in rows for name in spec_of(row).after}

    def _delete(self, workflows: Iterable[str]) -> None:
        if rows := [*workflows]:
            self.client.cancel_workflows(rows)  # an expired one may still stand in its queue
            self.client.delete_workflows(rows)

    def pause(self, reason: str = "paused by a person") -> None:
        """Begin no more jobs; those under way come to their end."""
        self.database.keep(*_PAUSED, {"reason": reason, "at": datetime.now(UTC).isoformat()})
        for queue in self.client.list_queues():
            queue.set_limiter({"limit": 0, "period": 1.0})

    def resume(self) -> None:
        """Begin jobs again."""
        self.database.drop(*_PAUSED)
        for queue in self.client.list_queues():
            queue.set_limiter(None)

    @property
    def paused(self) -> str:
        """Why the queue is paused; "" where it is not."""
        noted = self.database.note(*_PAUSED)
        return str(noted["reason"]) if noted else ""

    def workers(self, stale: float = STALE_S) -> Sequence[str]:
        """Name the workers that were heard of in the last `stale` seconds."""
        return sorted(self.database.living(stale))

    # Upkeep: what any worker does for all

    def poll_every(self, seconds: float) -> None:
        """Have each worker look for jobs so often, give or take a fifth."""
        for queue in self.client.list_queues():
            if not 0.8 < queue.polling_interval_sec / seconds < 1.25:
                queue.set_polling_interval_sec(seconds)

    def call_waiting(self) -> None:
        """Let begin, or fail, the jobs whose turn has come: what they waited for has ended."""
        for row in self._rows(status="DELAYED", waits=True):
            spec = spec_of(row)
            parents = [self.find(name) for name in spec.after]  # one that vanished is no bar
            there = [parent for parent in parents if parent is not None]
            lost = [parent for parent in there if parent.state in ENDED - {"done"}]
            if lost:
                why = f"it came after {lost[0].id}, which is {lost[0].state}"
                self._give_up(row.workflow_id, "failed", why)
            elif all(parent.state == "done" for parent in there):
                self.client.set_workflow_delay(row.workflow_id, delay_seconds=0)

    def drop_expired(self) -> None:
        """Take those off the queue that waited longer than they may."""
        for row in self._rows(status=["DELAYED", "ENQUEUED"], expires=True):
            if (spec_of(row).expires or 0) < time.time():
                self._give_up(row.workflow_id, "expired", "it was not begun in time")

    def lost(self, living: Mapping[str, str]) -> Sequence[str]:
        """Name the workers that have jobs under way and do not live."""
        rows = self.client.list_workflows(
            status="PENDING", load_input=False, load_output=False, application_name=APP
        )
        return sorted({row.executor_id for row in rows if row.executor_id} - living.keys())


def check_targets(targets: Iterable[str]) -> None:
    """Raise `UsageError` for a target that no notice could go to."""
    settings = load_options({}, config=True)
    for target in targets:
        check_target(target, settings, os.environ, settings.channels)


def told(question: str, answer: str, run: str) -> str:
    """Write an earlier answer as context for another run: a text with its origin."""
    return f"# Answer of an earlier run ({run})\n\nQuestion: {question}\n\n{answer}\n"


def enqueue_options(spec: JobSpec, delay: float, *, waits: bool = False) -> EnqueueOptions:
    """Say to DBOS how an attempt is queued: its attributes are what jobs are looked for by."""
    options: EnqueueOptions = {
        "workflow_name": WORKFLOW,
        "queue_name": spec.queue,
        "workflow_id": spec.workflow,
        "app_version": VERSION,
        "priority": spec.rank,
        "attributes": {
            "origin": spec.origin,
            "waits": waits,
            "expires": spec.expires is not None,
        },
    }
    if delay > 0:
        options["delay_seconds"] = delay
    return options
