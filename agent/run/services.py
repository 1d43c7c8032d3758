"""What the parts of one run share: its record, sources, limits, memory and way to the web."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.errors import ResearchError
from agent.evidence.store import Evidence
from agent.guard.outgoing import Outgoing
from agent.guard.provenance import Kind, Provenance
from agent.guard.redact import Redactor, secrets_of
from agent.guard.secret_store import SecretStore
from agent.journal.events import read_events
from agent.journal.runs import Runs
from agent.journal.writer import Journal, utc_now
from agent.run.inputs import on_record, person, session_of
from agent.run.outcome import Ledger
from agent.run.settings import budget_of, logged_in_sites, memory_of, skills_of
from agent.tools.context import Limits, ToolContext

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AsyncExitStack
    from pathlib import Path

    from agent.config import Options
    from agent.guard.budget import Budget
    from agent.guard.model_client import Record
    from agent.journal.events import Event
    from agent.journal.runs import RunFolder
    from agent.memory.memory_api import Memory
    from agent.models.base import Model
    from agent.review.schema import Schema
    from agent.run.recorded import Past
    from agent.tools.registry import Tool


@dataclass(frozen=True, slots=True)
class Given:
    """What a caller brings beside the settings; None where the settings decide.

    `opened` is handed the means of the run once its web is open: a live view looks at its page.
    `tasks` makes the tools that set something off later, for the settings that allow them.
    """

    model: Model | None = None
    memory: Memory | None = None
    tools: dict[str, Callable[[str], Awaitable[Any]]] = field(default_factory=dict)
    on_event: Callable[[Event], None] | None = None
    approve: Callable[[str], Awaitable[bool | str]] | None = None
    ask: Callable[[str], Awaitable[str]] | None = None
    config: bool = False
    past: Past | None = None
    opened: Callable[[ToolContext], None] | None = None
    run: str | None = None
    tasks: Callable[[Options], Sequence[Tool]] | None = None


@dataclass(slots=True)
class RunServices:
    """Opened once for a run, whether it is new, resumed, or on the web of a recorded one.

    `record` writes an event unless a resumed run has it already, `write` always does; secrets of
    the environment are taken out of both. `context` is what tools have at hand.
    """

    question: str
    options: Options
    given: Given
    schema: Schema | None
    environ: Mapping[str, str]
    journal: Journal
    ledger: Ledger
    redactor: Redactor
    evidence: Evidence
    budget: Budget
    record: Record
    context: ToolContext

    @classmethod
    def begin(
        cls, question: str, options: Options, given: Given, runs: Runs, schema: Schema | None
    ) -> RunServices:
        """Open the record, and lay out what needs neither network nor memory."""
        past, ledger = given.past, Ledger(question)
        environ = os.environ if given.config else {}
        journal = (
            past.begin(runs, ledger.note) if past else Journal(runs.create(utc_now(), given.run))
        )
        ledger.run = journal.folder.id
        journal.listen(ledger.note)
        if given.on_event:
            journal.listen(given.on_event)
        redactor = Redactor(secrets_of(os.environ))

        def write(kind: str, place: str = "", **data: Any) -> None:
            journal.write(kind, place, **redactor.value(data))

        record = past.record(write) if past else write
        evidence = past.source.evidence() if past else Evidence(question)
        context = ToolContext(
            question=question,
            evidence=evidence,
            limits=Limits.of(options),
            record=record,
            keep=journal.folder.keep,
            outgoing=Outgoing(
                Provenance(
                    question,
                    frozenset(options.share),
                    attached=bool(options.attach or options.cdp),
                    sites=logged_in_sites(options) if not past or past.logged_in else set(),
                    heard=lambda kind, site: record("context.read", origin=kind.value, site=site),
                )
            ),
            redactor=redactor,
            secrets=SecretStore(options.data),
            run=journal.folder.id,
            files=options.file,
            skills=skills_of(options, config=given.config),
            approve=on_record(given.approve, write),
            person=person(given.ask, write),
            deadline=time.monotonic() + options.timeout if options.timeout else None,
        )
        return cls(
            question,
            options,
            given,
            schema,
            environ,
            journal,
            ledger,
            redactor,
            evidence,
            budget_of(options, environ),
            record,
            context,
        )

    @property
    def today(self) -> str:
        """The date of the run (UTC); one that goes on, or on a recorded web, has the record's."""
        past = self.given.past
        return (past.source.began if past else utc_now().isoformat())[:10]

    @property
    def folder(self) -> RunFolder:
        """Where the run is kept."""
        return self.journal.folder

    def write(self, kind: str, place: str = "", **data: Any) -> None:
        """Write an event, without secrets."""
        self.journal.write(kind, place, **self.redactor.value(data))

    async def open_memory(self, stack: AsyncExitStack) -> str:
        """Open the memory; gives the conversation that the run belongs to."""
        context, options = self.context, self.options
        stack.callback(context.close)
        context.memory = self.given.memory if options.memory else None
        if options.memory and context.memory is None:
            memory = await context.in_memory_thread(memory_of, options, self.environ)
            stack.push_async_callback(context.in_memory_thread, memory.close)
            context.memory = memory
            if options.wiki_folder.is_dir():
                from agent.wiki.wiki_files import Folder  # noqa: PLC0415 - few runs have one
                from agent.wiki.wiki_index import Wiki  # noqa: PLC0415 - few runs have one

                context.wiki = Wiki(Folder(options.wiki_folder), rules=options.wiki_rules)
        return await context.in_memory_thread(session_of, options, self.folder.id, context.memory)

    def started(
        self, model: str, session: str, *, guided: bool = False, work: str = "question"
    ) -> None:
        """Write the first event; `work` is what the run is at, a question or an `audit`."""
        self.journal.write(
            "run.started",
            run=self.folder.id,
            question=self.question,
            model=model,
            session=session,
            guided=guided,
            work=work,
            person=self.given.ask is not None,
            schema=self.schema.definition if self.schema else None,
            options=self.options.model_dump(mode="json"),
            python=sys.version.split()[0],
        )


_PUBLIC = frozenset({Kind.WEB, Kind.MEMORY, Kind.TURNS})


def was_public(data: Path, run: str) -> bool:
    """Tell of an earlier run that its facts are public: it read no file, folder or person's page.

    False where its record is gone, or of a version that did not note what was read.
    """
    try:
        events = list(read_events(Runs(data).find(run).journal))
    except ResearchError:
        return False
    return {e.data["origin"] for e in events if e.type == "context.read"} <= _PUBLIC and any(
        e.type == "context.read" for e in events
    )
