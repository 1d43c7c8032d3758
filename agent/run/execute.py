"""One run, from the question to the report."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import traceback
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from agent.config import private_folder
from agent.context_builder import ContextBuilder
from agent.errors import InternalError, ResearchError
from agent.evidence import Evidence
from agent.guard import Redactor, secrets_of
from agent.journal import Journal, Runs
from agent.journal.writer import utc_now
from agent.loop import LoopResult
from agent.models import sees
from agent.models.resolve import endpoint_of, get_ready
from agent.planner import Work
from agent.review import Gate, SectionGate
from agent.run.background import BackgroundJobs, keep_failure, keep_turns, now_ms
from agent.run.inputs import Before, on_record, person, session_of
from agent.run.known import with_what_is_known
from agent.run.limits import budget_of, instructed, limits_of, private_tokens
from agent.run.memory import open_memory
from agent.run.models import RedactingModel, local_model, open_model, with_fallbacks
from agent.run.outcome import FINAL, INTERRUPT, Ledger, failed, finished
from agent.run.subtasks import Branches, LeftOpen
from agent.run.values import add_values, schema_of
from agent.run.web import open_remote_model, open_web
from agent.tools import Registry, ToolContext
from agent.tools.mending import Mender
from agent.tools.rephrasing import Rephraser
from agent.tools.toolset import tools_for

if TYPE_CHECKING:
    from agent.config import Options
    from agent.journal import RunFolder
    from agent.judge import Verdicts
    from agent.loop import Caller
    from agent.models import Message, Model
    from agent.models.providers import Endpoint
    from agent.planner.parallel import Begin
    from agent.run.inputs import Given
    from agent.types import Report
    from agent.values import Schema


async def execute(question: str, options: Options, given: Given) -> Report:
    """Run a question to its report. Raises `UsageError` for what is wrong before the run begins."""
    data = private_folder(options.data)
    environ = os.environ if given.config else {}
    where = None if given.model else endpoint_of(options.model, options.base_url, environ, options)
    if where is not None:
        get_ready(where)
    local = given.model or (None if where else local_model(options.model, options.effort))
    runs = Runs(data)
    if options.keep_days is not None:
        runs.remove_older(timedelta(days=options.keep_days), utc_now())
    run = _Run(question, options, given, runs, schema_of(options))
    try:
        return await run.to_report(local, where)
    finally:
        run.close()


class _Run:
    """The parts of one run while it lasts."""

    def __init__(
        self, question: str, options: Options, given: Given, runs: Runs, schema: Schema | None
    ) -> None:
        past = given.past
        self._question = question
        self._options = options
        self._given = given
        self._ledger = Ledger(question)
        self._delivered: Report | None = None
        self._work: Work | None = None
        self._journal = past.begin(runs, self._ledger) if past else Journal(runs.create(utc_now()))
        self._folder: RunFolder = self._journal.folder
        self._ledger.run = self._folder.id
        self._redactor = Redactor(secrets_of(os.environ))
        self._record = past.record(self._write) if past else self._write
        self._evidence = past.evidence() if past else Evidence(question)
        self._environ = os.environ if given.config else {}
        self._schema = schema
        self._budget = budget_of(options)
        self._journal.listen(self._ledger.note)
        if given.on_event:
            self._journal.listen(given.on_event)

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    async def to_report(self, local: Model | None, where: Endpoint | None) -> Report:
        """Answer; a failure becomes a failed report, an interrupt leaves its record behind."""
        try:
            async with AsyncExitStack() as stack:
                return await self._answered(stack, local, where)
        except ResearchError as error:
            report = self._delivered or failed(self._ledger, self._evidence, error, self._budget)
        # A fault of ours still ends in a report: the record is kept, and says where it was.
        except Exception as error:  # noqa: BLE001
            self._journal.write("run.crashed", error=repr(error), trace=traceback.format_exc())
            report = self._delivered or failed(
                self._ledger, self._evidence, _internal(error), self._budget
            )
        except asyncio.CancelledError:
            self._journal.write("run.interrupted")
            if self._delivered is None:
                cut = LoopResult("", INTERRUPT)
                said = self._work.messages if self._work else []
                self._close(self._finished(await with_what_is_known(cut, said)))
            raise
        return report if report is self._delivered else self._close(report)

    async def _answered(
        self, stack: AsyncExitStack, local: Model | None, where: Endpoint | None
    ) -> Report:
        context = self._context()
        stack.callback(context.close)
        options = self._options
        context.memory = await open_memory(
            stack, context, options, self._environ, self._given.memory
        )
        session = await context.in_memory_thread(
            session_of, options, self._folder.id, context.memory
        )
        self._started(local.name if local else where.name if where else "", session)
        if self._given.past is None or self._given.past.live:
            opened = open_web(options, options.data, self._environ)
            context.web = await stack.enter_async_context(opened)
        model = local or await open_remote_model(stack, where, options.proxy)
        model = await with_fallbacks(stack, model, options, self._environ, self._passed_over)
        opening = ContextBuilder(context, session, now_ms)
        work = self._work = self._begun(model, opening)
        judge = await self._judge(stack, work.model)
        gate = Gate(work, self._evidence, self._record, judge)
        result = await self._result(work, opening, gate)
        return await self._handed_over(result, gate.verdicts, opening, work)

    def _begun(self, model: Model, opening: ContextBuilder) -> Work:
        """Give the model its tools and instructions, and the work that it is to do."""
        context, options = opening.context, self._options
        context.vision = options.vision and sees(model)
        registry = Registry(tools_for(context)).with_functions(self._given.tools)
        system = instructed(model, registry, options, context)
        model, calls = self._on_record(model, registry, context)
        context.mender = Mender(model, self._budget, self._record)
        most = options.effort.rephrases
        context.rephraser = Rephraser(model, self._budget, self._record, most)
        return Work(
            model,
            calls,
            self._budget,
            system,
            self._record,
            self._begin(opening, Before(options, context)),
            effort=options.effort,
            as_report=options.report,
            guided=True,
            context_window=options.context_window,
            objections=SectionGate(self._evidence, self._record),
        )

    def _on_record(
        self, model: Model, registry: Registry, context: ToolContext
    ) -> tuple[Model, Caller]:
        """Let nothing pass that is not to be told; what is on record is not done again."""
        past = self._given.past
        left = LeftOpen(self._folder, self._write, self._options.storage_state)
        calls: Caller = Branches(registry, context, left, past.left_open() if past else {})
        model = RedactingModel(model, self._redactor)
        if past is None:
            return model, calls
        return past.model(model), past.calls(calls, self._journal)

    async def _handed_over(
        self, result: LoopResult, verdicts: Verdicts, opening: ContextBuilder, work: Work
    ) -> Report:
        """Report the answer; keep what the run leaves behind only after that."""
        options, folder, brought = self._options, self._folder, self._given.memory is not None
        report = self._finished(result, verdicts)
        if self._schema is not None:
            await add_values(report, result.text, self._schema, self._evidence, work)
        await self._remember(opening, report)
        jobs = await BackgroundJobs.claim(opening, work, options, folder, brought=brought)
        self._close(report, jobs)
        if jobs is not None:
            await jobs.settle(self._write)
        return report

    async def _judge(self, stack: AsyncExitStack, model: Model) -> Model:
        """The model that decides what code leaves open: the one named, or the run's own."""
        options = self._options
        if options.judge is None:
            return model
        return await open_model(stack, options.judge, options, self._environ, options.base_url)

    async def _result(self, work: Work, opening: ContextBuilder, gate: Gate) -> LoopResult:
        """Work to the answer; where it fails, question and failure are kept all the same."""
        try:
            result = await work.answer(self._question)
        except ResearchError as error:
            await self._remember(opening, None)
            report = failed(self._ledger, self._evidence, error, self._budget)
            report.answer = ""
            await keep_failure(opening, report)
            raise
        return await gate.passed(await with_what_is_known(result, work.messages))

    def _begin(self, opening: ContextBuilder, before: Before) -> Begin:
        async def begin(question: str, place: str) -> list[Message]:
            past = self._given.past.opening(place) if self._given.past else None
            if past is not None:
                return past
            await before.put_into(opening)
            said = await opening(question, place)
            return [replace(m, content=self._redactor.text(m.content)) for m in said]

        return begin

    def _started(self, model: str, session: str) -> None:
        self._journal.write(
            "run.started",
            run=self._folder.id,
            question=self._question,
            model=model,
            session=session,
            person=self._given.ask is not None,
            schema=self._schema.definition if self._schema else None,
            options=self._options.model_dump(mode="json"),
            python=sys.version.split()[0],
        )

    def _finished(self, result: LoopResult, verdicts: Verdicts | None = None) -> Report:
        self._journal.write("answer.draft", text=result.text, limit=result.limit)
        report = finished(self._ledger, self._evidence, result, self._budget, verdicts)
        self._journal.write(
            "answer.verified",
            status=report.status,
            confidence=report.confidence,
            sentences=[sentence.model_dump(mode="json") for sentence in report.sentences],
        )
        return report

    def _context(self) -> ToolContext:
        seconds = self._options.timeout
        return ToolContext(
            question=self._question,
            evidence=self._evidence,
            limits=limits_of(self._options),
            record=self._record,
            keep=self._folder.keep,
            secrets=private_tokens(self._question, os.environ),
            redactor=self._redactor,
            run=self._folder.id,
            files=self._options.file,
            approve=on_record(self._given.approve, self._write),
            person=person(self._given.ask, self._write),
            deadline=time.monotonic() + seconds if seconds else None,
        )

    async def _remember(self, opening: ContextBuilder, report: Report | None) -> None:
        """Keep question and answer in the conversation; None where there is no answer."""
        resumed = self._given.past is not None
        await keep_turns(opening, self._question, report, resumed=resumed)

    def _close(self, report: Report, jobs: BackgroundJobs | None = None) -> Report:
        if report.error is not None:  # some providers repeat the key that they refuse
            report.error.message = self._redactor.text(report.error.message)
        after = jobs.as_noted() if jobs else None
        self._journal.write("run.finished", report=report.model_dump(mode="json"), after=after)
        self._folder.write_report(report.to_json())
        if report.status in FINAL:
            self._folder.browser_state.unlink(missing_ok=True)
        self._delivered = report
        return report

    def _passed_over(self, why: str) -> None:
        self._journal.write("note", text=why)

    def _write(self, kind: str, place: str = "", **data: Any) -> None:
        self._journal.write(kind, place, **self._redactor.value(data))


def _internal(error: Exception) -> InternalError:
    return InternalError(f"internal error: {type(error).__name__}: {error}")
