"""The services that all parts of a run share, and the inputs from its caller."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from agent.config import provider_keys
from agent.errors import ResearchError, UsageError, requires_extra
from agent.evidence.store import Evidence
from agent.export.event_lines import event_lines
from agent.guard.outgoing import Outgoing
from agent.guard.provenance import Kind, Provenance
from agent.guard.redact import Redactor, find_secrets
from agent.guard.secret_store import SecretStore
from agent.journal.events import Journal, read_events, utc_now
from agent.journal.runs import Runs
from agent.run.caches import clear_page_caches
from agent.run.outcome import ReportBuilder
from agent.run.settings import (
    load_skills,
    local_files,
    logged_in_sites,
    make_budget,
    open_memory,
    recorded_settings,
)
from agent.tools.context import USER_TIMEOUT, ToolContext, User
from agent.tools.user import parse_approvals

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AsyncExitStack
    from pathlib import Path

    from agent.evidence.schema import Schema
    from agent.journal.events import Event
    from agent.journal.runs import RunFolder
    from agent.loop.plan_approval import EditPlan
    from agent.memory.memory_api import Memory
    from agent.models.base import Model
    from agent.options import Options
    from agent.run.prior_run import PriorRun
    from agent.run.telemetry import RunSpans
    from agent.tools.registry import Tool


T = TypeVar("T")

_PUBLIC_KINDS: Final = frozenset({Kind.WEB, Kind.MEMORY, Kind.TURNS})
_COLLECTOR_VARIABLES: Final = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
)


LOGGER: Final = logging.getLogger("urchin_research")
"""The library's only logger; it logs the command line's progress lines at level INFO."""
LOGGER.addHandler(logging.NullHandler())


def _log(event: Event) -> None:
    for line in event_lines(event, surface="python"):
        LOGGER.info("%s", line)


@dataclass(frozen=True, slots=True)
class Inputs:
    """A caller's inputs in addition to the settings; where an input is None, the settings apply.

    `prior` is the record that the run starts from. `opened` is called with the tool context once
    the web is open, so that a live view can show the page. `tasks` creates the scheduling tools, if
    the settings allow them. `edit_plan` lets the user edit and approve the plan.
    """

    model: Model | None = None
    memory: Memory | None = None
    tools: dict[str, Callable[..., Any]] = field(default_factory=dict)
    on_event: Callable[[Event], None] | None = None
    approve: Callable[[str], Awaitable[bool | str | None]] | None = None
    ask: Callable[[str], Awaitable[str]] | None = None
    config: bool = False
    prior: PriorRun | None = None
    opened: Callable[[ToolContext], None] | None = None
    run: str | None = None
    tasks: Callable[[Options], Sequence[Tool]] | None = None
    edit_plan: EditPlan | None = None

    def __post_init__(self) -> None:
        """Refuse an `async def` listener, which would never run. Raises `UsageError`."""
        if inspect.iscoroutinefunction(self.on_event):
            raise UsageError(
                "on_event is an async function, but events are not awaited",
                hint="Pass a plain function, or use stream().",
            )

    @property
    def environ(self) -> Mapping[str, str]:
        """The run's environment; for a library call without `config`, only the provider keys."""
        return os.environ if self.config else provider_keys(os.environ)


