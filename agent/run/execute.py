"""One run, from the question to the report."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import traceback
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from agent.config import private_folder
from agent.errors import InternalError, ModelError, ResearchError
from agent.evidence import Evidence
from agent.guard import Redactor, secrets_of
from agent.journal import Journal, Runs
from agent.journal.writer import utc_now
from agent.loop import LoopResult
from agent.messages import system_prompt
from agent.models import natively, sees
from agent.models.resolve import endpoint_of, get_ready, local_model
from agent.opening import Opening
from agent.planner import Work
from agent.review import Gate, SectionGate
from agent.run.afterwards import after_answer, keep_turns, now_ms
from agent.run.branches import Branches
from agent.run.discreet import DiscreetModel
from agent.run.known import with_what_is_known
from agent.run.left_open import LeftOpen
from agent.run.means import budget_of, guides_of, limits_of, private_tokens
from agent.run.memory import leave, open_memory
from agent.run.models import with_fallbacks
from agent.run.outcome import FINAL, INTERRUPT, Ledger, failed, finished
from agent.run.person import on_record, person
from agent.run.question import Before, session_of
from agent.run.steps import Steps
from agent.run.values import add_values, schema_of
from agent.run.web import open_remote_model, open_web
from agent.tools import Registry, ToolContext
from agent.tools.families import tools_for
from agent.tools.mending import Mender
from agent.tools.specs import tool_specs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.config import Options
    from agent.journal import Event, RunFolder
    from agent.judge import Verdicts
    from agent.loop import Caller
    from agent.memory import AnyMemory
    from agent.models import Message, Model
    from agent.models.providers import Endpoint
    from agent.planner.side_by_side import Begin
    from agent.run.past import Past
    from agent.types import Report
    from agent.values import Schema


@dataclass(frozen=True, slots=True)
class Given:
    """What a caller brings beside the settings; None where the settings decide."""

    model: Model | None = None
    memory: AnyMemory | None = None
    tools: dict[str, Callable[[str], Awaitable[Any]]] = field(default_factory=dict)
    on_event: Callable[[Event], None] | None = None
    approve: Callable[[str], Awaitable[bool]] | None = None
    ask: Callable[[str], Awaitable[str]] | None = None
    config: bool = False
    past: Past | None = None


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
        self._steps = Steps()
        self._journal.listen(self._ledger.note)
        self._journal.listen(self._steps.note)
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
        context.memory = await open_memory(
            stack, context, self._options, self._environ, self._given.memory
        )
        session = await context.in_memory_thread(
            session_of, self._options, self._folder.id, context.memory
        )
        self._started(local.name if local else where.name if where else "", session)
        past = self._given.past
        if past is None or past.live:
            context.web = await stack.enter_async_context(
                open_web(self._options, self._options.data, self._environ)
            )
        model = local or await open_remote_model(stack, where, self._options.proxy)
        model = await with_fallbacks(stack, model, self._options, self._environ, self._passed_over)
        context.vision = self._options.vision and sees(model)
        registry = Registry(tools_for(context)).with_functions(self._given.tools)
        system = system_prompt(
            registry,
            native=natively(model),
            depth=self._options.depth,
            guides=guides_of(self._options, context),
        )
        if natively(model):
            model.offer(system, tool_specs(registry))
        left = LeftOpen(self._folder, self._write, self._options.storage_state)
        calls: Caller = Branches(registry, context, left, past.left_open() if past else {})
        model = DiscreetModel(model, self._redactor)
        if past is not None:
            model, calls = past.model(model), past.calls(calls, self._journal)
        context.mender = Mender(model, self._budget, self._record)
        opening = Opening(context, session, now_ms)
        begin = self._begin(opening, Before(self._options, context))
        work = Work(
            model,
            calls,
            self._budget,
            system,
            self._record,
            begin,
            effort=self._options.effort,
            as_report=self._options.report,
            guided=True,
            context_window=self._options.context_window,
            objections=SectionGate(self._evidence, self._record),
        )
        self._work = work
        gate = Gate(work, self._evidence, self._record, await self._judge(stack, model))
        result = await self._result(work, opening, gate)
        report = self._finished(result, gate.verdicts)
        if self._schema is not None:
            await add_values(report, result.text, self._schema, self._evidence, work)
        await self._remember(opening, report.answer)
        self._close(report)
        await leave(opening, report, self._steps.lines())
        await after_answer(opening, work, self._record, report, self._steps.lines())
        return report

    async def _judge(self, stack: AsyncExitStack, model: Model) -> Model:
        """The model that decides what code leaves open: the one named, or the run's own."""
        if self._options.judge is None:
            return model
        set_ = self._options
        where = endpoint_of(set_.judge, set_.base_url, self._environ, set_)
        if where is None:
            return local_model(self._options.judge)
        return await open_remote_model(stack, where, self._options.proxy)

    async def _result(self, work: Work, opening: Opening, gate: Gate) -> LoopResult:
        """Work to the answer; where the model fails, the question is kept all the same."""
        try:
            result = await work.answer(self._question)
        except ModelError:
            await self._remember(opening, None)
            raise
        return await gate.passed(await with_what_is_known(result, work.messages))

    def _begin(self, opening: Opening, before: Before) -> Begin:
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

    async def _remember(self, opening: Opening, answer: str | None) -> None:
        """Keep question and answer in the conversation; None where there is no answer."""
        resumed = self._given.past is not None
        await keep_turns(opening, self._question, answer, resumed=resumed)

    def _close(self, report: Report) -> Report:
        if report.error is not None:  # some providers repeat the key that they refuse
            report.error.message = self._redactor.text(report.error.message)
        self._journal.write("run.finished", report=report.model_dump(mode="json"))
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
