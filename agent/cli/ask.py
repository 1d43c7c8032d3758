"""`research ask`: a question from the shell."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import output_flags, run_flags

if TYPE_CHECKING:
    from pathlib import Path


_RUN = re.compile(r"last|\d{4,8}(-\d{0,6}(-\w{0,4})?)?")


@click.command()
@click.argument("question", nargs=-1)
@run_flags
@output_flags
def ask(question: tuple[str, ...], **flags: Any) -> int:
    """Research QUESTION; `-` reads it from standard input."""
    from agent.cli.running import ask_once  # noqa: PLC0415 - the flags are checked without it

    asked = " ".join(_without_run(question, flags)).strip()
    if asked == "-":
        asked = sys.stdin.read().strip()
    if not asked:
        raise click.UsageError("The question is empty.")
    return ask_once(asked, flags)


def _without_run(question: tuple[str, ...], flags: dict[str, Any]) -> tuple[str, ...]:
    """Give `-c` its run and the question its words: `-c "And then?"` names no run."""
    named = flags["continue_run"]
    if not named or _RUN.fullmatch(named):
        return question
    flags["continue_run"] = ""
    return (named, *question)


def export_paths(values: tuple[Path, ...]) -> tuple[Path, ...]:
    """Check the endings of `--export` before the run, not after it."""
    from agent.export import FORMATS, ending  # noqa: PLC0415 - only where something is exported

    for path in values:
        if ending(path) not in FORMATS:
            known = " ".join(FORMATS)
            raise click.BadParameter(f"{path.name}: no such format; there are {known}")
    return values
