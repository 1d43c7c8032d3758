"""Running a question for a person or a pipe: progress, signals, what is printed at the end."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agent.cli.ask import export_paths
from agent.cli.memory import dream_after
from agent.cli.person import approver, asker
from agent.cli.progress import progress_view
from agent.cli.render import print_report
from agent.cli.say import complain, print_preview
from agent.config import options
from agent.journal import Runs
from agent.run import research
from agent.run.outcome import exit_code
from agent.run.preview import preview
from agent.types import Report

if TYPE_CHECKING:
    from pathlib import Path

    from agent.journal import Event


INTERRUPTED = 130
_OUTPUT_FLAGS = ("as_json", "as_events", "quiet", "verbose", "export")
Start = Callable[..., Awaitable[Report]]
"""Begins a run, given `on_event` and the settings as keyword arguments."""


def ask_once(question: str, flags: dict[str, Any]) -> int:
    """Research a question, print what was asked for, and give the exit code."""

    def start(**settings: Any) -> Awaitable[Report]:
        return research(question, approve=approver(), ask=asker(flags), config=True, **settings)

    given = {name: value for name, value in flags.items() if name not in _OUTPUT_FLAGS}
    settings = options(_set(given), config=True)
    if settings.dry_run:
        print_preview(preview(question, settings, os.environ))
        return 0
    code = run_to_end(start, flags, settings.data, required=settings.require_verified)
    dream_after(code, settings, quiet=flags["quiet"])
    return code


def run_to_end(start: Start, flags: dict[str, Any], data: Path, *, required: bool) -> int:
    """Run with progress and signals, print and write what was asked for, give the exit code.

    `data` is the data folder; `required` says that an unverified answer is a failure.
    """
    output = _Output({name: flags[name] for name in _OUTPUT_FLAGS})
    settings = _set({name: value for name, value in flags.items() if name not in _OUTPUT_FLAGS})
    with progress_view(quiet=output.quiet, verbose=output.verbose) as view:
        listeners = [view, *([_print_event] if output.events else [])]
        report, code = _run(start, settings, listeners, output.show)
    if report is None:
        return code
    output.write(Runs(data).find(report.run).path)
    return code or exit_code(report, require_verified=required)


def _set(flags: dict[str, Any]) -> dict[str, Any]:
    """Leave out what was not given."""
    return {name: value for name, value in flags.items() if value not in (None, ())}


class _Output:
    """What is printed and written, by the flags; takes its own out of them."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self.json = flags["as_json"]
        self.events = flags["as_events"]
        self.quiet = flags["quiet"]
        self.verbose = flags["verbose"]
        self.exports = export_paths(flags["export"])

    def show(self, report: Report) -> None:
        """Print the report; a failure is said on stderr."""
        if self.json:
            print(report.to_json())
        elif not self.events:
            print_report(report)
        if report.error is not None:
            complain(report.error.message, report.error.hint)

    def write(self, folder: Path) -> None:
        """Write the exports."""
        if not self.exports:
            return
        from agent.export import export  # noqa: PLC0415 - only where something is exported

        for path in self.exports:
            export(folder, path)
            if not self.quiet:
                print(f"wrote {path}", file=sys.stderr)


def _run(
    start: Start, settings: dict[str, Any], listeners: list[Any], show: Callable[[Report], None]
) -> tuple[Report | None, int]:
    """Run; an interrupt gives what is known so far and 130.

    The report is shown as soon as it stands: the jobs after it keep nobody waiting.
    """
    last: list[Report] = []

    def on_event(event: Event) -> None:
        for listener in listeners:
            listener(event)
        if event.type == "run.finished":
            last.append(Report(**event.data["report"]))
            show(last[0])
            sys.stdout.flush()

    async def run() -> Report:
        return await start(on_event=on_event, **settings)

    try:
        return asyncio.run(run()), 0
    except (KeyboardInterrupt, asyncio.CancelledError):
        return (last[0] if last else None), INTERRUPTED


def _print_event(event: Event) -> None:
    print(event.to_json(), flush=True)
