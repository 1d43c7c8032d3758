"""`research ask` and `research resume`: a question from the shell, with what is piped to it."""

from __future__ import annotations

import asyncio
import os
import re
import select
import stat
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import data_dir_option, given, output_flags, run_flags
from agent.cli.help_screen import EXAMPLES, SectionedCommand
from agent.cli.progress import progress_view
from agent.cli.render import export_paths, print_report, write_exports
from agent.cli.stores import all_runs, check_tasks, tasks_of
from agent.cli.terminal import approver, asker, complain, note, print_preview, say_what_rules_cannot
from agent.config import Options, config_path, load_options, read_file
from agent.errors import UsageError
from agent.run.outcome import exit_code
from agent.run.preview import preview
from agent.run.research import research
from agent.run.resume import resume_run
from agent.types import Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.journal.events import Event


_QUESTION = "urchin.template"
"""The question of a template: `templates/NAME.toml`, in the folder of the settings file, holds one
(`{input}` takes what is typed, which else comes after it) and options."""


def template_option(function: Any) -> Any:
    """Add `-t`: it is read before the other options, and stands below them and the environment."""
    add = click.option(
        "-t",
        "--template",
        metavar="NAME",
        is_eager=True,
        expose_value=False,
        callback=_take,
        help="A saved question with options: templates/NAME.toml beside the settings file.",
    )
    return add(function)


def filled(question: str) -> str:
    """Put the question into the template that was named, if one was."""
    template = click.get_current_context().meta.get(_QUESTION, "")
    if "{input}" in template and not question.strip():
        raise UsageError(
            f"the template asks {template!r} and wants words in the place of {{input}}",
            hint='Give them behind it: `research -t NAME "…"`.',
        )
    if "{input}" in template:
        return str(template.replace("{input}", question))
    return f"{template} {question}".strip()


def _take(ctx: click.Context, _: click.Parameter, name: str | None) -> None:
    if not name or ctx.resilient_parsing:
        return
    folder = config_path().parent / "templates"
    values = read_file(_file(folder, name))
    ctx.meta[_QUESTION] = str(values.pop("question", ""))
    known = {field.alias or key for key, field in Options.model_fields.items()} | {"export"}
    if unknown := sorted(values.keys() - known):
        raise UsageError(
            f"the template {name} has no such option: {unknown[0]}",
            hint="It takes `question` and the options of `research ask --help`.",
        )
    load_options({key: value for key, value in values.items() if key != "export"})
    ctx.default_map = {**(ctx.default_map or {}), **values}


def _file(folder: Path, name: str) -> Path:
    found = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    if name not in found:
        there = ", ".join(found) or "none yet"
        raise UsageError(f"no template {name!r} in {folder}", hint=f"There are: {there}.")
    return found[name]


_RUN = re.compile(r"last|\d{4,8}(-\d{0,6}(-\w{0,4})?)?")


@click.command(cls=SectionedCommand, epilog=EXAMPLES)
@click.argument("question", nargs=-1)
@template_option
@run_flags
@output_flags
def ask(question: tuple[str, ...], **flags: Any) -> int:
    """Research QUESTION; `-` reads it from standard input, which else is context, as --file is."""
    asked = " ".join(_without_run(question, flags)).strip()
    with nullcontext() if asked == "-" else piped_file() as piped:
        asked = filled(sys.stdin.read().strip() if asked == "-" else asked)
        if not asked:
            raise click.UsageError("The question is empty.")
        if piped is not None:
            flags["file"] = (*flags["file"], piped)
        return ask_once(asked, flags)


def _without_run(question: tuple[str, ...], flags: dict[str, Any]) -> tuple[str, ...]:
    """Give `-c` its run and the question its words: `-c "And then?"` names no run."""
    named = flags["continue_run"]
    if not named or _RUN.fullmatch(named):
        return question
    flags["continue_run"] = ""
    return (named, *question)


INTERRUPTED = 130
SECONDS = 2.0  # what a person does not mind between the answer and the prompt
_RUN_ENDED = frozenset({0, 3, 4, 5})
"""Exit codes of runs that came to an end and may have left something."""
_OUTPUT_FLAGS = ("as_json", "as_events", "quiet", "verbose", "export")
Start = Callable[..., Awaitable[Report]]
"""Begins a run, given `on_event` and the settings as keyword arguments."""


def ask_once(
    question: str, flags: dict[str, Any], seen: Callable[[Report], None] | None = None
) -> int:
    """Research a question, print what was asked for, and give the exit code.

    `seen` is handed the report, also that of a run that was stopped.
    """
    settings = load_options(_settings(flags), config=True)
    if settings.dry_run:
        print_preview(preview(question, settings, os.environ))
        return 0
    if settings.allow_tasks:
        check_tasks(settings)
    say_what_rules_cannot(settings)
    start = partial(
        research,
        question,
        approve=approver(),
        ask=asker(flags),
        tasks=tasks_of,
        config=True,
    )
    code = run_to_end(start, flags, settings.data, required=settings.require_verified, seen=seen)
    dream_after(code, settings, quiet=flags["quiet"])
    return code


def dream_after(code: int, settings: Options, *, quiet: bool) -> None:
    """Consolidate after a run, if it is due; never for a pipe (`-q`), nor in CI."""
    if quiet or os.environ.get("CI") or not settings.memory or code not in _RUN_ENDED:
        return
    from agent.memory.memory_api import Memory  # noqa: PLC0415 - a run without memory does not load it

    with Memory.open(settings.memory_place, settings.namespace) as memory:
        if memory.consolidation_due():
            memory.consolidate(SECONDS)


