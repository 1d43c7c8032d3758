"""`research ask` and `research resume`: research a question from the shell."""

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
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import (
    OUTPUT_FLAGS,
    Option,
    data_dir_option,
    drop_unset,
    given_settings,
    option,
    output_flags,
    run_flags,
    setting_flag,
)
from agent.cli.help_screen import EXAMPLES, SectionedCommand
from agent.cli.progress import progress_view
from agent.cli.render import export_paths, print_report, write_exports
from agent.cli.stores import check_task_targets, task_tools
from agent.cli.terminal import approver, asker, note, plan_editor, print_error
from agent.config import load_options, read_template
from agent.errors import UsageError
from agent.journal.runs import Runs
from agent.models.providers import EXTRACTIVE, default_model
from agent.run.outcome import exit_code
from agent.run.research import research
from agent.types import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agent.journal.events import Event
    from agent.options import Options

INTERRUPTED = 130  # the exit code that shells use for Ctrl-C
MAX_CONSOLIDATION_S = 2.0
"""Maximum seconds for consolidation between the answer and the next shell prompt."""
_COMPLETED_EXIT_CODES = frozenset({0, 3, 4, 5})
"""Exit codes of runs that completed and may have left memories."""
# `last`, or the beginning of an id such as 20261121-054512-k3f9.
_RUN_ID_RE = re.compile(r"last|\d{4,8}(-\d{0,6}(-\w{0,4})?)?")
StartRun = Callable[..., Awaitable[Report]]
"""Starts a run; takes `on_event` and the settings as keyword arguments."""
OnReport = Callable[[Report], None]
_TEMPLATE, _TEMPLATE_SETTINGS = "urchin.template", "urchin.template-settings"
"""Keys in the click context for the template's question and settings."""


def _apply_template(ctx: click.Context, _: click.Parameter, name: str | None) -> None:
    """Read a template's question and options; flags and environment variables override them."""
    if not name or ctx.resilient_parsing:
        return
    values = read_template(name)
    ctx.meta[_TEMPLATE] = str(values.pop("question", ""))
    ctx.default_map = {"export": values.pop("export", None)}
    ctx.meta[_TEMPLATE_SETTINGS] = values


template_option: Option = option(
    ("-t", "--template"),
    "NAME",
    "Use the question and options saved in templates/NAME.toml, next to the settings file.",
    is_eager=True,  # processed before the options whose defaults it changes
    expose_value=False,
    callback=_apply_template,
)


def _fill_template(question: str) -> str:
    """Insert the question at `{input}` in the template, or append it."""
    template = click.get_current_context().meta.get(_TEMPLATE, "")
    if "{input}" not in template:
        return f"{template} {question}".strip()
    if not question.strip():
        raise UsageError(
            f"the template {template!r} needs text to replace {{input}}",
            hint='Pass the text after the name: `research -t NAME "…"`.',
        )
    return str(template.replace("{input}", question))


@click.command(cls=SectionedCommand, epilog=EXAMPLES)
@click.argument("question", nargs=-1)
@template_option
@run_flags()
@output_flags
def ask(question: tuple[str, ...], **flags: Any) -> int:
    """Research QUESTION.

    `-` reads the question from stdin; otherwise, piped stdin is used as context, like --file.
    """
    of_template = click.get_current_context().meta.get(_TEMPLATE_SETTINGS, {})
    flags |= {**of_template, **given_settings(flags)}
    after_continue = flags["continue_run"]
    if after_continue and not _RUN_ID_RE.fullmatch(after_continue):
        # `-c "And then?"`: the word after -c is the start of the question, not a run id.
        flags["continue_run"] = ""
        question = (after_continue, *question)
    text = " ".join(question).strip()
    with nullcontext() if text == "-" else piped_file() as piped:
        text = _fill_template(sys.stdin.read().strip() if text == "-" else text)
        if not text:
            raise click.UsageError("The question is empty.")
        if piped is not None:
            flags["file"] = (*flags["file"], piped)
        return ask_once(text, flags)