class RunServices:
    """The services of one run, whether new, resumed, or on a recorded web.

    `write` appends an event to the journal; `record` does the same, unless a resumed run has
    already recorded the event. Both redact secrets found in the environment. `context` is passed to
    the tools. As an async context manager, this class closes the journal on exit.
    """

    def __init__(self, question: str, options: Options, inputs: Inputs, runs: Runs) -> None:
        prior = inputs.prior
        self.question = question
        self.options = options
        self.inputs = inputs
        self.environ = inputs.environ
        self.schema = _read_schema(options)
        self.redactor = Redactor(find_secrets(os.environ))
        self.evidence = prior.source.evidence if prior else Evidence(question)
        self.budget = make_budget(options, self.environ)
        logins = logged_in_sites(options) if not prior or prior.logged_in else set()
        # The code above may raise but writes nothing, so invalid settings do not create a run.
        self.journal = (
            prior.open_journal(runs, inputs.run)
            if prior
            else Journal(runs.create(utc_now(), inputs.run))
        )
        self.record = prior.record(self.write) if prior else self.write
        # The report builder receives events first, because the other listeners may ask it for
        # totals.
        self.report_builder = ReportBuilder(question, self.evidence, self.budget, self.folder.id)
        if prior and prior.resumed:  # includes the run's usage before it was killed
            for event in prior.source.events:
                self.report_builder.add(event)
        self.journal.listen(self.report_builder.add)
        if inputs.on_event:
            self.journal.listen(inputs.on_event)
        if LOGGER.isEnabledFor(logging.INFO):
            self.journal.listen(_log)
        provenance = Provenance(
            question,
            frozenset(options.share),
            attached=bool(options.attach or options.cdp),
            sites=logins,
            named_hosts=frozenset(options.allow_private),
            on_read=lambda kind, site: self.record("context.read", origin=kind.value, site=site),
        )
        ask = self._recorded(inputs.ask)
        self.edit_plan = self._recorded(inputs.edit_plan)
        self.context = ToolContext(
            question=question,
            evidence=self.evidence,
            limits=options.limits,
            max_sources=options.max_sources or options.depth_limits.sources,
            depth_limits=options.depth_limits,
            record=self.record,
            store_bytes=self.folder.save_blob,
            outgoing=Outgoing(provenance, private_search=options.private_search),
            redactor=self.redactor,
            secrets=SecretStore(options.data),
            run=self.folder.id,
            files=options.file,
            skills=load_skills(options, config=inputs.config),
            approve=self._recorded(inputs.approve),
            approvals=parse_approvals(options.yes),
            user=User(ask) if ask else None,
            tasks_allowed=bool(options.allow_tasks),
            time_left=partial(self.budget.seconds_left, reserve=False),
        )
        self.named_files = frozenset(map(local_files(options).address, options.file))
        self._spans = self._start_tracing()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.journal.close()
        clear_page_caches()
        if self._spans is not None:
            await asyncio.to_thread(self._spans.close)

    @property
    def folder(self) -> RunFolder:
        """The run's folder."""
        return self.journal.folder

    @property
    def today(self) -> str:
        """The run's date (UTC); if the run starts from a record, the recorded date."""
        prior = self.inputs.prior
        if prior is not None and not prior.sections:
            return prior.source.day
        return utc_now().date().isoformat()

    def write(self, kind: str, place: str = "", **data: Any) -> None:
        """Write an event, with secrets redacted."""
        self.journal.write(kind, place, **self.redactor.value(data))

    def write_start(
        self, model: str, session: str, *, guided: bool = False, work: str = "question"
    ) -> None:
        """Write the first event; `work` is `question`, `audit`, `recheck` or `rerun`."""
        options = self.options
        if options.storage_state == self.folder.browser_state:  # the resumed run's own state
            options = replace(options, storage_state=None)
        settings, paths = recorded_settings(options)
        self.folder.write(self.folder.paths, json.dumps(paths).encode())
        # Not redacted, or a resumed run would get a different question or different settings.
        # Settings with secrets are not written.
        self.journal.write(
            "run.started",
            run=self.folder.id,
            question=self.question,
            model=model,
            session=session,
            guided=guided,
            work=work,
            user=self.inputs.ask is not None,
            schema=self.schema.definition if self.schema else None,
            options=settings,
            python=sys.version.split()[0],
        )

    async def open_memory(self, stack: AsyncExitStack) -> str:
        """Open the memory; returns the run's conversation id."""
        context, options = self.context, self.options
        stack.callback(context.close)  # first, so that the thread stops after the memory is closed
        context.memory = self.inputs.memory if options.memory else None
        if options.memory and context.memory is None:
            memory = await context.in_memory_thread(open_memory, options, self.environ)
            stack.push_async_callback(context.in_memory_thread, memory.close)
            context.memory = memory
            if options.wiki_folder.is_dir():
                from agent.wiki import Wiki  # noqa: PLC0415 - few runs have one

                context.wiki = Wiki(options.wiki_folder, options.wiki_rules)
        return await context.in_memory_thread(self._find_session, context.memory)

    def _find_session(self, memory: Memory | None) -> str:
        """Return the id of the requested or continued conversation, or else a new one."""
        if self.options.session:
            return self.options.session
        continued = self.options.continue_run
        if continued:
            folder = Runs(self.options.data).find(continued)
            started = next(read_events(folder.journal), None)
            return str(started.data.get("session") or folder.id) if started else folder.id
        # An empty name (`--continue` alone) means the latest conversation.
        latest = memory.latest_session() if memory and continued is not None else None
        return latest or self.folder.id

    def requested_values(self) -> list[tuple[str, str]]:
        """List the schema's fields for the first message, so that the model searches for them."""
        if self.schema is None:
            return []
        lines = [
            f"{f.name} ({f.format or f.kind}) {f.description}".rstrip()
            for f in self.schema.fields()
        ]
        return [("also wanted, each value from a page that is read", "; ".join(lines))]

    def _recorded(
        self, ask: Callable[[str], Awaitable[T]] | None
    ) -> Callable[[str], Awaitable[T]] | None:
        """Record the start and end of a question to the user; a live view is hidden in between.

        The run's clock is paused during the question. If a tool call asks it, its timeout is
        extended.
        """
        if ask is None:
            return None

        async def ask_and_record(what: str) -> T:
            self.write("user.asked", what=what)
            self.context.extend_timeout(USER_TIMEOUT, counts=False)
            try:
                with self.budget.clock.paused():
                    return await ask(what)
            finally:
                self.write("user.answered")

        return ask_and_record

    def _start_tracing(self) -> RunSpans | None:
        """Start OpenTelemetry if the environment names a collector; may raise `UsageError`."""
        environ = self.environ
        disabled = environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
        if disabled or not any(environ.get(name) for name in _COLLECTOR_VARIABLES):
            return None
        with requires_extra("otel", ", or set OTEL_SDK_DISABLED=true."):
            from agent.run.telemetry import RunSpans  # noqa: PLC0415 - an extra
        spans = RunSpans()
        self.journal.listen(spans.note)
        return spans


def _read_schema(options: Options) -> Schema | None:
    """Read the run's schema, if any; raises `UsageError` if it is invalid."""
    if options.schema is None:
        return None
    from agent.evidence.schema import Schema  # noqa: PLC0415 - few runs have one

    return Schema.load(options.schema)


def is_public_run(data: Path, run: str) -> bool:
    """Return whether an earlier run read only public sources: no private files, folders or pages.

    Memory and earlier turns count as public. The result is False if the run's record is missing, or
    was written by a version that did not record this.
    """
    try:
        events = read_events(Runs(data).find(run).journal)
        origins = {event.data["origin"] for event in events if event.type == "context.read"}
    except ResearchError:
        return False
    return bool(origins) and origins <= _PUBLIC_KINDS
