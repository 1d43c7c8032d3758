"""`research verify`, `diff` and `replay`: commands that work on a run's journal or archive."""

from __future__ import annotations

import asyncio
import shutil
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.flags import (
    blocks_option,
    data_dir_option,
    option,
    roots_option,
    setting_flag,
    switch,
)
from agent.cli.render import print_report
from agent.cli.terminal import plural, print_error, print_json, print_text
from agent.errors import CHECK_FAILED
from agent.export.compare_runs import compare
from agent.export.report_view import VERDICT_LABELS
from agent.export.run_archive import is_archive, open_run
from agent.export.verify_run import verify as verify_run
from agent.export.verify_run import verify_archive
from agent.journal.runs import Runs
from agent.run.outcome import exit_code
from agent.run.record import RunRecord
from agent.run.replay import replay as replay_record
from agent.run.resume import rerun_on_recorded_web
from agent.types import format_usd
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.export.compare_runs import ComparedRun, Comparison
    from agent.export.sentence_proof import VerifiedProof

_MAX_WIDTH = 160
"""Maximum width at which two columns of text are readable, in characters."""


@click.command()
@click.argument("run", default="last", metavar="RUN|FILE.zip")
@switch("--head", "Print only the head: the hash of the entire journal.")
@option("--against", "HASH", "Expected head; exits with code 8 if it differs.")
@roots_option
@blocks_option
@switch(("--json", "as_json"), "Print the result as JSON.")
@data_dir_option
def verify(
    run: str,
    against: str | None,
    roots: Path | None,
    blocks: dict[int, bytes],
    data_dir: Path,
    *,
    head: bool,
    as_json: bool,
) -> int:
    """Verify a run (event chain, pages, report and quotes) or a sentence's proof offline.

    Reports any changes, and exits with code 8 if there are any. If you save the head (--head)
    elsewhere, --against can later prove that no event was rewritten.
    """
    from agent.export.sentence_proof import is_proof, verify_proof  # noqa: PLC0415 - rarely needed

    if is_archive(run) and is_proof(Path(run)):
        return _verify_proof(verify_proof(Path(run), roots), as_json=as_json)
    if is_archive(run):
        found = verify_archive(Path(run), roots, blocks)
    else:
        with open_run(run, Runs(data_dir)) as folder:
            found = verify_run(folder, roots, blocks)
    flaws = [f"{flaw.where}: {flaw.what}" for flaw in found.flaws]
    if against and against != found.head:
        flaws.append(f"the head is {found.head or 'unknown'}, not {against}")
    if as_json:
        print_json({**asdict(found), "ok": not flaws})
    elif flaws:
        print_text("\n".join(flaws))
    elif head:
        print(found.head)
    else:
        events = plural(found.events, "event", "events")
        blobs = plural(found.blobs, "blob", "blobs")
        sources = plural(found.sources, "source", "sources")
        quotes = plural(found.quotes, "quote", "quotes")
        summary = (
            f"{found.run} is verified: {events} in one chain, {blobs}, {sources}, "
            f"{quotes} found in their saved pages"
        )
        print_text("\n".join([summary, f"head {found.head}", *found.since]))
    if flaws:
        print_error(f"{found.run} failed verification: {plural(len(flaws), 'error', 'errors')}")
    return CHECK_FAILED if flaws else 0


