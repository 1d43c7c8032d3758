"""The background jobs of runs: claimed before a run's end is on record, done behind it.

What a run leaves in memory is worked out from its events alone, so that another process can finish
the jobs of one that was killed behind its answer. The runs whose jobs are not done are empty files
in a folder beside the runs, each locked by the process that is at them: one that is killed lets go
of its lock, and leaves the file.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agent.errors import JournalError, UsageError
from agent.guard.budget import Budget
from agent.guard.model_client import ModelClient
from agent.guard.redact import Redactor, find_secrets
from agent.journal.events import Journal
from agent.journal.runs import RunFolder, Runs
from agent.models.base import Task, takes
from agent.run.conversation_jobs import DONE, ConversationJobs, FinishedTurn, JobProgress, job_place
from agent.run.models import RedactingModel
from agent.run.outcome import Ledger, verified
from agent.run.record import ResumedModel, RunRecord, once_each
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
    from agent.memory.memory_types import Turn
    from agent.models.base import Model
    from agent.run.services import RunServices
    from agent.tools.context import ToolContext


FACTS: Final = "facts"
"""The job that writes what the run found out, by its name on record."""
DAY_LOG: Final = "day-log"
"""The job that writes a run into the day's log of a wiki."""
SETTLED: Final = "run.settled"
"""The event behind which nothing is left to do."""
FOLDER: Final = "unsettled"
AT_ONCE: Final = 3
"""Runs whose jobs a later run does beside its own; the one after it goes on."""
ONLY_HERE: Final = ""
"""The name of a memory that a caller brought: no other run can open it."""


