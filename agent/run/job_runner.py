"""The post-run tasks: claimed before the end of the run is recorded, and run after its answer.

Everything that a run writes to memory is computed from its events alone, so another process can
finish the jobs of a run that was killed after its answer. Each run with unfinished jobs has an
empty file in a folder next to the runs, locked by the process that works on it. If a process is
killed, its lock is released, but the file remains.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agent.errors import JournalError, UsageError
from agent.export.report_view import annotated_answer, conflict_note, doubt_line
from agent.guard.budget import Budget
from agent.guard.model_client import ModelClient
from agent.guard.redact import Redactor, find_secrets
from agent.journal.events import Journal
from agent.journal.runs import RunFolder, Runs
from agent.memory.memory_types import Turn
from agent.models.base import Task, takes
from agent.run.conversation_jobs import (
    JOB_DONE_EVENT,
    ConversationJobs,
    FinishedTurn,
    JobProgress,
    job_place,
)
from agent.run.models import RedactingModel
from agent.run.outcome import ReportBuilder
from agent.run.record import ResumedModel, RunRecord, skip_recorded_events
from agent.run.settings import memory_name
from agent.types import Message, Report, VerdictState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from filelock import FileLock

    from agent.guard.model_client import Record
    from agent.journal.events import Event
    from agent.loop.context_builder import ContextBuilder
    from agent.loop.orchestrator import Orchestrator
    from agent.memory.memory_api import Memory
    from agent.models.base import Model
    from agent.run.services import RunServices
    from agent.tools.context import ToolContext


FACTS: Final = "facts"
"""The job that writes a run's findings to memory, as named in the record."""
DAY_LOG: Final = "day-log"
"""The job that adds a run to a wiki's daily log."""
JOBS_DONE_EVENT: Final = "run.settled"
"""The event recorded once all jobs of a run are done."""
MARKERS_FOLDER: Final = "unsettled"
MAX_KILLED_RUNS: Final = 3
"""Maximum number of killed runs whose jobs one run finishes; later runs finish the others."""
IN_PROCESS_MEMORY: Final = ""
"""The name of a memory object passed by a caller, which other processes cannot open."""


