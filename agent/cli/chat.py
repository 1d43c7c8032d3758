"""`research chat`: one question after another, each knowing those before."""

from __future__ import annotations

import sys
from typing import Any

import click

from agent.cli.flags import output_flags, run_flags


@click.command()
@run_flags
@output_flags
def chat(**flags: Any) -> int:
    """Research in a conversation; an empty line or Ctrl-D ends it."""
    from agent.cli.running import ask_once  # noqa: PLC0415 - the flags are checked without it
    from agent.journal.writer import utc_now  # noqa: PLC0415 - as above

    if flags["session"] is None and flags["continue_run"] is None:
        flags["session"] = f"chat-{utc_now():%Y%m%d-%H%M%S}"
    code = 0
    while (question := _asked()) is not None:
        code = ask_once(question, dict(flags))
        print()
    return code


def _asked() -> str | None:
    if sys.stdin.isatty():
        print("? ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline().strip()
    return line or None
