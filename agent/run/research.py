"""The front door: a question goes in, a report comes out. Every way in goes through here."""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
from contextlib import AsyncExitStack
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, Unpack

from agent.config import options as options_of
from agent.config import private_folder
from agent.errors import InternalError, ResearchError, from_extra
from agent.journal.events import utc_now
from agent.journal.runs import Runs
from agent.loop.context_builder import ContextBuilder
from agent.loop.loop import LoopResult
from agent.review.gate import Gate
from agent.run.job_runner import BackgroundJobs, keep_failure, keep_turns
from agent.run.models import find_model
from agent.run.outcome import (
    FINAL,
    INTERRUPT,
    add_values,
    failed,
    finished,
    with_what_is_known,
)
from agent.run.services import Given, RunServices, schema_of, was_public
from agent.run.web import open_web
from agent.run.wiring import begin_work, offered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

    from agent.config import Options
    from agent.journal.events import Event
    from agent.loop.orchestrator import Orchestrator
    from agent.memory.memory_api import Memory
    from agent.models.base import Model
    from agent.review.judge import Verdicts
    from agent.run.models import FoundModel
    from agent.run.settings import Flags
    from agent.run.telemetry import RunSpans
    from agent.tools.context import ToolContext
    from agent.tools.registry import Tool
    from agent.types import Report


async def research(
    question: str,
    *,
    model: str | Model | None = None,
    memory: bool | Memory = True,
    tools: Mapping[str, Callable[[str], Awaitable[Any]]] | None = None,
    on_event: Callable[[Event], None] | None = None,
    approve: Callable[[str], Awaitable[bool | str]] | None = None,
    ask: Callable[[str], Awaitable[str]] | None = None,
    opened: Callable[[ToolContext], None] | None = None,
    config: bool = False,
    run: str | None = None,
    tasks: Callable[[Options], Sequence[Tool]] | None = None,
    **flags: Unpack[Flags],
) -> Report:
    """Research a question.

    `flags` are the command line's flags with underscores (lists where a flag repeats). `tools` are
    async functions by name: each gets the raw parameter, what it gives back is the result.
    `on_event` is called with each journal event; `approve` asks the person about a risky step,
    `ask` what they meant, once at most; `opened` is handed the run's means. Environment and
    settings file are read only with `config`. `run` is the id of the run, for who must know it
    before it begins; `tasks` makes the tools of `allow_tasks`.
    A model or a web that fails ends in a report with status `failed`; wrong settings raise
    `UsageError`, and a cancelled run leaves its record behind and raises `CancelledError`.
    """
    named = model if isinstance(model, str) else None
    switch = memory if isinstance(memory, bool) else True
    settings = options_of({**flags, "model": named, "memory": switch}, config=config)
    given = Given(
        model=None if isinstance(model, str) else model,
        memory=None if isinstance(memory, bool) else memory,
        tools=dict(tools or {}),
        on_event=on_event,
        approve=approve,
        ask=ask,
        config=config,
        opened=opened,
        run=run,
        tasks=tasks,
    )
    sayable = question.encode("utf-8", "replace").decode()  # the shell hands on any bytes
    return await execute(sayable, settings, given)


P = ParamSpec("P")


def _waiting(run: Callable[P, Coroutine[Any, Any, Report]]) -> Callable[P, Report]:
    """Make a call that waits out of one that is awaited; inside a running event loop too."""

    def wait(*args: P.args, **kwargs: P.kwargs) -> Report:
        """Research a question and wait for the report; takes what `research` takes."""
        begun = partial(run, *args, **kwargs)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(begun())
        return _in_thread(begun)

    return wait


def _in_thread(run: Callable[[], Coroutine[Any, Any, Report]]) -> Report:
    """Run in a loop of another thread: the one of the caller is busy with this very call."""
    box: list[Report | BaseException] = []

    def work() -> None:
        try:
            box.append(asyncio.run(run()))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, raised there
            box.append(error)

    thread = threading.Thread(target=work, name="research")
    thread.start()
    thread.join()
    if isinstance(box[0], BaseException):
        raise box[0]
    return box[0]


research_sync = _waiting(research)
"""`research`, waited for: the same arguments, the report; inside a running event loop too."""


async def execute(question: str, options: Options, given: Given) -> Report:
    """Run a question to its report. Raises `UsageError` for what is wrong before the run begins."""
    runs = Runs(private_folder(options.data))
    model = find_model(options, given.model, os.environ if given.config else {})
    if options.keep_days is not None:
        runs.remove_older(timedelta(days=options.keep_days), utc_now())
    services = RunServices.begin(question, options, given, runs, schema_of(options))
    spans = spans_of(services)
    try:
        return await Run(services, model).to_report()
    finally:
        services.journal.close()
        if spans is not None:
            await asyncio.to_thread(spans.close)


_OTLP = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def spans_of(services: RunServices) -> RunSpans | None:
    """Have a run traced where its environment names a collector; raises `UsageError`."""
    environ = services.environ
    if not any(map(environ.get, _OTLP)) or environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    with from_extra("otel", ", or set OTEL_SDK_DISABLED=true."):
        from agent.run.telemetry import RunSpans  # noqa: PLC0415 - an extra
    spans = RunSpans()
    services.journal.listen(spans.note)
    return spans