@click.command()
@click.argument("run", default="last")
@setting_flag("max_steps", "Maximum number of steps, including those already taken.")
@setting_flag("budget", "Maximum cost for the rest of the run, in dollars.")
@setting_flag("timeout", "Maximum duration for the rest of the run.")
@option("--section", "HEADING", "Redo this section of a finished report in a new run.")
@data_dir_option
@output_flags
def resume(run: str, section: str | None, data_dir: Path, **flags: Any) -> int:
    """Resume RUN after a crash, Ctrl-C, a reboot or an exhausted budget."""
    from agent.run.resume import resume_run  # noqa: PLC0415 - new runs do not need it

    folder = Runs(data_dir).find(run)
    data = folder.path.parent.parent
    required = load_options(
        drop_unset({"require_verified": flags.pop("require_verified")}), config=True
    ).require_verified
    start = partial(
        resume_run,
        folder,
        section=section,
        data_dir=data,
        approve=approver() if section else None,
        ask=asker(flags),
        tasks=task_tools,
        edit_plan=plan_editor(),
    )
    return run_to_end(start, flags, data, required=required)


def ask_once(question: str, flags: dict[str, Any], on_report: OnReport | None = None) -> int:
    """Research a question, print the output that the flags request, and return the exit code.

    `on_report` is called with the report, even if the run was stopped.
    """
    settings = load_options(_run_settings(flags), config=True)
    if settings.dry_run:
        from agent.run.preview import preview  # noqa: PLC0415 - a run does not need it

        print(preview(question, settings, os.environ))
        return 0
    if settings.allow_tasks:
        check_task_targets(settings)
    model = _first_choice(settings, flags)
    if model:
        flags = {**flags, "model": model}
        settings = replace(settings, model=model)
    _warn_flags_need_model(settings)
    start = partial(
        research,
        question,
        approve=approver(),
        ask=asker(flags),
        edit_plan=plan_editor(),
        tasks=task_tools,
        config=True,
    )
    code = run_to_end(
        start, flags, settings.data, required=settings.require_verified, on_report=on_report
    )
    if code in _COMPLETED_EXIT_CODES and not (flags["quiet"] or _is_set_up(settings)):
        _note_no_model()
    consolidate_after_run(code, settings, quiet=flags["quiet"])
    return code


@cache
def _note_no_model() -> None:
    """If the user cannot be asked, print a one-time note that no language model is set up."""
    note(
        "No language model is set up, so the answer only quotes passages.",
        "`research models` lists the models and how to set one up.",
    )


def _is_set_up(settings: Options) -> bool:
    """Return whether a model is set explicitly or implied by an API key."""
    return bool(settings.model or settings.base_url or default_model(os.environ))


def _first_choice(settings: Options, flags: Mapping[str, Any]) -> str | None:
    """If no model is set up and there is a terminal, ask once which model should answer."""
    if _is_set_up(settings) or asker(dict(flags)) is None:
        return None
    from agent.cli import model_commands  # noqa: PLC0415 - until a model is chosen

    return model_commands.ask_first_choice(
        settings.data,
        lambda text: str(
            click.prompt(text, default="", show_default=False, prompt_suffix="> ", err=True)
        ),
    )


def _warn_flags_need_model(settings: Options) -> None:
    """Before a run without a language model, warn about flags that need one."""
    if settings.model or settings.base_url:
        extractive = settings.model == EXTRACTIVE
    else:
        extractive = default_model(os.environ) is None
    if extractive and settings.report:
        note(
            "Without a language model, a report only quotes one or two sentences: it has no "
            "sections, summaries or comparisons.",
            "Store a key with `research keys set NAME`, or choose a model with --model.",
        )
    if extractive and settings.instruction:
        note("Without a language model, the instruction (-s) is ignored.")


def consolidate_after_run(code: int, settings: Options, *, quiet: bool) -> None:
    """Consolidate memory after a run if consolidation is due; never with `-q` or in CI."""
    if quiet or os.environ.get("CI") or not settings.memory or code not in _COMPLETED_EXIT_CODES:
        return
    from agent.memory import consolidation  # noqa: PLC0415 - a run without memory does not load it
    from agent.memory.memory_api import Memory  # noqa: PLC0415 - as above

    with Memory.open(settings.memory_location, settings.namespace) as memory:
        if consolidation.is_due(memory.entries):
            consolidation.consolidate(memory.entries, MAX_CONSOLIDATION_S)


