"""`research runs`, `show`, `export`, `usage` and `feedback`: commands for past runs."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from itertools import islice
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import (
    DAYS,
    PATH,
    ListingGroup,
    calendars_option,
    complete_option,
    data_dir_option,
    json_option,
    number_option,
    option,
    require_stamper,
    switch,
)
from agent.cli.render import export_paths, print_report, write_exports
from agent.cli.stores import load_remaining_budget
from agent.cli.terminal import print_error, print_json, print_rows, print_text
from agent.config import load_options
from agent.export import timestamps
from agent.export.event_lines import event_lines
from agent.export.finished_run import is_in_progress, report_of
from agent.export.run_archive import open_run
from agent.journal.events import read_events
from agent.journal.runs import Runs
from agent.journal.usage import total
from agent.journal.usage import usage as usage_lines
from agent.run.conversation_jobs import feedback as score_skills
from agent.types import Report, format_usd
from browser.text.words import clean, shorten

if TYPE_CHECKING:
    from pathlib import Path

    from agent.journal.runs import RunFolder


@click.group(cls=ListingGroup, invoke_without_command=True)
@number_option(20, "Maximum number of runs.")
@json_option
@data_dir_option
@click.pass_context
def runs(ctx: click.Context, number: int, data_dir: Path, *, as_json: bool) -> None:
    """List runs, newest first."""
    ctx.obj = Runs(data_dir)
    if ctx.invoked_subcommand is None:
        rows = [_row(folder) for folder in islice(ctx.obj, number)]
        print_rows(rows, _format, as_json=as_json)


def _row(folder: RunFolder) -> dict[str, Any]:
    row = {"run": folder.id, "status": "cut off", "confidence": None, "question": ""}
    try:
        report = Report.model_validate_json(folder.report.read_bytes())
    except FileNotFoundError:
        return {**row, "status": "running"} if folder.is_running else row
    shown = {*row, "standing", "doubt", "elapsed_s", "usage"}
    return {**report.model_dump(mode="json", include=shown), "badge": report.badge}


def _format(row: dict[str, Any]) -> str:
    question = shorten(clean(row["question"]), 70)
    is_rated = row["status"] in {"answered", "partial"} and row["confidence"] is not None
    confidence = f"{row['confidence']:.2f}" if is_rated else "  – "
    doubt = "?" if row.get("doubt") else " "
    shown = row.get("badge", row["status"])
    line = f"{row['run']}  {shown:<22}  {confidence}{doubt} {question}".rstrip()
    return line[: get_terminal_size().columns] if sys.stdout.isatty() else line


@runs.command()
@click.argument("names", nargs=-1)
@option("--keep", "DAYS", "Delete all runs older than DAYS.", type=DAYS)
@click.pass_obj
def rm(store: Runs, names: tuple[str, ...], keep: int | None) -> None:
    """Delete runs by id, or all runs older than --keep DAYS."""
    if not names and keep is None:
        raise click.UsageError("Specify run ids, or use --keep DAYS.")
    for name in names:
        run = store.find(name)
        store.remove(run)
        print(f"removed {run.id}")
    if keep is not None:
        for removed in store.remove_older(timedelta(days=keep), datetime.now(UTC)):
            print(f"removed {removed}")


@runs.command()
@click.argument("name", metavar="RUN")
@option("--authority", "URL", "URL of the timestamping authority (RFC 3161).")
@calendars_option
@complete_option
@click.pass_obj
def seal(
    store: Runs, /, name: str, authority: str | None, calendars: tuple[str, ...], *, complete: bool
) -> None:
    """Timestamp a run, so that `research verify` can show that it existed at that time.

    The timestamping service sees only a hash. OpenTimestamps needs a few hours to issue a proof;
    fetch it later with --complete.
    """
    require_stamper(authority, calendars, complete=complete)
    folder = store.find(name)
    proxy = load_options({}, config=True).proxy
    missing: tuple[str, ...] = ()
    if authority:
        head = timestamps.seal(folder, authority, proxy=proxy)
        print_text(f"{folder.id} was timestamped by {authority}\nhead {head}")
    if complete:
        missing = timestamps.complete(folder, calendars, proxy=proxy)
        print(f"{folder.id}: {'still pending' if missing else 'the proof is complete'}")
    elif calendars:
        missing = timestamps.submit_to_calendars(folder, calendars, proxy=proxy)
        print(f"{folder.id} was submitted; use --complete in a few hours")
    for reason in missing:
        print_error(reason)


@click.command()
@click.argument("run", default="last", metavar="RUN|FILE.zip")
@switch(("--json", "as_json"), "Print the report as JSON.")
@switch("--steps", "Also show every step.")
@data_dir_option
def show(run: str, data_dir: Path, *, as_json: bool, steps: bool) -> None:
    """Show the answer and sources of a run or archive; with --steps, also the steps."""
    with open_run(run, Runs(data_dir)) as folder:
        running = is_in_progress(folder)
        report, events = report_of(folder), list(read_events(folder.journal))
    if as_json:
        state = {"run": report.run, "question": report.question, "status": "running"}
        print(json.dumps(state, ensure_ascii=False) if running else report.to_json())
        return
    print_text(f"# {report.question}\n")
    if steps:
        for event in events:
            for line in event_lines(event, verbose=2):
                print(f"{event.place:>8}  {line}")
        print()
    if running:
        print(f"{report.run} is still running; `research show` prints its report when it is done.")
        return
    limits = [event.data["limit"] for event in events if event.type == "answer.draft"]
    print_report(report, limits[-1] if limits else None)
    if report.error is not None:
        print_error(f"the run failed: {report.error.message}", report.error.hint)


@click.command()
@click.argument("run", metavar="RUN|FILE.zip")
@click.argument("files", nargs=-1, required=True, type=PATH)
@option("--sentence", "N", "Export the proof of sentence N (from 1) as a .zip.", type=int)
@option(
    "--authority", "URL", "With --sentence, timestamp the proof with this authority (RFC 3161)."
)
@data_dir_option
def export(
    run: str, files: tuple[Path, ...], sentence: int | None, authority: str | None, data_dir: Path
) -> int:
    """Export a run or archive to FILES. The file extension determines the format."""
    if authority and sentence is None:
        raise click.UsageError(
            "--authority requires --sentence; `runs seal` timestamps an entire run."
        )
    with open_run(run, Runs(data_dir)) as folder:
        if sentence is None:
            return write_exports(folder.path, export_paths(files), print)
        if any(path.suffix.lower() != ".zip" for path in files):
            raise click.BadParameter("a sentence's proof must be a .zip file")
        from agent.export.sentence_proof import export_proof  # noqa: PLC0415 - rarely needed

        proxy = load_options({}, config=True).proxy
        for path in export_paths(files):
            export_proof(folder.path, sentence, path, authority=authority, proxy=proxy)
            print(f"wrote {path}")
    return 0


@click.command()
@json_option
@data_dir_option
def usage(data_dir: Path, *, as_json: bool) -> None:
    """Show the calls, tokens and cost of all stored runs, by day and model."""
    lines = usage_lines(Runs(data_dir))
    if as_json:
        print_json(lines)
        return
    left = load_remaining_budget(data_dir)
    print(
        f"{'day':<11}{'model':<34}{'calls':>6}{'input':>12}{'cached':>12}{'output':>10}{'cost':>10}"
    )
    for line in [*lines, total(lines)]:
        tokens = f"{line.input_tokens:>12,}{line.cached_tokens:>12,}{line.output_tokens:>10,}"
        print_text(
            f"{line.day:<11}{line.model[:33]:<34}{line.calls:>6}{tokens}{format_usd(line.usd):>10}"
        )
    for name, usd in left.items():
        print(f"left of this {name}'s budget{format_usd(max(usd, 0.0)) or '$0':>62}")


@click.command()
@click.argument("run")
@click.argument("thumb", type=click.Choice(["up", "down"]))
@data_dir_option
def feedback(run: str, thumb: Any, data_dir: Path) -> None:
    """Rate RUN up or down. The rating changes the scores of the skills that RUN used."""
    events = list(read_events(Runs(data_dir).find(run).journal))
    names = [name for e in events if e.type == "skills.given" for name in e.data["names"]]
    # Skills are scored in the memory that the run used, even if the settings have since changed.
    namespace = events[0].data["options"]["namespace"] if events else "default"
    settings = load_options({"data_dir": data_dir}, config=True)
    from agent.memory.memory_api import Memory  # noqa: PLC0415 - loads SQLAlchemy, unlike the other commands

    with Memory.open(settings.memory_location, namespace) as memory:
        scores = score_skills(memory, names, thumb)
    for name, score in scores.items():
        print_text(f"{name}: {score}")
    if not scores:
        print("Saved. The run used no skills.")