class UnfinishedRuns:
    """The runs in a data folder that have unfinished jobs."""

    def __init__(self, data: Path) -> None:
        self._folder = data / MARKERS_FOLDER

    def claim(self, run: str) -> FileLock | None:
        """Mark a run as unfinished and lock it; returns None if another process holds the lock."""
        from filelock import FileLock, Timeout  # noqa: PLC0415 - a run without memory has no jobs

        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Not bound to a thread, because a different thread may release the lock.
        lock = FileLock(self._folder / run, blocking=False, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        return lock

    def names(self) -> list[str]:
        """List the unfinished runs, including locked ones, oldest first."""
        if not self._folder.is_dir():
            return []
        return sorted(file.name for file in self._folder.iterdir())


def remove_marker(lock: FileLock) -> None:
    """Remove the marker of an unfinished run, once its record shows that its jobs are done."""
    lock.release()
    Path(lock.lock_file).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class JobNotes:
    """The jobs' inputs other than events; recorded in `run.finished` for other processes.

    `messages` is the length of the final conversation. `recalled_memory_ids` lists the ids of the
    memories in its prompt. `memory` is the name of the memory to write to. `needs_model` is true if
    the jobs need a language model. `wiki` is the folder of the wiki whose daily log is updated;
    empty if there is none.
    """

    messages: int
    recalled_memory_ids: Sequence[int]
    memory: str
    needs_model: bool
    wiki: str = ""


@dataclass(frozen=True, slots=True)
class PendingJobs:
    """The unfinished jobs of one run: their inputs, and the jobs that are already done.

    `builder` contains the run's results; `ended_ms` is the time at which it ended, in milliseconds
    since the epoch.
    """

    report: Report
    notes: JobNotes
    session: str
    builder: ReportBuilder
    ended_ms: int
    progress: JobProgress = field(default_factory=JobProgress)

    @classmethod
    def from_record(cls, record: RunRecord) -> PendingJobs | None:
        """Read the unfinished jobs of a run; None if there are none."""
        end = record.end
        notes = end.data.get("after") if end else None
        if end is None or not notes:
            return None
        job_events = [event for event in record.events if event.seq >= end.seq]
        if any(event.type == JOBS_DONE_EVENT for event in job_events):
            return None
        builder = ReportBuilder(record.question)
        for event in record.events_until_end():
            builder.add(event)
        return cls(
            report=Report.model_validate(record.report),
            notes=JobNotes(**notes),
            session=str(record.started.get("session") or record.folder.id),
            builder=builder,
            ended_ms=event_time_ms(end),
            progress=JobProgress.from_events(job_events),
        )


def event_time_ms(event: Event) -> int:
    """Return the time at which an event was written, in milliseconds since the epoch."""
    return int(datetime.fromisoformat(event.at).timestamp() * 1000)


@dataclass(frozen=True, slots=True)
class BackgroundJobs:
    """The jobs of this process's run.

    If the process is killed after the answer, another process can still run them.
    """

    notes: JobNotes
    _services: RunServices
    _session: str
    _runner: JobRunner
    _lock: FileLock | None

    @classmethod
    async def claim(
        cls, services: RunServices, builder: ContextBuilder, work: Orchestrator
    ) -> BackgroundJobs | None:
        """Claim the jobs before the end of the run is recorded; returns None without a memory.

        If the run cannot be marked as unfinished (for example, because the disk is full), a note is
        recorded: its jobs still run, but are lost if this process is killed first.
        """
        context, options, layers = services.context, services.options, builder.layers
        if context.memory is None:
            return None
        callers_memory = services.inputs.memory is not None
        day_log = context.wiki is not None and context.wiki.rules.day_log
        notes = JobNotes(
            messages=len(work.messages),
            recalled_memory_ids=tuple(hit.id for hit in layers.recalled) if layers else (),
            memory=IN_PROCESS_MEMORY if callers_memory else memory_name(options),
            needs_model=can_ask(work.model, work.budget),
            wiki=str(options.wiki_folder.resolve()) if day_log else "",
        )
        lock = None
        try:
            if not callers_memory:
                claim = UnfinishedRuns(options.data).claim
                lock = await asyncio.to_thread(claim, services.folder.id)
        except OSError as error:
            text = f"the post-run tasks could not be recorded and would be lost in a crash: {error}"
            services.write("note", text=text)
        runner = JobRunner(context.memory, notes.memory, work.model, work.budget)
        return cls(notes, services, builder.session, runner, lock)

    async def run(self, report: Report, ended_ms: int) -> None:
        """Run the pending jobs of killed runs that use the same memory, then this run's jobs."""
        services, runner, lock = self._services, self._runner, self._lock
        if lock:
            await runner.finish_killed_runs(services.options.data)
        pending = PendingJobs(report, self.notes, self._session, services.report_builder, ended_ms)
        try:
            if await runner.finish(pending, runner.model, services.record) and lock:
                remove_marker(lock)
        finally:
            if lock:
                lock.release()


@dataclass(frozen=True, slots=True)
class JobRunner:
    """Runs the post-run jobs of all runs that use the memory `name`.

    Jobs that need a model stay pending if there is no `model`, or no budget for it.
    """

    memory: Memory
    name: str
    model: Model | None = None
    budget: Budget = field(default_factory=Budget)

    async def finish_killed_runs(self, data: Path) -> int:
        """Run the jobs of killed runs, at most three; returns the number of runs finished."""
        finished, unfinished = 0, UnfinishedRuns(data)
        for run in unfinished.names():
            lock = unfinished.claim(run)
            if lock is None:
                continue
            try:
                try:
                    record = RunRecord.read(RunFolder(Runs(data).root / run))
                except JournalError:  # deleted or damaged: its jobs cannot be run
                    remove_marker(lock)
                    continue
                with suppress(JournalError):  # not writable now: another run will finish them
                    finished += await self._finish_claimed(record, lock)
            finally:
                lock.release()
            if finished == MAX_KILLED_RUNS:
                break
        return finished

    async def finish_run(
        self, data: Path, record: RunRecord, on_event: Callable[[Event], None] | None = None
    ) -> None:
        """Run the jobs of one run. Raises `UsageError` if another process is running them."""
        lock = UnfinishedRuns(data).claim(record.folder.id)
        if lock is None:
            hint = "The answer is complete: `research show` shows it."
            raise UsageError(f"another process is still working on {record.folder.id}", hint=hint)
        try:
            await self._finish_claimed(record, lock, on_event)
        finally:
            lock.release()

    async def _finish_claimed(
        self, record: RunRecord, lock: FileLock, on_event: Callable[[Event], None] | None = None
    ) -> bool:
        """Run the jobs of a locked run; returns whether all of them are done."""
        pending = PendingJobs.from_record(record)
        # A timestamp covers the entire record, so writing more events would invalidate it.
        if pending is None or record.folder.stamps():
            remove_marker(lock)
            return False
        if pending.notes.memory != self.name:  # left for a run that uses that memory
            return False
        redactor = Redactor(find_secrets(os.environ))
        with closing(Journal(record.folder)) as journal:
            if on_event:
                journal.listen(on_event)

            def write(kind: str, place: str = "", **data: Any) -> None:
                journal.write(kind, place, **redactor.value(data))

            model = None
            if self.model:
                model = ResumedModel(record, RedactingModel(self.model, redactor))
            done = await self.finish(pending, model, skip_recorded_events(record, write))
        if done:
            remove_marker(lock)
        return done

    async def finish(self, pending: PendingJobs, model: Model | None, record: Record) -> bool:
        """Save a run's findings, and run its jobs, except those already recorded as done.

        Returns False if a job needs a language model and there is none, or no budget for it.
        """
        report, progress, builder = pending.report, pending.progress, pending.builder
        # Jobs that do not need a model.
        if FACTS not in progress.done:
            used = pending.notes.recalled_memory_ids
            await asyncio.to_thread(save_findings, self.memory, report, builder.playbook, used)
            record(JOB_DONE_EVENT, job_place(FACTS))
        if pending.notes.wiki and DAY_LOG not in progress.done:
            if failure := await asyncio.to_thread(_write_day_log, pending):
                record("note", job_place(DAY_LOG), text=f"the daily log was not written: {failure}")
            record(JOB_DONE_EVENT, job_place(DAY_LOG))

        # Jobs for the conversation, most of which ask a model.
        ask = self._ask_function(model, record) if model else None
        if pending.notes.needs_model and ask is None:
            return False
        turns = await asyncio.to_thread(self.memory.conversation(pending.session).turns)
        turn = FinishedTurn(
            history=tuple(_turns_until_answer(turns, report)),
            messages=pending.notes.messages,
            given_skills=builder.skills,
            tainted=builder.tainted,
            tools=tuple(line.partition(" ")[0] for line in builder.playbook),
            verified=report.status == "answered" and report.standing == "supported",
        )
        ended_ms = pending.ended_ms
        jobs = ConversationJobs(
            self.memory, pending.session, lambda: ended_ms, record, ask, progress
        )
        await jobs.run(turn)
        record(JOBS_DONE_EVENT)
        return True

    def _ask_function(
        self, model: Model, record: Record
    ) -> Callable[[str, str, str], Awaitable[str]] | None:
        if not can_ask(model, self.budget):
            return None

        async def ask(name: str, system: str, request: str) -> str:
            client = ModelClient(model, system, Budget(parent=self.budget), record)
            return (await client.ask(job_place(name), [Message("user", request)])).text

        return ask


def can_ask(model: Model, budget: Budget) -> bool:
    """Whether the model supports post-run tasks, and the budget allows them."""
    affordable = budget.max_usd is None or budget.spent_usd < budget.max_usd
    return takes(model, Task.BACKGROUND) and affordable


def save_findings(
    memory: Memory,
    report: Report,
    steps: Sequence[str] = (),
    recalled_memory_ids: Sequence[int] = (),
) -> None:
    """Write a run's findings, or its failure, to memory and the sealed log.

    `steps` are the run's successful searches and page reads; `recalled_memory_ids` are the ids of
    the memories in its prompt.
    """
    from agent.memory.sealed_log import seal_run  # noqa: PLC0415 - loads a database

    memory.record_run(report, steps, recalled_memory_ids)
    seal_run(memory, report)


def _write_day_log(pending: PendingJobs) -> str:
    """Add a run to the wiki's daily log; return an error message, or an empty string."""
    from agent.wiki import Wiki  # noqa: PLC0415 - few runs have one

    report, ended = pending.report, datetime.fromtimestamp(pending.ended_ms / 1000, UTC)
    wiki = Wiki(pending.notes.wiki, clock=lambda: ended)
    try:
        wiki.log_run(report.run, report.question, f"{report.badge}: {annotated_answer(report)}")
    except (OSError, UsageError) as error:
        return str(error)
    return ""


def answer_turn_text(report: Report) -> str:
    """Format an answer as a conversation turn, with its doubts and sources."""
    notes = {
        VerdictState.CONTRADICTED: "Contradicted by its source",
        VerdictState.ATTEMPTED: "Attempted, outcome unknown",
    }
    lines = [f"[{doubt_line(report)}]"] if report.doubt else []
    lines += [
        f"[{notes.get(sentence.verdict, 'Not verified')}: “{sentence.text}”]"
        for sentence in report.unsupported
    ]
    lines += [f"[{conflict_note(conflict, report)}]" for conflict in report.conflicts]
    lines += [f"[{source.n}]: {source.url}" for source in report.sources]
    return "\n".join([report.answer, *lines])


def _turns_until_answer(turns: Sequence[Turn], report: Report) -> Sequence[Turn]:
    """Return the turns up to an answer, since the conversation may have continued."""
    last_two = [("user", report.question), ("assistant", answer_turn_text(report))]
    for end in range(len(turns), 1, -1):
        if [(turn.role, turn.text) for turn in turns[end - 2 : end]] == last_two:
            return turns[:end]
    return turns


async def save_turns(
    context: ToolContext, session: str, question: str, report: Report | None, *, resumed: bool
) -> None:
    """Append the question and the answer to the conversation in memory.

    A failed run has no `report`, but its question is still saved. A `resumed` run may have saved
    its turns before it was killed; they are not saved twice.
    """
    if context.memory is None:
        return
    conversation = context.memory.conversation(session)
    turns = [Turn("user", question)]
    if report is not None:
        turns.append(Turn("assistant", answer_turn_text(report)))
    if resumed:
        latest = await asyncio.to_thread(conversation.turns, len(turns))
        saved = [Turn(turn.role, turn.text) for turn in latest]
        for count in range(len(turns), 0, -1):
            if saved[-count:] == turns[:count]:
                turns = turns[count:]
                break
    quotes = context.provenance.untrusted
    await asyncio.to_thread(conversation.note_quotes, quotes=quotes)
    if turns:
        await asyncio.to_thread(conversation.append, *turns)
