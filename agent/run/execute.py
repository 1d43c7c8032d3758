"""One run, from the question to the report."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import traceback
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from agent.config import private_folder
from agent.errors import InternalError, ResearchError
from agent.evidence import Evidence
from agent.guard import Budget, Secrets
from agent.journal import Journal, Runs
from agent.journal.writer import utc_now
from agent.loop import Loop, LoopResult
from agent.messages import system_prompt
from agent.models.resolve import endpoint_of, local_model
from agent.run.outcome import INTERRUPT, Ledger, failed, finished
from agent.run.question import opening_messages, session_of
from agent.run.web import open_remote_model, open_web
from agent.tools import Limits, Policy, Registry, ToolContext
from agent.tools.checks import CHECKS
from agent.tools.families import tools_for

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.config import Options
    from agent.journal import Event, RunFolder
    from agent.loop import Caller
    from agent.memory import Memory
    from agent.models import Message, Model
    from agent.models.providers import Endpoint
    from agent.run.past import Past
    from agent.types import Report


@dataclass(frozen=True, slots=True)
class Given:
    """What a caller brings beside the settings; None where the settings decide."""

    model: Model | None = None
    memory: Memory | None = None
    tools: dict[str, Callable[[str], Awaitable[Any]]] = field(default_factory=dict)
    on_event: Callable[[Event], None] | None = None
    approve: Callable[[str], Awaitable[bool]] | None = None
    config: bool = False
    past: Past | None = None


async def execute(question: str, options: Options, given: Given) -> Report:
    """Run a question to its report. Raises `UsageError` for what is wrong before the run begins."""
    data = private_folder(options.data)
    environ = os.environ if given.config else {}
    where = None if given.model else endpoint_of(options.model, options.base_url, environ)
    local = given.model or (None if where else local_model(options.model))
    runs = Runs(data)
    if options.keep_days is not None:
        runs.remove_older(timedelta(days=options.keep_days), utc_now())
    run = _Run(question, options, given, runs)
    try:
        return await run.to_report(local, where)
    finally:
        run.close()


class _Run:
    """The parts of one run while it lasts."""

    def __init__(self, question: str, options: Options, given: Given, runs: Runs) -> None:
        past = given.past
        self._question = question
        self._options = options
        self._given = given
        self._ledger = Ledger(question)
        self._journal = past.begin(runs, self._ledger) if past else Journal(runs.create(utc_now()))
        self._folder: RunFolder = self._journal.folder
        self._record = past.record(self._write) if past else self._write
        self._evidence = past.evidence() if past else Evidence()
        self._environ = os.environ if given.config else {}
        self._budget = Budget(options.max_steps, options.budget, options.timeout)
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
                report = await self._answered(stack, local, where)
        except ResearchError as error:
            report = failed(self._ledger, self._evidence, error, self._budget)
        # A fault of ours still ends in a report: the record is kept, and says where it was.
        except Exception as error:  # noqa: BLE001
            self._journal.write("run.crashed", error=repr(error), trace=traceback.format_exc())
            report = failed(self._ledger, self._evidence, _internal(error), self._budget)
        except asyncio.CancelledError:
            self._journal.write("run.interrupted")
            self._close(self._finished(LoopResult("", INTERRUPT)))
            raise
        return self._close(report)

    async def _answered(
        self, stack: AsyncExitStack, local: Model | None, where: Endpoint | None
    ) -> Report:
        context = self._context()
        stack.callback(context.close)
        context.memory = await self._memory(stack, context)
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
        registry = Registry(tools_for(context)).with_functions(self._given.tools)
        calls: Caller = Policy(registry, context, CHECKS)
        if past is not None:
            model, calls = past.model(model), past.calls(calls, self._journal)
        loop = Loop(model, calls, self._budget, system_prompt(registry), self._record)
        messages = await self._opening(context, session)
        report = self._finished(await loop.run(messages))
        await self._remember(context, session, report)
        return report

    async def _opening(self, context: ToolContext, session: str) -> list[Message]:
        if self._given.past is not None:
            return self._given.past.opening()
        return await opening_messages(self._question, self._options, context, session)

    def _started(self, model: str, session: str) -> None:
        self._journal.write(
            "run.started",
            run=self._folder.id,
            question=self._question,
            model=model,
            session=session,
            options=self._options.model_dump(mode="json"),
            python=sys.version.split()[0],
        )

    def _finished(self, result: LoopResult) -> Report:
        self._journal.write("answer.draft", text=result.text, limit=result.limit)
        report = finished(self._ledger, self._evidence, result, self._budget)
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
            limits=Limits(max_sources=self._options.max_sources),
            record=self._record,
            keep=self._folder.keep,
            secrets=self._secrets(),
            run=self._folder.id,
            files=self._options.file,
            approve=self._given.approve,
            deadline=time.monotonic() + seconds if seconds else None,
        )

    def _secrets(self) -> Secrets:
        secrets = Secrets(self._question)
        secrets.add_environment(os.environ)
        return secrets

    async def _memory(self, stack: AsyncExitStack, context: ToolContext) -> Memory | None:
        if not self._options.memory:
            return None
        if self._given.memory is not None:
            return self._given.memory
        from agent.memory import Memory  # noqa: PLC0415 - a run without memory does not load it

        place = self._options.data / "memory.db"
        memory = await context.in_memory_thread(Memory.open, place, self._options.namespace)
        stack.push_async_callback(context.in_memory_thread, memory.close)
        return memory

    async def _remember(self, context: ToolContext, session: str, report: Report) -> None:
        if context.memory is not None:
            append = context.memory.append_turn
            await context.in_memory_thread(append, session, "user", self._question)
            await context.in_memory_thread(append, session, "assistant", report.answer)

    def _close(self, report: Report) -> Report:
        self._journal.write("run.finished", report=report.model_dump(mode="json"))
        self._folder.write_report(report.to_json())
        return report

    def _write(self, kind: str, place: str = "", **data: Any) -> None:
        self._journal.write(kind, place, **data)


def _internal(error: Exception) -> InternalError:
    return InternalError(f"internal error: {type(error).__name__}: {error}")
