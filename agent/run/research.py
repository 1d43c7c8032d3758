"""The entry point of the agent: `research` answers a question with a report.

The command line, the server, jobs, channels and MCP all start their runs here.
"""

from __future__ import annotations

import asyncio
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, Unpack

from agent.config import load_options, private_folder
from agent.errors import (
    InternalError,
    NoApprover,
    PlanRefused,
    ResearchError,
    UsageError,
    error_text,
)
from agent.journal.events import utc_now
from agent.journal.runs import Runs
from agent.loop.answer_review import AnswerReview, check_parts
from agent.loop.context_builder import ContextBuilder
from agent.loop.judge import ClaimJudge
from agent.loop.loop import LoopResult
from agent.run.job_runner import BackgroundJobs, event_time_ms, save_findings, save_turns
from agent.run.models import resolve_model
from agent.run.outcome import INTERRUPT, add_values, extractive_answer
from agent.run.services import Inputs, RunServices, is_public_run
from agent.run.web import open_web
from agent.run.wiring import check_functions, new_orchestrator, select_tools
from agent.types import FINAL_STATUSES, Report

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

    from agent.config import Flags
    from agent.journal.events import Event
    from agent.loop.orchestrator import Orchestrator
    from agent.memory.memory_api import Memory
    from agent.models.base import Model
    from agent.options import Options
    from agent.run.models import ResolvedModel
    from agent.tools.context import ToolContext
    from agent.tools.registry import Tool


async def research(
    question: str,
    *,
    model: str | Model | None = None,
    memory: bool | Memory | None = None,
    tools: Mapping[str, Callable[..., Any]] | None = None,
    on_event: Callable[[Event], None] | None = None,
    approve: Callable[[str], Awaitable[bool | str | None]] | None = None,
    ask: Callable[[str], Awaitable[str]] | None = None,
    opened: Callable[[ToolContext], None] | None = None,
    config: bool = False,
    run: str | None = None,
    tasks: Callable[[Options], Sequence[Tool]] | None = None,
    edit_plan: Callable[[str], Awaitable[str | None]] | None = None,
    **flags: Unpack[Flags],
) -> Report:
    """Research a question.

    `flags` are the command line's flags with underscores (lists for repeatable flags). Memory is
    off unless it is given. `tools` are functions by name, async or not: their parameters and
    docstrings describe them to the model, and their results (any JSON) can be cited. `on_event` is
    called with each journal event. `approve` asks the user about a risky step; `ask` asks a
    clarifying question, at most once. With `plan`, `edit_plan` shows the user the plan as Markdown
    and returns the edited plan, or None to stop. `opened` is called with the run's `ToolContext`
    once its web is open. Provider keys set in the environment (`OPENAI_API_KEY`, …) are used; other
    environment variables and the settings file are read only with `config`. `run` sets the run's
    id, for callers that need to know it in advance. `tasks` creates the tools for `allow_tasks`.

    If the model or the web fails, the report has the status `failed`. Invalid settings raise
    `UsageError`. A cancelled run keeps its record and raises `CancelledError`.
    """
    given: dict[str, Any] = {**flags, "model": model if isinstance(model, str) else None}
    if memory is not None or not config:  # with `config`, the settings decide
        given["memory"] = bool(memory) if isinstance(memory, bool | None) else True
    options = load_options(given, config=config)
    check_functions(tools or {})
    inputs = Inputs(
        model=None if isinstance(model, str) else model,
        memory=None if isinstance(memory, bool | None) else memory,
        tools=dict(tools or {}),
        on_event=on_event,
        approve=approve,
        ask=ask,
        config=config,
        opened=opened,
        run=run,
        tasks=tasks,
        edit_plan=edit_plan,
    )
    # Shell arguments may contain invalid UTF-8; lone surrogates cannot be written to the record.
    text = question.encode("utf-8", "replace").decode()
    if not text.strip():
        raise UsageError("the question is empty")
    return await run_question(text, options, inputs)


P = ParamSpec("P")