def _verify_proof(found: VerifiedProof, *, as_json: bool) -> int:
    """Verify a sentence proof, print the result, and return the exit code."""
    from agent.export.finished_run import to_the_minute  # noqa: PLC0415 - rarely needed

    flaws, proof = [f"{flaw.where}: {flaw.what}" for flaw in found.flaws], found.proof
    if as_json:
        dumped = proof.model_dump(mode="json") if proof else None
        print_json({"ok": not flaws, "flaws": flaws, "since": found.since, "proof": dumped})
    elif flaws:
        print_text("\n".join(flaws))
    elif proof is not None:
        quotes = sum(len(source.quotes) for source in proof.sources)
        found_quotes = plural(quotes, "quote", "quotes")
        decided = (
            "found again by code" if found.by_code else f"decided by {proof.sentence.decided_by}"
        )
        lines = [
            f"“{proof.sentence.text}” is {VERDICT_LABELS[proof.sentence.verdict]} ({decided})",
            f"{found_quotes} found in {plural(len(proof.sources), 'saved page', 'saved pages')}",
        ]
        for source in proof.sources:
            lines.append(f"[{source.n}] read {to_the_minute(source.fetched_at)}")
            lines.append(f"    sha256 {source.sha256}")
            lines += [f"    {link}" for link in source.links or [source.url]]
        print_text("\n".join([*lines, *found.since]))
    if flaws:
        print_error(f"{found.name} failed verification: {plural(len(flaws), 'error', 'errors')}")
    return CHECK_FAILED if flaws else 0


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B", default="last")
@switch(("--json", "as_json"), "Print the comparison as JSON.")
@data_dir_option
def diff(a: str, b: str, data_dir: Path, *, as_json: bool) -> int:
    """Compare runs A and B (or their archives); exits with code 8 if their answers differ."""
    runs = Runs(data_dir)
    with ExitStack() as stack:
        first, second = (stack.enter_context(open_run(name, runs)) for name in (a, b))
        comparison = compare(first, second)
    if as_json:
        print_json(comparison)
    else:
        _print_side_by_side(comparison)
    if not comparison.same_answer:
        print_error("the answers differ")
    return 0 if comparison.same_answer else CHECK_FAILED


def _print_side_by_side(comparison: Comparison) -> None:
    from rich.console import Console  # noqa: PLC0415 - only where a table is drawn
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    table = Table(box=None, show_header=False, padding=(0, 1), expand=True)
    table.add_column(ratio=1)
    table.add_column(width=1)
    table.add_column(ratio=1)
    for left, mark, right in _rows(comparison):
        style = {"=": "dim", "<": "red", ">": "green", "≠": "yellow"}.get(mark, "")
        table.add_row(Text(clean(left), style), mark, Text(clean(right), style))
    width = min(shutil.get_terminal_size().columns, _MAX_WIDTH)
    Console(file=sys.stdout, width=width, highlight=False).print(table)


def _rows(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the table: left, comparison sign, right."""
    a, b = comparison.a, comparison.b
    yield a.run, "", b.run
    for left, right in ((a.question, b.question), (_facts(a), _facts(b))):
        yield left, "=" if left == right else "≠", right
    yield "", "", ""
    yield a.answer, "=" if comparison.same_answer else "≠", b.answer
    for name, pairs in (("sources", comparison.sources), ("steps", comparison.steps)):
        if not pairs:
            continue
        yield "", "", ""
        yield f"{name}:", "", f"{name}:"
        for one, other in pairs:
            if one is None or other is None:
                yield one or "", "<" if other is None else ">", other or ""
            elif name == "sources" and one in comparison.changed:
                yield one, "≠", f"{other} (different text)"
            else:
                yield one, "=", other


def _facts(side: ComparedRun) -> str:
    cost = f" · {format_usd(side.usd)}" if side.usd else ""
    confidence = "not rated" if side.confidence is None else f"{side.confidence:.2f}"
    doubt = f" · may not be the answer: {side.doubt}" if side.doubt else ""
    return f"{side.badge}{doubt} · confidence {confidence} · {side.model}{cost}"


@click.command()
@click.argument("run", default="last", metavar="RUN|FILE.zip")
@setting_flag("model", "Run this model on the recorded pages.")
@setting_flag("base_url")
@switch("--live", "With --model, fetch unrecorded pages from the live web.")
@switch(("--assert", "check"), "Exit with code 8 if the answer differs.")
@switch(("--json", "as_json"), "Print the report as JSON.")
@data_dir_option
def replay(
    run: str,
    model: str | None,
    base_url: str | None,
    data_dir: Path,
    *,
    live: bool,
    check: bool,
    as_json: bool,
) -> int:
    """Repeat RUN from its journal or archive, without a network, model or browser."""
    with open_run(run, Runs(data_dir)) as folder:
        record = RunRecord.read(folder)
        if model is None and base_url is None:
            replaying = replay_record(record)
        else:
            replaying = rerun_on_recorded_web(
                record,
                model=model,
                base_url=base_url,
                data_dir=data_dir,
                live=live,
                trusted=not is_archive(run),  # approvals in a foreign archive do not apply
            )
        report = asyncio.run(replaying)
    print(report.to_json()) if as_json else print_report(report)
    if check and report.answer != record.report.get("answer"):
        print_error("the answer differs from the recorded one")
        return CHECK_FAILED
    return 0 if check else exit_code(report)