class UnsettledRuns:
    """The runs of a data folder whose jobs are not done yet."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER

    def claim(self, run: str) -> FileLock | None:
        """Mark a run as unsettled and claim its jobs; None while another process is at them."""
        from filelock import FileLock, Timeout  # noqa: PLC0415 - a run without memory has no jobs

        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Not bound to a thread: it is claimed in one and let go of in another.
        lock = FileLock(self._folder / run, blocking=False, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        return lock

    def names(self) -> list[str]:
        """List the unsettled runs, oldest first, those among them that a process is at."""
        left = self._folder.iterdir() if self._folder.is_dir() else ()
        return sorted(file.name for file in left)


def forget(lock: FileLock) -> None:
    """Say that all of a run is done, as its record does already: who claims it finds nothing."""
    lock.release()
    Path(lock.lock_file).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class JobNotes:
    """What only the run itself knows: noted with its end, so that others can do its jobs.

    `messages` counts what its model had before it in the end, `used` are the memories that it was
    given, `memory` names the memory that it is for, and `asks` says that a language model is
    asked. `wiki` is the folder whose day's log it goes into, empty for none.
    """

    messages: int
    used: Sequence[int]
    memory: str
    asks: bool
    wiki: str = ""


@dataclass(frozen=True, slots=True)
class PendingJobs:
    """The jobs of one run: what they go by, and how far they have come.

    `ledger` has what the run did; `ended_ms` is when it ended, in milliseconds since the epoch.
    """

    report: Report
    notes: JobNotes
    session: str
    ledger: Ledger
    ended_ms: int
    progress: JobProgress = field(default_factory=JobProgress)

    @classmethod
    def from_record(cls, record: RunRecord) -> PendingJobs | None:
        """Read what is left to do for a run; None where nothing is."""
        end = record.end
        noted = end.data.get("after") if end else None
        if end is None or not noted:
            return None
        behind = [event for event in record.events if event.seq >= end.seq]
        if any(event.type == SETTLED for event in behind):
            return None
        ledger = Ledger(record.question)
        for event in record.events_until_end():
            ledger.add(event)
        return cls(
            report=Report.model_validate(record.report),
            notes=JobNotes(**noted),
            session=str(record.started.get("session") or record.folder.id),
            ledger=ledger,
            ended_ms=event_time_ms(end),
            progress=JobProgress.from_events(behind),
        )


def event_time_ms(event: Event) -> int:
    """Tell when an event was written, in milliseconds since the epoch."""
    return int(datetime.fromisoformat(event.at).timestamp() * 1000)


@dataclass(frozen=True, slots=True)
class BackgroundJobs:
    """The jobs of a run itself; a kill between its answer and `settle` loses none of them."""

    notes: JobNotes
    _services: RunServices
    _session: str
    _runner: JobRunner
    _lock: FileLock | None

    @classmethod
    async def claim(
        cls, services: RunServices, builder: ContextBuilder, work: Orchestrator
    ) -> BackgroundJobs | None:
        """Claim the jobs before the end is on record; None without a memory.

        Where they cannot be marked as unsettled (a full disk) that is told: they are done all the
        same, but nobody finds them if this process is killed meanwhile.
        """
        context, options, layers = services.context, services.options, builder.layers
        if context.memory is None:
            return None
        brought = services.inputs.memory is not None
        day_log = context.wiki is not None and context.wiki.rules.day_log
        notes = JobNotes(
            len(work.messages),
            tuple(hit.id for hit in layers.recalled) if layers else (),
            ONLY_HERE if brought else memory_name(options),
            can_ask(work.model, work.budget),
            str(options.wiki_folder.resolve()) if day_log else "",
        )
        lock = None
        try:
            if not brought:
                claim = UnsettledRuns(options.data).claim
                lock = await asyncio.to_thread(claim, services.folder.id)
        except OSError as error:
            told = f"what follows the answer was not marked, a kill would lose it: {error}"
            services.write("note", text=told)
        thread, memory = context.in_memory_thread, context.memory
        runner = JobRunner(memory, thread, notes.memory, work.model, work.budget)
        return cls(notes, services, builder.session, runner, lock)

    async def settle(self, report: Report, ended_ms: int) -> None:
        """Do them, behind those that killed runs have left on the same memory."""
        services, runner, lock = self._services, self._runner, self._lock
        if lock:
            await runner.settle_killed(services.options.data)
        pending = PendingJobs(report, self.notes, self._session, services.ledger, ended_ms)
        try:
            if await runner.settle(pending, runner.model, services.record) and lock:
                forget(lock)
        finally:
            if lock:
                lock.release()


@dataclass(frozen=True, slots=True)
class JobRunner:
    """Does the jobs of runs on one memory, which is called in its thread.

    `name` is that of the memory; without a `model`, or money for it, what wants one stays pending.
    """

    memory: Memory
    in_thread: Callable[..., Awaitable[Any]]
    name: str
    model: Model | None = None
    budget: Budget = field(default_factory=Budget)

    async def settle_killed(self, data: Path) -> int:
        """Do what killed processes have left; gives how many runs are settled, three at most."""
        settled, unsettled = 0, UnsettledRuns(data)
        for run in unsettled.names():
            lock = unsettled.claim(run)
            if lock is None:
                continue
            try:
                record = RunRecord.read(RunFolder(Runs(data).root / run))
                settled += await self._settle_claimed(record, lock)
            except JournalError:  # it was deleted, or cannot be read: nothing can be done for it
                forget(lock)
            finally:
                lock.release()
            if settled == AT_ONCE:
                break
        return settled

    async def settle_one(
        self, data: Path, record: RunRecord, on_event: Callable[[Event], None] | None = None
    ) -> None:
        """Do what is left of one run. Raises `UsageError` while another process is at it."""
        lock = UnsettledRuns(data).claim(record.folder.id)
        if lock is None:
            hint = "Its answer stands: `research show` shows it."
            raise UsageError(f"another process is still at it: {record.folder.id}", hint=hint)
        try:
            await self._settle_claimed(record, lock, on_event)
        finally:
            lock.release()

    async def _settle_claimed(
        self, record: RunRecord, lock: FileLock, on_event: Callable[[Event], None] | None = None
    ) -> bool:
        """Do the jobs of a run; one that came to no end, or is sealed, has none to do."""
        pending = PendingJobs.from_record(record)
        if pending is None or record.folder.stamps():  # a stamp is on the record as it stands
            forget(lock)
            return False
        if pending.notes.memory != self.name:  # left for a run on that memory
            return False
        redactor = Redactor(find_secrets(os.environ))
        with closing(Journal(record.folder)) as journal:
            if on_event:
                journal.listen(on_event)

            def write(kind: str, place: str = "", **data: Any) -> None:
                journal.write(kind, place, **redactor.value(data))

            model = (
                ResumedModel(record, RedactingModel(self.model, redactor)) if self.model else None
            )
            done = await self.settle(pending, model, once_each(record, write))
        if done:
            forget(lock)
        return done

    async def settle(self, pending: PendingJobs, model: Model | None, record: Record) -> bool:
        """Keep what a run found out, and do its jobs; what is on record is not done again.

        False where they want a language model, and there is none or no money for it.
        """
        report, progress, ledger = pending.report, pending.progress, pending.ledger
        if FACTS not in progress.done:
            used = pending.notes.used
            await self.in_thread(save_findings, self.memory, report, ledger.playbook, used)
            record(DONE, job_place(FACTS))
        if pending.notes.wiki and DAY_LOG not in progress.done:
            if failure := await self.in_thread(_write_day_log, pending):
                record("note", job_place(DAY_LOG), text=f"the day's log was not written: {failure}")
            record(DONE, job_place(DAY_LOG))
        ask = self._asking(model, record) if model else None
        if pending.notes.asks and ask is None:
            return False
        upkeep = self.memory.upkeep(pending.session)
        turns = await self.in_thread(upkeep.turns)
        turn = FinishedTurn(
            tuple(_up_to_answer(turns, report)),
            pending.notes.messages,
            ledger.skills,
            tainted=ledger.tainted,
            tools=tuple(line.partition(" ")[0] for line in ledger.playbook),
            verified=report.status == "answered" and verified(report),
        )
        ended_ms = pending.ended_ms
        jobs = ConversationJobs(upkeep, self.in_thread, lambda: ended_ms, record, ask, progress)
        await jobs.run(turn)
        record(SETTLED)
        return True

    def _asking(
        self, model: Model, record: Record
    ) -> Callable[[str, str, str], Awaitable[str]] | None:
        if not can_ask(model, self.budget):
            return None

        async def ask(name: str, system: str, request: str) -> str:
            client = ModelClient(model, system, Budget(parent=self.budget), record)
            return (await client.ask(job_place(name), [Message("user", request)])).text

        return ask


def can_ask(model: Model, spent: Budget) -> bool:
    """Tell whether the jobs have a language model to ask, and money is left for it."""
    return takes(model, Task.BACKGROUND) and (
        spent.max_usd is None or spent.spent_usd < spent.max_usd
    )


def save_findings(
    memory: Memory, report: Report, steps: Sequence[str] = (), used: Sequence[int] = ()
) -> None:
    """Keep what a run found out, or how it failed, and seal that it did."""
    from agent.memory.sealed_log import seal_run  # noqa: PLC0415 - loads a database

    memory.record_run(report, steps, used)
    seal_run(memory, report)


def _write_day_log(pending: PendingJobs) -> str:
    """Write a run into the day's log of the wiki; says why it cannot where it cannot."""
    from agent.wiki import Wiki  # noqa: PLC0415 - few runs have one

    report, ended = pending.report, datetime.fromtimestamp(pending.ended_ms / 1000, UTC)
    wiki = Wiki(pending.notes.wiki, clock=lambda: ended)
    try:
        wiki.log_run(report.run, report.question, f"{report.status}: {report.answer}")
    except (OSError, UsageError) as error:
        return str(error)
    return ""


