"""Running a question for a person or a pipe: progress, signals, what is printed at the end."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from agent.cli.ask import export_paths
from agent.cli.progress import progress_view
from agent.cli.render import print_report
from agent.cli.say import complain
from agent.config import options
from agent.journal import Runs
from agent.run import research
from agent.run.outcome import exit_code
from agent.types import Report

if TYPE_CHECKING:
    from pathlib import Path

    from agent.journal import Event


def ask_once(question: str, flags: dict[str, Any]) -> int:
    """Research a question, print what was asked for, and give the exit code."""
    output = _Output(flags)
    settings = options(flags, config=True)
    with progress_view(quiet=output.silent, verbose=output.verbose) as view:
        listeners = [view, *([_print_event] if output.events else [])]
        report, code = _run(question, flags, listeners)
    if report is None:
        return code
    folder = Runs(settings.data).find(report.run)
    output.show(report)
    output.write(folder.path)
    if code == 130:
        return code
    return exit_code(report, require_verified=settings.require_verified)


class _Output:
    """What is printed and written, by the flags; takes its own out of them."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self.json = flags.pop("as_json")
        self.events = flags.pop("as_events")
        self.quiet = flags.pop("quiet")
        self.verbose = flags.pop("verbose")
        self.exports = export_paths(flags.pop("export"))
        for name in [name for name, value in flags.items() if value in (None, ())]:
            del flags[name]

    @property
    def silent(self) -> bool:
        """Whether no progress is wanted."""
        return bool(self.quiet)

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


def _run(question: str, flags: dict[str, Any], listeners: list[Any]) -> tuple[Report | None, int]:
    """Run; an interrupt gives what is known so far and 130."""
    last: list[Report] = []

    def on_event(event: Event) -> None:
        for listener in listeners:
            listener(event)
        if event.type == "run.finished":
            last.append(Report(**event.data["report"]))

    try:
        report = asyncio.run(
            research(question, on_event=on_event, approve=_approve(), config=True, **flags)
        )
    except (KeyboardInterrupt, asyncio.CancelledError):
        return (last[0] if last else None), 130
    return report, 0


def _print_event(event: Event) -> None:
    print(event.to_json(), flush=True)


def _approve() -> Any:
    """Ask on the terminal; None where there is none."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None

    async def approve(effect: str) -> bool:
        def ask() -> str:
            print(f"\nThe agent wants to do this: {effect}. Allow? [y/N] ", end="", file=sys.stderr)
            return sys.stdin.readline()

        return (await asyncio.to_thread(ask)).strip().lower() in ("y", "yes")

    return approve
