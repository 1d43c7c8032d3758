"""`research rerun`: repeats a recorded browser session, live and without a model.

The steps come from the record. Elements are found by role and name, never by a selector. If several
elements share both, the one whose row contains the words unique to the recorded row is used; if no
row contains them, the action is not performed. Each action is confirmed by comparing its outcome
with the recorded one. The rerun stops at the first difference and reports it; if a model is given,
it takes over there.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack

from agent.config import load_options
from agent.errors import RerunStopped, UsageError
from agent.evidence.answer import SourceList
from agent.guard.provenance import Kind
from agent.journal.events import MAIN
from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.run.recorded_session import (
    REFS,
    SessionStep,
    describe_act,
    describe_difference,
    find_element,
    new_dialog,
    normalise_line,
    session_steps,
    with_values,
)
from agent.run.research import Run, run_question
from agent.run.services import Inputs
from agent.run.takeover import take_over
from agent.run.web import open_web
from agent.tools.policy import Policy
from agent.tools.toolset import apply_tool_rules, available_tools
from agent.types import Sentence, ToolCall, VerdictState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AsyncExitStack

    from agent.config import Flags
    from agent.journal.events import Event
    from agent.models.base import Model
    from agent.run.models import ResolvedModel
    from agent.run.services import RunServices
    from agent.tools.context import ToolContext
    from agent.tools.toolset import ToolSelection
    from agent.types import Observation, Report

KEPT_SETTINGS: Final = (
    "allow deny allow_private proxy ignore_robots headed storage_state file timeout".split()
)
"""Settings of the recorded run that are reused. Approvals are not reused: they must be given again.
"""


async def rerun(
    name: str,
    *,
    values: Mapping[str, str] | None = None,
    model: str | Model | None = None,
    on_event: Callable[[Event], None] | None = None,
    approve: Callable[[str], Awaitable[bool | str | None]] | None = None,
    config: bool = False,
    **flags: Unpack[Flags],
) -> Report:
    """Repeat the browser session of a run; `values` replace recorded entries.

    The keys of `values` are field names or the recorded entries. `model` takes over from the first
    step that differs; without one, the rerun stops there. Takes the flags of `research`. Raises
    `UsageError` if the run does not exist or has no browser session, or if a key matches no entry.
    """
    own_model = None if isinstance(model, str) else model
    arguments: dict[str, Any] = {**flags, "memory": False, "model": "extractive"}
    if isinstance(model, str):
        arguments["model"] = model
    folder = Runs(load_options(arguments, config=config).data).find(name)
    record = RunRecord.read(folder)
    steps = with_values(session_steps(record), values or {})
    if not steps:
        hint = "Only browser actions (OPEN, CLICK, TYPE, …) can be repeated."
        raise UsageError(f"{folder.id} has no browser actions", hint=hint)
    kept = {key: record.options[key] for key in KEPT_SETTINGS if record.options.get(key)}
    options = load_options(
        {**kept, **{k: v for k, v in arguments.items() if v is not None}}, config=config
    )
    inputs = Inputs(model=own_model, on_event=on_event, approve=approve, config=config)
    make = partial(
        Rerun,
        steps=steps,
        question=record.question,
        values=values or {},
        takes_over=model not in (None, "extractive"),
    )
    return await run_question(f"Rerun of {folder.id}: {record.question}", options, inputs, make)


class Rerun(Run):
    """The rerun of one session. It acts through a run's tools, so the same rules apply.

    `takes_over` means that the model continues from the first step that differs from the record.
    """

    def __init__(
        self,
        services: RunServices,
        model: ResolvedModel,
        steps: Sequence[SessionStep],
        question: str,
        values: Mapping[str, str],
        *,
        takes_over: bool = False,
    ) -> None:
        super().__init__(services, model)
        services.evidence.question = ""
        for text in (question, *values.values()):  # written by the user
            services.context.provenance.add(text, Kind.USER)
        self._steps, self._question, self._takes_over = steps, question, takes_over
        self._changed = [
            (step.recorded_value, step.new_value)
            for step in steps
            if step.recorded_value != step.new_value
        ]
        self._sentences: list[Sentence] = []
        self._sources = SourceList()

    async def _answer(self, stack: AsyncExitStack) -> Report:
        services = self._services
        name = self._model.name if self._takes_over else ""
        services.write_start(name, services.folder.id, work="rerun")
        opened = open_web(services.options, services.environ, services.record, services.question)
        context = services.context
        context.web = await stack.enter_async_context(opened)
        tools = apply_tool_rules(available_tools(context), services.options)
        calls = Policy(tools.registry(), context)
        try:
            for number, step in enumerate(self._steps, 1):
                await self._perform_step(calls, context, step, number)
        except RerunStopped as stopped:
            if self._takes_over:
                return self._finish(self._with_steps(await self._continue(stack, tools, stopped)))
            report = services.report_builder.failed_report(stopped)
            return self._finish(self._with_steps(report))
        return self._finish(self._with_steps(services.report_builder.new_report("answered")))

    async def _perform_step(
        self, calls: Policy, context: ToolContext, step: SessionStep, number: int
    ) -> None:
        """Perform one step and confirm its outcome; raises `RerunStopped`."""
        where = f"step {number} of {len(self._steps)} ({step.describe()})"
        fields, before = dict(step.fields), frozenset[str]()
        if context.web is not None and context.web.tab is not None:
            view = await context.web.tab.driver.look()
            if dialog := new_dialog(view, step):
                raise RerunStopped(f"{where}: a dialog covers the page: “{dialog}”")
            before = frozenset(normalise_line(line.text) for line in view.lines)
            for key in REFS:
                if key in fields:
                    fields[key] = find_element(view, step, key, where)
        elif step.element:
            raise RerunStopped(f"{where}: no page is open")
        call = ToolCall(step.call.name, json.dumps(fields, ensure_ascii=False))
        place = f"{MAIN}/{number}/1"
        result = (await calls.run(call, place))()
        if differs := describe_difference(step, result, before, self._changed):
            raise RerunStopped(f"{where}: {differs}")
        did = describe_act(result, result.url)
        source = self._services.evidence.source(_number(result))
        cited = [self._sources.add(source).n] if source else []
        self._sentences.append(
            Sentence(
                text=f"{number}. {did}",
                citations=cited,
                verdict=VerdictState.DONE,
                reason="its outcome matches the record",
                step=place,
            )
        )

    async def _continue(
        self, stack: AsyncExitStack, tools: ToolSelection, stopped: RerunStopped
    ) -> Report:
        """Have the model finish the session; its answer is checked as usual."""
        done = [one.text for one in self._sentences]
        result, judge = await take_over(
            self._services,
            self._model,
            stack,
            tools,
            question=self._question,
            done=done,
            why=str(stopped),
            remaining=[step.describe_with_new_value() for step in self._steps[len(done) :]],
        )
        return self._checked(result, judge)

    def _with_steps(self, report: Report) -> Report:
        """Prepend the repeated steps to the answer, with their sources."""
        numbers: dict[int, int] = {}
        for source in self._sources:
            known = (
                s.n for s in report.sources if (s.url, s.sha256) == (source.url, source.sha256)
            )
            numbers[source.n] = next(known, len(report.sources) + 1)
            if numbers[source.n] > len(report.sources):
                report.sources.append(source.model_copy(update={"n": numbers[source.n]}))
        steps = [
            one.model_copy(update={"citations": [numbers[n] for n in one.citations]})
            for one in self._sentences
        ]
        lines = [f"{s.text} {''.join(f'[{n}]' for n in s.citations)}".rstrip() for s in steps]
        taken_over = report.answer if report.error is None else ""
        report.answer = "\n\n".join(filter(None, ["\n".join(lines), taken_over]))
        report.sentences = [*steps, *(report.sentences if taken_over else [])]
        report.confidence = None
        return report


def _number(result: Observation) -> int:
    name = str(result.get("source") or "")
    return int(name[1:]) if name[1:].isdecimal() else 0