def run_to_end(
    start: Start,
    flags: dict[str, Any],
    data: Path,
    *,
    required: bool,
    seen: Callable[[Report], None] | None = None,
) -> int:
    """Run with progress and signals, print and write what was asked for, give the exit code.

    `data` is the data folder; `required` says that an unverified answer is a failure.
    """
    output, code = _Output(flags), 0

    async def run() -> None:
        await start(on_event=output.note, **_settings(flags))

    with progress_view(quiet=flags["quiet"], verbose=flags["verbose"]) as output.progress:
        try:
            asyncio.run(run())
        except (KeyboardInterrupt, asyncio.CancelledError):
            code = INTERRUPTED
    report = output.report
    if report is None:
        return code
    if seen is not None:
        seen(report)
    output.write(all_runs(data).find(report.run).path)
    return code or exit_code(report, require_verified=required)


def _settings(flags: dict[str, Any]) -> dict[str, Any]:
    """Give the flags that are of the run, not of what is printed."""
    return given({name: value for name, value in flags.items() if name not in _OUTPUT_FLAGS})


class _Output:
    """What is printed and written of a run, by the flags.

    The `report` is shown as soon as it stands: the jobs after it keep nobody waiting. It is None
    where the run was stopped before there was one.
    """

    progress: Callable[[Event], None]

    def __init__(self, flags: dict[str, Any]) -> None:
        if flags["as_json"] and flags["as_events"]:
            raise click.UsageError("--json and --events both want standard output; give one.")
        self._flags = flags
        self._exports = export_paths(flags["export"])
        self._limit: str | None = None
        self._missing: tuple[str, str] | None = None
        self.report: Report | None = None

    def note(self, event: Event) -> None:
        """Show an event, and keep in mind what is told with the report."""
        self.progress(event)
        if self._flags["as_events"]:
            print(event.to_json(), flush=True)
        if event.type == "browser.missing":
            self._missing = f"{event.data['reason']}, and a page needed one", event.data["hint"]
        elif event.type == "answer.draft":
            self._limit = event.data["limit"]
        elif event.type == "run.finished":
            self.report = Report(**event.data["report"])
            self._show(self.report)

    def _show(self, report: Report) -> None:
        if self._flags["as_json"]:
            print(report.to_json())
        elif not self._flags["as_events"]:
            print_report(report, self._limit)
        if report.error is not None:
            complain(report.error.message, report.error.hint)
        if self._missing and not self._flags["quiet"]:
            complain(*self._missing)
        sys.stdout.flush()

    def write(self, folder: Path) -> None:
        """Write the exports."""
        write_exports(folder, self._exports, (lambda _: None) if self._flags["quiet"] else note)


_SOON, _PATIENCE = 1.0, 9.0
"""Seconds for the first byte to come: before it is said that it is waited for, and after that."""


@contextmanager
def piped_file() -> Iterator[Path | None]:
    """Give what comes on standard input as a file that lasts as long as the block, or None.

    Read are pipes, sockets and files, to their end; terminals and /dev/null hold nothing. A pipe
    whose writer says nothing for ten seconds is left alone, which is said.
    """
    body = _read()
    if not body.strip():
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="research-") as folder:
        path = Path(folder) / f"standard-input{_ending(body)}"
        path.write_bytes(body)
        yield path


def _read() -> bytes:
    try:
        handle = sys.stdin.fileno()
        mode = os.fstat(handle).st_mode
    except (AttributeError, OSError, ValueError):  # closed by the caller (`<&-`)
        return b""
    if stat.S_ISREG(mode) or (_is_stream(mode) and _speaks(handle)):
        return sys.stdin.buffer.read()
    return b""


def _is_stream(mode: int) -> bool:
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _speaks(handle: int) -> bool:
    """Wait for the first byte, or the end; Windows cannot wait for a pipe and reads at once."""
    if sys.platform == "win32" or select.select([handle], [], [], _SOON)[0]:
        return True
    note("Waiting for standard input; `< /dev/null` says that there is none.")
    if select.select([handle], [], [], _PATIENCE)[0]:
        return True
    note("Nothing came on standard input; going on without it.")
    return False


def _ending(body: bytes) -> str:
    """Tell the kinds that are not read as plain text by how they begin."""
    head = body[:200].lstrip().lower()
    if head.startswith(b"%pdf-"):
        return ".pdf"
    return ".html" if head.startswith((b"<!doctype html", b"<html")) else ".txt"


@click.command()
@click.argument("run", default="last")
@click.option("--max-steps", type=int, metavar="N", help="Steps at most, those on record included.")
@click.option("--budget", type=float, metavar="USD", help="Dollars at most from here on.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Seconds at most from here on.")
@data_dir_option
@output_flags
def resume(run: str, data_dir: Path | None, **flags: Any) -> int:
    """Go on with RUN where it stopped: after a crash, Ctrl-C, a reboot or a spent budget."""
    folder = all_runs(data_dir).find(run)
    data = folder.path.parent.parent
    required = bool(flags.pop("require_verified"))
    start = partial(resume_run, folder, data_dir=data, ask=asker(flags), tasks=tasks_of)
    return run_to_end(start, flags, data, required=required)
