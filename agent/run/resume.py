"""Starts runs from a record: resumes interrupted runs, or asks another model."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agent.config import file_settings, load_options
from agent.errors import UsageError
from agent.run.job_runner import JobRunner, PendingJobs
from agent.run.models import open_model
from agent.run.prior_run import PriorRun
from agent.run.record import RunRecord
from agent.run.research import run_question
from agent.run.services import Inputs
from agent.run.settings import memory_name, open_memory
from agent.types import FINAL_STATUSES, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from agent.journal.events import Event
    from agent.journal.runs import RunFolder
    from agent.loop.plan_approval import EditPlan
    from agent.models.base import Model
    from agent.options import Options
    from agent.tools.context import Approve, Ask, ToolContext
    from agent.tools.registry import Tool


SETTINGS_WITHOUT_ACCESS: Final = frozenset(
    "depth report site since lang region max_steps max_sources timeout budget".split()
)
"""Settings that do not give access to this machine: to files, hosts, proxies, browsers or memory.

A run on someone else's archive may access only what the user's own settings allow.
"""


async def resume_run(
    folder: RunFolder,
    *,
    section: str | None = None,
    edit_plan: EditPlan | None = None,
    **settings: Any,
) -> Report:
    """Resume the run in a folder, with the same settings and errors as `resume`.

    With `section`, research that section of its report again; see `research_section_again`.
    """
    if section is not None:  # its plan is the earlier report
        return await research_section_again(folder, section, **settings)
    return await resume(RunRecord.read(folder), edit_plan=edit_plan, **settings)


async def resume(
    record: RunRecord,
    *,
    data_dir: Path,
    on_event: Callable[[Event], None] | None = None,
    approve: Approve | None = None,
    ask: Ask | None = None,
    opened: Callable[[ToolContext], None] | None = None,
    tasks: Callable[[Options], Sequence[Tool]] | None = None,
    edit_plan: EditPlan | None = None,
    **flags: Any,
) -> Report:
    """Resume a run where it stopped; `flags` override its settings. Otherwise like `research`.

    If the run has a final answer, only its post-run tasks are run. Raises `UsageError` if the tasks
    are already done.
    """
    settings = {**record.options, "data_dir": data_dir, **flags}
    if record.report.get("status") in FINAL_STATUSES:
        return await _finish_jobs(record, settings, on_event)
    record.require_question()
    settings["schema"] = record.schema
    settings["session"] = record.started.get("session")
    # Settings of MCP servers may contain secrets, so they are not recorded.
    settings["mcp_servers"] = file_settings()[0].get("mcp_servers", {})
    if record.folder.browser_state.is_file():
        settings["storage_state"] = record.folder.browser_state
    # `ask` gives the model an additional tool. The tools must match the recorded ones, or its
    # requests would differ from the record.
    could_ask = record.started.get("user")
    inputs = Inputs(
        on_event=on_event,
        approve=approve,
        ask=(ask or _no_answer) if could_ask else None,
        config=True,
        prior=PriorRun(record),
        opened=opened,
        tasks=tasks,
        edit_plan=edit_plan,
    )
    return await run_question(record.question, load_options(settings), inputs)


async def _no_answer(_question: str) -> str:
    return ""


async def _finish_jobs(
    record: RunRecord, settings: dict[str, Any], on_event: Callable[[Event], None] | None
) -> Report:
    """Run the unfinished post-run tasks of a finished run, and return its report."""
    pending = PendingJobs.from_record(record)
    if record.end is None or (pending is None and record.folder.report.is_file()):
        hint = "`research show` shows it; `research replay` runs it again."
        raise UsageError(f"{record.folder.id} has already ended", hint=hint)
    report = Report.model_validate(record.report)
    record.folder.write(record.folder.report, report.to_json().encode())
    if on_event:
        on_event(record.end)
    if pending is not None:
        options = load_options(settings, config=True)
        async with AsyncExitStack() as stack:
            memory = await asyncio.to_thread(open_memory, options, os.environ)
            stack.callback(memory.close)
            model = await open_model(stack, options.model, options, os.environ)
            runner = JobRunner(memory, memory_name(options), model)
            await runner.finish_run(options.data, record, on_event)
    return report


async def research_section_again(
    folder: RunFolder,
    heading: str,
    *,
    data_dir: Path,
    model: str | Model | None = None,
    on_event: Callable[[Event], None] | None = None,
    approve: Approve | None = None,
    ask: Ask | None = None,
    opened: Callable[[ToolContext], None] | None = None,
    tasks: Callable[[Options], Sequence[Tool]] | None = None,
    run: str | None = None,
    **flags: Any,
) -> Report:
    """Research one section of a report again, in a new run that keeps the other sections.

    Only the section's pages are read, bypassing all caches; the summary and conclusion are
    rewritten. `flags` override settings of the earlier run. Raises `UsageError` if the section does
    not exist.
    """
    record = RunRecord.read(folder).require_question()
    wanted = heading.strip().casefold()
    written = record.sections
    kept = [one if one.heading.casefold() != wanted else replace(one, text="") for one in written]
    if kept == written:
        listed = "; ".join(one.heading for one in written)
        hint = f"Its sections: {listed}." if listed else "It has no sections."
        raise UsageError(f"{folder.id} has no section {heading!r}", hint=hint)
    settings = {
        **record.options,
        "schema": record.schema,
        "session": record.started.get("session"),
        "mcp_servers": file_settings()[0].get("mcp_servers", {}),
        "fresh": True,
        "data_dir": data_dir,
        **({"model": model} if isinstance(model, str) else {}),
        **flags,
    }
    inputs = Inputs(
        model=None if isinstance(model, str) else model,
        on_event=on_event,
        approve=approve,
        ask=ask,
        config=True,
        prior=PriorRun(record, resumed=False, sections=kept),
        opened=opened,
        tasks=tasks,
        run=run,
    )
    return await run_question(record.question, load_options(settings), inputs)


async def rerun_on_recorded_web(
    record: RunRecord,
    *,
    model: str | None,
    base_url: str | None = None,
    data_dir: Path | None = None,
    live: bool = False,
    trusted: bool = True,
) -> Report:
    """Ask another model the same question on the recorded web, in a new run; returns the report.

    With `live`, pages and searches that are missing from the record come from the live web. Unless
    the record is `trusted`, settings that give access to this machine are ignored.
    """
    record.require_question()
    options = record.options
    if not trusted:
        options = {name: options[name] for name in options.keys() & SETTINGS_WITHOUT_ACCESS}
    settings = {
        **options,
        "schema": record.schema,
        "model": model,
        "base_url": base_url,
        "data_dir": data_dir,
        "memory": False,
        "plan": False,
        "session": None,
        "continue_run": None,
    }
    inputs = Inputs(config=True, prior=PriorRun(record, resumed=False, live=live))
    return await run_question(record.question, load_options(settings), inputs)