def run_to_end(
    start: StartRun,
    flags: dict[str, Any],
    data: Path,
    *,
    required: bool,
    on_report: OnReport | None = None,
) -> int:
    """Run with progress and signal handling, write the output, and return the exit code.

    `data` is the data folder. If `required`, an unverified answer counts as a failure.
    """
    output, code = _Output(flags), 0

    async def run() -> None:
        await start(on_event=output.note, **_run_settings(flags))

    with progress_view(quiet=flags["quiet"], verbose=flags["verbose"]) as output.progress:
        try:
            asyncio.run(run())
        except (KeyboardInterrupt, asyncio.CancelledError):
            code = INTERRUPTED
    report = output.report
    if report is None:
        return code
    if on_report is not None:
        on_report(report)
    report_file = (lambda _: None) if flags["quiet"] else note
    write_exports(Runs(data).find(report.run).path, output.exports, report_file)
    return code or exit_code(report, require_verified=required)


def _run_settings(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags that configure the run itself rather than its output."""
    return drop_unset({name: value for name, value in flags.items() if name not in OUTPUT_FLAGS})


class _Output:
    """Prints a run's output according to the flags.

    The `report` is shown as soon as it is ready, before the post-run tasks. `report` is None if the
    run was stopped before there was a report.
    """

    progress: Callable[[Event], None]

    def __init__(self, flags: dict[str, Any]) -> None:
        if flags["as_json"] and flags["as_events"]:
            raise click.UsageError(
                "--json and --events both write to standard output. Use only one of them."
            )
        self._flags = flags
        self._limit: str | None = None
        self._no_browser: tuple[str, str] | None = None
        self.exports = export_paths(flags["export"])
        self.report: Report | None = None

    def note(self, event: Event) -> None:
        """Show an event; messages that belong after the report are held back until it is shown."""
        self.progress(event)
        if self._flags["as_events"]:
            print(event.to_json(), flush=True)
        if event.type == "browser.missing":
            self._no_browser = (
                f"{event.data['reason']}, but a page needed a browser",
                event.data["hint"],
            )
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
            print_error(report.error.message, report.error.hint)
        if self._no_browser and not self._flags["quiet"]:
            print_error(*self._no_browser)
        sys.stdout.flush()


_FIRST_WAIT_S, _FURTHER_WAIT_S = 1.0, 9.0
"""Seconds to wait for the first byte: before a notice is shown, and after it."""


@contextmanager
def piped_file() -> Iterator[Path | None]:
    """Save standard input in a temporary file while the block runs; yield None if it is empty.

    Pipes, sockets and files are read to the end, but terminals and /dev/null are not read. A pipe
    that sends nothing for ten seconds is ignored, and a notice is printed.
    """
    body = _read_stdin()
    if not body.strip():
        yield None
        return
    head = body[:200].lstrip().lower()
    ending = ".txt"
    if head.startswith(b"%pdf-"):
        ending = ".pdf"
    elif head.startswith((b"<!doctype html", b"<html")):
        ending = ".html"
    with tempfile.TemporaryDirectory(prefix="research-") as folder:
        path = Path(folder) / f"standard-input{ending}"
        path.write_bytes(body)
        yield path


def _read_stdin() -> bytes:
    try:
        handle = sys.stdin.fileno()
        mode = os.fstat(handle).st_mode
    except (AttributeError, OSError, ValueError):  # closed by the caller (`<&-`)
        return b""
    is_stream = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    if stat.S_ISREG(mode) or (is_stream and _wait_for_input(handle)):
        return sys.stdin.buffer.read()
    return b""


def _wait_for_input(handle: int) -> bool:
    """Wait for the first byte or the end of input; on Windows, pipes are read without waiting."""
    if sys.platform == "win32" or select.select([handle], [], [], _FIRST_WAIT_S)[0]:
        return True
    note("Waiting for standard input. Add `< /dev/null` if there is none.")
    if select.select([handle], [], [], _FURTHER_WAIT_S)[0]:
        return True
    note("No data on standard input; continuing without it.")
    return False
