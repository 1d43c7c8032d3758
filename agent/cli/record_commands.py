"""`research verify`: whether a run, or the archive of one, is as it was written."""

from __future__ import annotations

import asyncio
import shutil
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.flags import blocks_option, data_dir_option, roots_option
from agent.cli.render import print_report
from agent.cli.stores import all_runs
from agent.cli.terminal import complain, print_json
from agent.errors import CHECK_FAILED
from agent.export.compare_runs import compare
from agent.export.run_archive import is_archive, open_run
from agent.export.verify_run import verify as check
from agent.export.verify_run import verify_archive
from agent.run.outcome import exit_code
from agent.run.record import RunRecord
from agent.run.recorded import with_harmless_settings
from agent.run.replay import replay as again
from agent.run.resume import on_recorded_web
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.export.compare_runs import Comparison, Pair, Side
    from agent.export.verify_run import Verified


@click.command()
@click.argument("run", default="last", metavar="RUN|FILE.zip")
@click.option("--head", is_flag=True, help="Only the hash that stands for the whole record.")
@click.option("--against", metavar="HASH", help="Exit 8 unless the head is this one.")
@roots_option
@blocks_option
@click.option("--json", "as_json", is_flag=True, help="What was found, as JSON.")
@data_dir_option
def verify(
    run: str,
    against: str | None,
    roots: Path | None,
    blocks: dict[int, bytes],
    data_dir: Path | None,
    *,
    head: bool,
    as_json: bool,
) -> int:
    """Check RUN offline: its chain of events, pages, report, and every quote.

    Exits 8 where anything was changed, and says what and where. Who keeps the head of a run
    elsewhere (`--head`) can tell later, with `--against`, that no event was rewritten since.
    """
    if is_archive(run):
        found = verify_archive(Path(run), roots, blocks)
    else:
        with open_run(run, all_runs(data_dir)) as folder:
            found = check(folder, roots, blocks)
    told = [f"{flaw.where}: {flaw.what}" for flaw in found.flaws]
    if against and against != found.head:
        told.append(f"the head is {found.head or 'not to be had'}, not {against}")
    if as_json:
        print_json({**asdict(found), "ok": not told})
    elif head and not told:
        print(found.head)
    else:
        print(clean("\n".join(told)) if told else _verified_summary(found))
    if told:
        complain(f"{found.run} does not hold: {len(told)} flaw{'s' * (len(told) != 1)}")
    return CHECK_FAILED if told else 0


def _verified_summary(found: Verified) -> str:
    return (
        f"{found.run} holds: {found.events} events in one chain, {found.blobs} blobs, "
        f"{found.sources} sources, {found.quotes} quotes that stand in their saved texts\n"
        + "\n".join([f"head {found.head}", *found.since])
    )


_WIDEST = 160
"""Columns beyond which two of text are hard to read."""


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B", default="last")
@click.option("--json", "as_json", is_flag=True, help="The comparison as JSON.")
@data_dir_option
def diff(a: str, b: str, data_dir: Path | None, *, as_json: bool) -> int:
    """Show runs A and B (or their archives) side by side; exits 8 when their answers differ."""
    runs = all_runs(data_dir)
    with ExitStack() as stack:
        first, second = (stack.enter_context(open_run(name, runs)) for name in (a, b))
        found = compare(first, second)
    if as_json:
        print_json(found)
    else:
        _show_comparison(found)
    if not found.same_answer:
        complain("the answers differ")
    return 0 if found.same_answer else CHECK_FAILED


def _show_comparison(found: Comparison) -> None:
    from rich.console import Console  # noqa: PLC0415 - only where it is drawn
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    table = Table(box=None, show_header=False, padding=(0, 1), expand=True)
    table.add_column(ratio=1)
    table.add_column(width=1)
    table.add_column(ratio=1)
    for left, mark, right in _rows(found):
        style = {"=": "dim", "<": "red", ">": "green", "≠": "yellow"}.get(mark, "")
        table.add_row(Text(clean(left), style), mark, Text(clean(right), style))
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    Console(file=sys.stdout, width=width, highlight=False).print(table)


def _rows(found: Comparison) -> Iterator[tuple[str, str, str]]:
    yield found.a.run, "", found.b.run
    for left, right in (
        (found.a.question, found.b.question),
        (_facts(found.a), _facts(found.b)),
    ):
        yield left, "=" if left == right else "≠", right
    yield "", "", ""
    yield found.a.answer, "=" if found.same_answer else "≠", found.b.answer
    yield from _paired("sources", found.sources, found.changed)
    yield from _paired("steps", found.steps, ())


def _facts(side: Side) -> str:
    cost = f" · ${side.usd:.4f}" if side.usd else ""
    rated = "not rated" if side.confidence is None else f"{side.confidence:.2f}"
    return f"{side.status} · confidence {rated} · {side.model}{cost}"


def _paired(
    name: str, found: Sequence[Pair], changed: Sequence[str]
) -> Iterator[tuple[str, str, str]]:
    if not found:
        return
    yield "", "", ""
    yield f"{name}:", "", f"{name}:"
    for left, right in found:
        if left is None or right is None:
            yield left or "", "<" if right is None else ">", right or ""
        elif left in changed:
            yield left, "≠", f"{right} (another text)"
        else:
            yield left, "=", right


@click.command()
@click.argument("run", default="last", metavar="RUN|FILE.zip")
@click.option("--model", metavar="NAME", help="Ask this model on the recorded web.")
@click.option("--base-url", metavar="URL", help="Any OpenAI-compatible endpoint.")
@click.option("--live", is_flag=True, help="With --model: what is not on record is asked live.")
@click.option("--assert", "check", is_flag=True, help="Exit 8 unless the answer is the same.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@data_dir_option
def replay(
    run: str,
    model: str | None,
    base_url: str | None,
    data_dir: Path | None,
    *,
    live: bool,
    check: bool,
    as_json: bool,
) -> int:
    """Run RUN again from its record, or its archive, alone: no network, model or browser."""
    with open_run(run, all_runs(data_dir)) as folder:
        record = RunRecord.read(folder)
        record = with_harmless_settings(record) if is_archive(run) else record
        if model is None and base_url is None:
            report = asyncio.run(again(record))
        else:
            asked = on_recorded_web(
                record, model=model, base_url=base_url, data_dir=data_dir, live=live
            )
            report = asyncio.run(asked)
    print(report.to_json()) if as_json else print_report(report)
    if check and report.answer != record.report.get("answer"):
        complain("the answer is another one than on record")
        return CHECK_FAILED
    return 0 if check else exit_code(report)