# A factory, so that type checkers give `research_sync` the same parameters as `research`.
def _synchronous(run: Callable[P, Coroutine[Any, Any, Report]]) -> Callable[P, Report]:
    def wait(*args: P.args, **kwargs: P.kwargs) -> Report:
        """Research a question and wait for the report; takes the same arguments as `research`."""
        start = partial(run, *args, **kwargs)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(start())
        # This call blocks the caller's event loop, so the run gets its own loop in another thread.
        with ThreadPoolExecutor(1, thread_name_prefix="research") as thread:
            return thread.submit(lambda: asyncio.run(start())).result()

    return wait


research_sync = _synchronous(research)
"""The blocking form of `research`, with the same arguments and result; also works inside an event
loop.
"""


async def run_question(
    question: str,
    options: Options,
    inputs: Inputs,
    make: Callable[[RunServices, ResolvedModel], Run] | None = None,
) -> Report:
    """Create and execute a run, by default one that answers a question; returns its report.

    Raises `UsageError` for invalid settings, before the run starts.
    """
    if options.plan and make is None and inputs.edit_plan is None and inputs.prior is None:
        raise NoApprover
    runs = Runs(private_folder(options.data))
    model = resolve_model(options, inputs.model, inputs.environ)
    if options.keep_days is not None:
        runs.remove_older(timedelta(days=options.keep_days), utc_now())
    async with RunServices(question, options, inputs, runs) as services:
        return await (make or Run)(services, model).to_report()


MAX_TRACE_CHARS = 20_000
"""Maximum length of a recorded traceback, in characters."""


