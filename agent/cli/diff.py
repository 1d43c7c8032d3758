"""`research diff`: two runs side by side."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agent.cli.runs import all_runs, data_dir_option
from agent.cli.say import complain
from browser.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from agent.export.compare import Comparison, Pair, Side

DIFFERENT = 8
_WIDEST = 160
"""Columns beyond which two of text are hard to read."""


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B", default="last")
@click.option("--json", "as_json", is_flag=True, help="The comparison as JSON.")
@data_dir_option
def diff(a: str, b: str, as_json: bool, data_dir: Path | None) -> int:  # noqa: FBT001
    """Show runs A and B (or their archives) side by side; exits 8 when their answers differ."""
    from agent.export.compare import compare  # noqa: PLC0415 - `--help` needs it not
    from agent.export.opening import opened  # noqa: PLC0415 - as above

    runs = all_runs(data_dir)
    with ExitStack() as stack:
        first, second = (stack.enter_context(opened(name, runs)) for name in (a, b))
        found = compare(first, second)
    print(json.dumps(asdict(found), indent=2, ensure_ascii=False)) if as_json else _show(found)
    if not found.same_answer:
        complain("the answers differ")
    return 0 if found.same_answer else DIFFERENT


def _show(found: Comparison) -> None:
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
    return f"{side.status} · confidence {side.confidence:.2f} · {side.model}{cost}"


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