class Run:
    """One question on its way to a report; a resumed run and one on a recorded web go it too."""

    def __init__(self, services: RunServices, model: FoundModel) -> None:
        self._services = services
        self._model = model
        self._work: Orchestrator | None = None
        self._over = False  # its end is on record
        self._delivered: Report | None = None

    async def to_report(self) -> Report:
        """Answer; a failure becomes a failed report, an interrupt leaves its record behind."""
        services = self._services
        try:
            async with AsyncExitStack() as stack:
                return await self._answered(stack)
        except ResearchError as error:
            if self._over and self._delivered is None:
                raise  # on record it has its answer, which `resume` hands over
            report = self._delivered or self._failed(error)
        # A fault of ours still ends in a report: the record is kept, and says where it was.
        except Exception as error:  # noqa: BLE001
            services.journal.write("run.crashed", error=repr(error), trace=traceback.format_exc())
            said = f"internal error: {type(error).__name__}: {error}"
            report = self._delivered or self._failed(InternalError(said))
        except asyncio.CancelledError:
            services.journal.write("run.interrupted")
            if self._delivered is None:
                said_so_far = self._work.messages if self._work else []
                cut = await with_what_is_known(LoopResult("", INTERRUPT), said_so_far)
                self._close(self._finished(cut))
            raise
        return report if report is self._delivered else self._close(report)

    async def _answered(self, stack: AsyncExitStack) -> Report:
        """Open what the run needs, work to an answer, check it, and hand it over."""
        services, options = self._services, self._services.options
        session = await services.open_memory(stack)
        services.started(self._model.name, session, guided=self._model.guided)
        past = services.given.past
        if past is None or past.live:  # else all that the run needs is on record
            opened = open_web(options, services.environ, services.record)
            services.context.web = await stack.enter_async_context(opened)
        if services.given.opened is not None:
            services.given.opened(services.context)
        model = await self._model.open(stack, lambda why: services.journal.write("note", text=why))
        seen_public = partial(was_public, options.data)
        builder = ContextBuilder(services.context, session, was_public=seen_public)
        tools = await offered(
            services.context,
            options.without_servers() if self._model.by_rules else options,
            stack,
            services.given.tools,
            tasks=services.given.tasks,
            config=services.given.config,
            connect=past is None or past.live,
        )
        work = self._work = begin_work(services, model, builder, tools)
        judge = await self._model.open_judge(stack) or work.model
        gate = Gate(work, services.evidence, services.record, judge)
        result = await self._result(work, builder, gate)
        report = self._finished(result, gate.verdicts)
        if services.schema is not None:
            await add_values(report, result.text, services.schema, gate)
        await self._keep_turns(builder, report)
        brought = services.given.memory is not None
        jobs = await BackgroundJobs.claim(
            builder,
            work,
            options,
            services.folder,
            brought=brought,
            tell=lambda why: services.journal.write("note", text=why),
        )
        self._close(report, jobs)
        if jobs is not None:  # behind the answer, which nobody waits for any more
            await jobs.settle(services.write)
        return report

    async def _result(self, work: Orchestrator, builder: ContextBuilder, gate: Gate) -> LoopResult:
        """Work to the answer; where it fails, question and failure are kept all the same."""
        try:
            result = await work.answer(self._services.question)
        except ResearchError as error:
            await self._keep_turns(builder, None)
            report = self._failed(error)
            report.answer = ""
            await keep_failure(builder, report)
            raise
        return await gate.passed(await with_what_is_known(result, work.messages))

    def _finished(self, result: LoopResult, verdicts: Verdicts | None = None) -> Report:
        services = self._services
        services.journal.write("answer.draft", text=result.text, limit=result.limit)
        ledger, evidence, budget = services.ledger, services.evidence, services.budget
        report = finished(ledger, evidence, result, budget, verdicts)
        services.journal.write(
            "answer.verified",
            status=report.status,
            confidence=report.confidence,
            sentences=[sentence.model_dump(mode="json") for sentence in report.sentences],
        )
        return report

    def _failed(self, error: ResearchError) -> Report:
        services = self._services
        return failed(services.ledger, services.evidence, error, services.budget)

    async def _keep_turns(self, builder: ContextBuilder, report: Report | None) -> None:
        """Keep question and answer in the conversation; None where there is no answer."""
        resumed = self._services.given.past is not None
        await keep_turns(builder, self._services.question, report, resumed=resumed)

    def _close(self, report: Report, jobs: BackgroundJobs | None = None) -> Report:
        """Write the end of the run, and its report."""
        services = self._services
        if report.error is not None:  # some providers repeat the key that they refuse
            report.error.message = services.redactor.text(report.error.message)
        after = asdict(jobs.notes) if jobs else None
        services.journal.write("run.finished", report=report.model_dump(mode="json"), after=after)
        self._over = True
        services.folder.write(services.folder.report, report.to_json().encode())
        if report.status in FINAL:
            services.folder.browser_state.unlink(missing_ok=True)
        self._delivered = report
        return report