def answer_turn_text(report: Report) -> str:
    """Give an answer as its conversation keeps it: with what was found, and where it stands."""
    notes = (
        ("Contradicted by its source", (VerdictState.CONTRADICTED,)),
        ("Not verified", (VerdictState.UNDECIDED, VerdictState.UNCITED)),
    )
    lines = [
        f"[{note}: “{sentence.text}”]"
        for note, verdicts in notes
        for sentence in report.sentences
        if sentence.verdict in verdicts
    ]
    lines += [f"[{source.n}]: {source.url}" for source in report.sources]
    return "\n".join([report.answer, *lines])


def _up_to_answer(turns: Sequence[Turn], report: Report) -> Sequence[Turn]:
    """Give the conversation up to an answer: it may have gone on since."""
    said = [("user", report.question), ("assistant", answer_turn_text(report))]
    for end in range(len(turns), 1, -1):
        if [(turn.role, turn.text) for turn in turns[end - 2 : end]] == said:
            return turns[:end]
    return turns


async def save_turns(
    context: ToolContext, session: str, question: str, report: Report | None, *, resumed: bool
) -> None:
    """Keep what was said in the conversation; of a resumed run only what does not stand there.

    A run that failed has no `report` to keep; its question is kept all the same.
    """
    memory = context.memory
    if memory is None:
        return
    said = [("user", question)]
    if report is not None:
        said.append(("assistant", answer_turn_text(report)))
    if resumed:
        turns = await context.in_memory_thread(memory.turns, session, len(said))
        kept = [(turn.role, turn.text) for turn in turns]
        same = (n for n in range(len(said), 0, -1) if kept[-n:] == said[:n])
        said = said[next(same, 0) :]
    sent = " ".join(line.query for line in report.searches) if report else ""
    public = f"{sent} {context.provenance.public_words(said[-1][1])}" if said else sent
    add = partial(memory.upkeep(session).add_provenance, quotes=context.provenance.untrusted)
    await context.in_memory_thread(add, public)
    for role, text in said:
        await context.in_memory_thread(memory.append_turn, session, role, text)