class Run:
    """Answers one question in a new run, a resumed run, or a run on a recorded web."""

    def __init__(self, services: RunServices, model: ResolvedModel) -> None:
        self._services = services
        self._model = model
        self._work: Orchestrator | None = None
        self._ended_ms: int | None = None  # time at which `run.finished` was written
        self._report: Report | None = None  # set once it is written

    async def to_report(self) -> Report:
        """Answer the question. Errors become a failed report; a cancelled run keeps its record."""
        services = self._services
        failure: ResearchError
        try:
            async with AsyncExitStack() as stack:
                return await self._answer(stack)
        except ResearchError as error:
            if self._ended_ms is not None and self._report is None:
                raise  # the answer is already recorded: `resume` returns it
            failure = error
        # Internal errors also produce a report; the traceback is recorded.
        except Exception as error:  # noqa: BLE001
            trace = error_text(traceback.format_exc(), MAX_TRACE_CHARS)
            services.write("run.crashed", error=error_text(repr(error)), trace=trace)
            failure = InternalError(f"internal error: {type(error).__name__}: {error}")
        except asyncio.CancelledError:
            # Ctrl-C or a cancelled task: record a report based on the pages read so far.
            services.write("run.interrupted")
            if self._report is None:
                messages = self._work.messages if self._work else []
                result = await extractive_answer(LoopResult("", INTERRUPT), messages)
                self._finish(self._checked(result))
            raise
        return self._report or self._finish(services.report_builder.failed_report(failure))

    async def _answer(self, stack: AsyncExitStack) -> Report:
        services, options, inputs = self._services, self._services.options, self._services.inputs
        context, prior = services.context, inputs.prior

        # Open the memory and the web. The memory comes first, as it determines the conversation id,
        # which is part of the first event.
        session = await services.open_memory(stack)
        services.write_start(self._model.name, session, guided=self._model.guided)
        live = prior is None or prior.live  # otherwise the record has all that is needed
        if live:
            opened = open_web(options, services.environ, services.record, services.question)
            context.web = await stack.enter_async_context(opened)
        if inputs.opened is not None:
            inputs.opened(context)

        # Open the model, with its tools and its first messages.
        model = await self._model.open(stack, lambda why: services.write("note", text=why))
        context.files_first = self._model.directed_by_code
        tools = await select_tools(
            context,
            options.without_servers() if self._model.directed_by_code else options,
            stack,
            inputs.tools,
            tasks=inputs.tasks,
            config=inputs.config,
            connect=live,
        )
        builder = ContextBuilder(
            context,
            session,
            captured=services.requested_values(),
            is_public_run=partial(is_public_run, options.data),
        )
        # An attribute, so that after an interrupt `to_report` can answer from the pages read so
        # far.
        work = self._work = new_orchestrator(services, model, builder, tools)
        judging = await self._model.open_judge(stack) or work.model
        judge = ClaimJudge(services.evidence, services.budget, services.record, judging)
        work.objections = partial(check_parts, judge)

        # Answer the question, and check the answer.
        save = partial(save_turns, context, session, services.question, resumed=prior is not None)
        try:
            result = await work.answer(services.question)
        except ResearchError as error:
            # A mistyped file or model name, or a rejected plan, says nothing about the question.
            if not isinstance(error, PlanRefused) and error.exit_code != UsageError.exit_code:
                await save(None)
                await self._remember_failure(error)
            raise
        review = AnswerReview(work, judge)
        result = await review.check(await extractive_answer(result, work.messages))
        await review.challenge_claims(result, options.challenges, context.web)
        report = self._checked(result, judge)
        if services.schema is not None:
            await add_values(report, result.text, services.schema, work, judge)

        # Save the turns and claim the jobs before `run.finished` is written. A finished run is not
        # resumed, so they would be lost if the process were killed in between.
        await save(report)
        jobs = await BackgroundJobs.claim(services, builder, work)
        self._finish(report, jobs)
        if jobs is not None and self._ended_ms is not None:
            await jobs.run(report, self._ended_ms)
        return report

    async def _remember_failure(self, error: ResearchError) -> None:
        """Save the question in memory, with the reason why it was not answered."""
        context = self._services.context
        if context.memory is not None:
            failed = self._services.report_builder.failed_report(error)
            failed.answer = ""
            await context.in_memory_thread(save_findings, context.memory, failed)

    def _checked(self, result: LoopResult, judge: ClaimJudge | None = None) -> Report:
        """Build the report of an answer, and record the verdict on each sentence."""
        services = self._services
        services.journal.write("answer.draft", text=result.text, limit=result.limit)
        report = services.report_builder.finished_report(result, judge)
        services.journal.write(
            "answer.verified",
            status=report.status,
            confidence=report.confidence,
            sentences=[sentence.model_dump(mode="json") for sentence in report.sentences],
        )
        return report

    def _finish(self, report: Report, jobs: BackgroundJobs | None = None) -> Report:
        """Write the event `run.finished` and the report file."""
        services = self._services
        if report.error is not None:  # some providers echo the rejected key
            report.error.message = services.redactor.text(report.error.message)
        # A copy, since the report builder keeps counting, and the model calls of post-run tasks are
        # not part of the answer.
        report.usage = report.usage.model_copy()
        after = asdict(jobs.notes) if jobs else None
        dumped = report.model_dump(mode="json")
        self._ended_ms = event_time_ms(
            services.journal.write("run.finished", report=dumped, after=after)
        )
        services.folder.write(services.folder.report, report.to_json().encode())
        # A finished run is not resumed, and its browser state contains logins.
        if report.status in FINAL_STATUSES:
            services.folder.browser_state.unlink(missing_ok=True)
        self._report = report.with_record(services.folder.path)
        return report


class StartedRun:
    """A run in its own task; its report is available before its post-run tasks are done.

    `start(on_event=…)` starts it. `on_event` is called with each event, in the event loop.
    """

    def __init__(
        self, start: Callable[..., Coroutine[Any, Any, Report]], on_event: Callable[[Event], None]
    ) -> None:
        loop = asyncio.get_running_loop()
        self._on_event = on_event
        self._answered: asyncio.Future[Report] = loop.create_future()
        # Events arrive on whichever thread writes to the record.
        run = start(on_event=lambda event: loop.call_soon_threadsafe(self._handle, event))
        self.task = loop.create_task(run)

    def _handle(self, event: Event) -> None:
        self._on_event(event)
        if event.type == "run.finished" and not self._answered.done():
            self._answered.set_result(Report(**event.data["report"]))

    async def report(self) -> Report:
        """Wait for the report; returns an empty one if `task` was cancelled before it was ready.

        Cancelling the call stops the run, which keeps its record and can be resumed.
        """
        try:
            await asyncio.wait({self.task, self._answered}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.task.cancel()
            await asyncio.wait([self.task])
            raise
        if self._answered.done():
            return self._answered.result()
        if self.task.cancelled():
            return Report(run="", question="", status="partial")
        return self.task.result()
