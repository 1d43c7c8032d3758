"""What the parts of one run share, and what a caller brings to it."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from agent.errors import ResearchError, from_extra
from agent.evidence.store import Evidence
from agent.guard.outgoing import Outgoing
from agent.guard.provenance import Kind, Provenance
from agent.guard.redact import Redactor, find_secrets
from agent.guard.secret_store import SecretStore
from agent.journal.events import Journal, read_events, utc_now
from agent.journal.runs import Runs
from agent.run.outcome import Ledger
from agent.run.settings import load_skills, logged_in_sites, make_budget, open_memory
from agent.tools.context import Limits, Person, ToolContext

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AsyncExitStack
    from pathlib import Path

    from agent.config import Options
    from agent.evidence.schema import Schema
    from agent.journal.events import Event
    from agent.journal.runs import RunFolder
    from agent.memory.memory_api import Memory
    from agent.models.base import Model
    from agent.run.prior_run import PriorRun
    from agent.run.telemetry import RunSpans
    from agent.tools.registry import Tool


T = TypeVar("T")

_PUBLIC: Final = frozenset({Kind.WEB, Kind.MEMORY, Kind.TURNS})
_COLLECTOR: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@dataclass(frozen=True, slots=True)
class Inputs:
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
    prior: PriorRun | None = None
    opened: Callable[[ToolContext], None] | None = None
    run: str | None = None
    tasks: Callable[[Options], Sequence[Tool]] | None = None


class RunServices:
    """Opened once for a run, whether it is new, resumed, or on the web of a recorded one.

    `record` writes an event unless a resumed run has it already, `write` always does; secrets of
    the environment are taken out of both. `context` is what tools have at hand. As an
    async context manager it closes the journal at the end.
    """

    def __init__(self, question: str, options: Options, inputs: Inputs, runs: Runs) -> None:
        prior = inputs.prior
        self.question = question
        self.options = options
        self.inputs = inputs
        self.environ = os.environ if inputs.config else {}
        self.schema = _schema_of(options)
        self.redactor = Redactor(find_secrets(os.environ))
        self.evidence = prior.source.evidence if prior else Evidence(question)
        self.budget = make_budget(options, self.environ)
        logins = logged_in_sites(options) if not prior or prior.logged_in else set()
        # Nothing was written up to here, so that wrong settings leave no run behind.
        self.journal = (
            prior.open_journal(runs) if prior else Journal(runs.create(utc_now(), inputs.run))
        )
        self.record = prior.record(self.write) if prior else self.write
        # The ledger listens first: whoever is told of an event may ask for what it adds up to.
        self.ledger = Ledger(question, self.evidence, self.budget, self.folder.id)
        if prior and prior.resumed:  # what the run has used before it was cut off counts
            for event in prior.source.events:
                self.ledger.add(event)
        self.journal.listen(self.ledger.add)
        if inputs.on_event:
            self.journal.listen(inputs.on_event)
        provenance = Provenance(
            question,
            frozenset(options.share),
            attached=bool(options.attach or options.cdp),
            sites=logins,
            on_read=lambda kind, site: self.record("context.read", origin=kind.value, site=site),
        )
        ask = self._on_record(inputs.ask)
        self.context = ToolContext(
            question=question,
            evidence=self.evidence,
            limits=Limits.from_options(options),
            record=self.record,
            keep=self.folder.keep,
            outgoing=Outgoing(provenance),
            redactor=self.redactor,
            secrets=SecretStore(options.data),
            run=self.folder.id,
            files=options.file,
            skills=load_skills(options, config=inputs.config),
            approve=self._on_record(inputs.approve),
            person=Person(ask) if ask else None,
            deadline=time.monotonic() + options.timeout if options.timeout else None,
        )
        self._spans = self._start_tracing()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.journal.close()
        if self._spans is not None:
            await asyncio.to_thread(self._spans.close)

    @property
    def folder(self) -> RunFolder:
        """Where the run is kept."""
        return self.journal.folder

    @property
    def today(self) -> str:
        """The date of the run (UTC); one that goes on, or on a recorded web, has the record's."""
        prior = self.inputs.prior
        return prior.source.day if prior else utc_now().date().isoformat()

    def write(self, kind: str, place: str = "", **data: Any) -> None:
        """Write an event, without secrets."""
        self.journal.write(kind, place, **self.redactor.value(data))

    def write_start(
        self, model: str, session: str, *, guided: bool = False, work: str = "question"
    ) -> None:
        """Write the first event; `work` is what the run is at, a question or an `audit`."""
        # As it is: a question or a setting without what looks like a secret would be another one
        # when the run is resumed. Settings that are secrets are none of the dumped ones.
        self.journal.write(
            "run.started",
            run=self.folder.id,
            question=self.question,
            model=model,
            session=session,
            guided=guided,
            work=work,
            person=self.inputs.ask is not None,
            schema=self.schema.definition if self.schema else None,
            options=self.options.model_dump(mode="json"),
            python=sys.version.split()[0],
        )

    async def open_memory(self, stack: AsyncExitStack) -> str:
        """Open the memory; gives the conversation that the run belongs to."""
        context, options = self.context, self.options
        stack.callback(context.close)  # entered first, so that the thread outlives the memory
        context.memory = self.inputs.memory if options.memory else None
        if options.memory and context.memory is None:
            memory = await context.in_memory_thread(open_memory, options, self.environ)
            stack.push_async_callback(context.in_memory_thread, memory.close)
            context.memory = memory
            if options.wiki_folder.is_dir():
                from agent.wiki import Wiki  # noqa: PLC0415 - few runs have one

                context.wiki = Wiki(options.wiki_folder, options.wiki_rules)
        return await context.in_memory_thread(self._session, context.memory)

    def _session(self, memory: Memory | None) -> str:
        """Name the conversation: the one asked for, the one continued, or a new one of this run."""
        if self.options.session:
            return self.options.session
        continued = self.options.continue_run
        if continued:
            folder = Runs(self.options.data).find(continued)
            started = next(read_events(folder.journal), None)
            return str(started.data.get("session") or folder.id) if started else folder.id
        latest = memory.latest_session() if memory and continued is not None else None
        return latest or self.folder.id

    def wanted_values(self) -> list[tuple[str, str]]:
        """Name the values that a schema wants beside the answer, so that they are looked for."""
        if self.schema is None:
            return []
        lines = [
            f"{f.name} ({f.format or f.kind}) {f.description}".rstrip()
            for f in self.schema.fields()
        ]
        return [("also wanted, each value from a page that is read", "; ".join(lines))]

    def _on_record(
        self, ask: Callable[[str], Awaitable[T]] | None
    ) -> Callable[[str], Awaitable[T]] | None:
        """Let a way of asking the person tell the record, so that a live view makes room."""
        if ask is None:
            return None

        async def asking(what: str) -> T:
            self.write("person.asked", what=what)
            try:
                return await ask(what)
            finally:
                self.write("person.answered")

        return asking

    def _start_tracing(self) -> RunSpans | None:
        """Trace a run whose environment names a collector; raises `UsageError`."""
        environ = self.environ
        off = environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
        if off or not any(map(environ.get, _COLLECTOR)):
            return None
        with from_extra("otel", ", or set OTEL_SDK_DISABLED=true."):
            from agent.run.telemetry import RunSpans  # noqa: PLC0415 - an extra
        spans = RunSpans()
        self.journal.listen(spans.note)
        return spans


def _schema_of(options: Options) -> Schema | None:
    """Read the schema of a run, if it has one; raises `UsageError` for what is none."""
    if options.schema_file is None:
        return None
    from agent.evidence.schema import Schema  # noqa: PLC0415 - few runs have one

    return Schema.load(options.schema_file)


def is_public_run(data: Path, run: str) -> bool:
    """Tell of an earlier run that its facts are public: it read no file, folder or person's page.

    False where its record is gone, or of a version that did not note what was read.
    """
    try:
        events = read_events(Runs(data).find(run).journal)
        origins = {event.data["origin"] for event in events if event.type == "context.read"}
    except ResearchError:
        return False
    return bool(origins) and origins <= _PUBLIC
