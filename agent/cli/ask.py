"""`research ask`: a question from the shell."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import output_flags, run_flags

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("question", nargs=-1, required=True)
@run_flags
@output_flags
def ask(question: tuple[str, ...], **flags: Any) -> int:
    """Research QUESTION; `-` reads it from standard input."""
    from agent.cli.running import ask_once  # noqa: PLC0415 - the flags are checked without it

    asked = " ".join(question).strip()
    if asked == "-":
        asked = sys.stdin.read().strip()
    if not asked:
        raise click.UsageError("The question is empty.")
    return ask_once(asked, flags)


def export_paths(values: tuple[Path, ...]) -> tuple[Path, ...]:
    """Check the endings of `--export` before the run, not after it."""
    from agent.export import FORMATS, ending  # noqa: PLC0415 - only where something is exported

    for path in values:
        if ending(path) not in FORMATS:
            known = " ".join(FORMATS)
            raise click.BadParameter(f"{path.name}: no such format; there are {known}")
    return values
