"""What the parts of one run share, and what a caller brings to it."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from agent.errors import ResearchError, UsageError
from agent.evidence.store import Evidence
from agent.guard.outgoing import Outgoing
from agent.guard.provenance import Kind, Provenance
from agent.guard.redact import Redactor, secrets_of
from agent.guard.secret_store import SecretStore
from agent.journal.events import Journal, read_events, utc_now
from agent.journal.runs import Runs
from agent.protocol.replies import inert
from agent.run.outcome import Ledger
from agent.run.settings import budget_of, logged_in_sites, memory_of, skills_of
from agent.tools.context import Limits, Person, ToolContext
from agent.tools.sources import register, show_passages
from agent.types import Observation, ToolCall
from browser.text.words import clean

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
    from agent.tools.context import Ask
    from agent.tools.registry import Tool


T = TypeVar("T")


def on_record(
    ask: Callable[[str], Awaitable[T]] | None, write: Callable[..., object]
) -> Callable[[str], Awaitable[T]] | None:
    """Let a way of asking tell the record, so that a live view makes room; None stays None."""
    if ask is None:
        return None

    async def asking(what: str) -> T:
        write("person.asked", what=what)
        try:
            return await ask(what)
        finally:
            write("person.answered")

    return asking


def person(ask: Ask | None, write: Callable[..., object]) -> Person | None:
    """Give whom the tools can ask."""
    asking = on_record(ask, write)
    return None if asking is None else Person(asking)


async def nobody(_question: str) -> str:
    """Give no answer: the run went on where no person is."""
    return ""


async def gather(
    options: Options, context: ToolContext
) -> tuple[list[tuple[str, str]], tuple[Observation, ...]]:
    """Gather the open page and the files; raises `UsageError` for a file that cannot be read.

    Gives them as (type, text) pairs for a language model, and as data.
    """
    given = [*_open_page(context), *await _files(options, context)]
    captured = [line for line, _ in given if line]
    return [*captured, *fields_wanted(options)], tuple(observation for _, observation in given)


def schema_of(options: Options) -> Schema | None:
    """Read the schema of a run, if it has one; raises `UsageError` for what is none."""
    if options.schema_file is None:
        return None
    from agent.review.schema import Schema  # noqa: PLC0415 - few runs have one

    return Schema.of(options.schema_file)


def fields_wanted(options: Options) -> list[tuple[str, str]]:
    """Name the values that are wanted beside the answer, so that they are looked for."""
    schema = schema_of(options)
    if schema is None:
        return []
    lines = [f"{f.name} ({f.format or f.kind}) {f.said}".rstrip() for f in schema.fields()]
    return [("also wanted, each value from a page that is read", "; ".join(lines))]


def session_of(options: Options, run: str, memory: Memory | None) -> str:
    """Name the conversation: the one asked for, the one continued, or a new one of this run."""
    if options.session:
        return options.session
    if options.continue_run is None:
        return run
    if options.continue_run:
        return _session_of_run(options, options.continue_run)
    return (memory.latest_session() if memory else None) or run


def _session_of_run(options: Options, name: str) -> str:
    folder = Runs(options.data).find(name)
    started = next(read_events(folder.journal), None)
    return str(started.data.get("session") or folder.id) if started else folder.id


_Given = tuple[tuple[str, str] | None, Observation]
"""What is put into the question's message: as (type, text) for a language model, and as data."""


def _open_page(context: ToolContext) -> list[_Given]:
    """Make the person's page a source, and name it: the block of the page itself has no ids."""
    if context.web is None or context.web.context is None:
        return []
    seen, page = context.web.context, context.web.page
    data = {"url": seen.url, "title": seen.title, "selection": seen.selection}
    if page is None:
        return [(None, Observation(ToolCall("PAGE_CONTEXT"), data))]
    source = register(context, page)
    line = ("open page", f"is {source.name}; READ without url gives its passages")
    return [(line, Observation(ToolCall("PAGE_CONTEXT"), data, source.passages))]


async def _files(options: Options, context: ToolContext) -> list[_Given]:
    captured: list[_Given] = []
    for path in options.file:
        if context.web is None or not path.is_file():
            raise UsageError(f"cannot read the file {path}", hint="Check the path of --file.")
        page = await context.web.reader.read(path.resolve().as_uri())
        if page.document is None or not page.document.text.strip():
            why = page.reason if page.document is None else "no text stands in it"
            raise UsageError(f"cannot read the file {path}: {why}", hint="Check --file.")
        source = register(context, page)
        block, shown = show_passages(context, source, query=context.question)
        name, of = inert(clean(path.name)), len(source.passages)
        head = f"{name} is {source.name}, {len(shown)} of {of} passages:"
        line = ("file", f'{head}\n<web source="{source.name}">\n{inert(block)}\n</web>')
        data = {"url": source.url, "title": source.title, "source": source.name}
        captured.append((line, Observation(ToolCall("READ"), data, shown)))
    return captured


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
                    on_read=lambda kind, site: record("context.read", origin=kind.value, site=site),
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
