"""`research chat`: one question after another, each knowing those before."""

from __future__ import annotations

import sys
from typing import Any

import click
from click.core import ParameterSource

from agent.cli.flags import output_flags, run_flags


@click.command()
@run_flags
@output_flags
def chat(**flags: Any) -> int:
    """Research in a conversation; an empty line or Ctrl-D ends it."""
    from agent.cli.running import ask_once  # noqa: PLC0415 - the flags are checked without it
    from agent.journal.writer import utc_now  # noqa: PLC0415 - as above

    _leave_to_the_file(flags)
    if flags["session"] is None and flags["continue_run"] is None:
        flags["session"] = f"chat-{utc_now():%Y%m%d-%H%M%S}"
    code, broken = 0, ""
    while (question := _asked()) is not None:
        broken = _told_once(broken)
        code = ask_once(question, dict(flags))
        print()
    return code


def _leave_to_the_file(flags: dict[str, Any]) -> None:
    """Forget what stood in the settings file at the start: it is read again at each question."""
    from agent.config import Options  # noqa: PLC0415 - as above

    context = click.get_current_context()
    for name in flags.keys() & Options.model_fields.keys():
        if context.get_parameter_source(name) is ParameterSource.DEFAULT_MAP:
            flags[name] = None


def _told_once(before: str) -> str:
    """Say what is wrong with a settings file that was broken meanwhile, unless that was said."""
    from agent.cli.say import complain  # noqa: PLC0415 - as above
    from agent.config import file_settings  # noqa: PLC0415 - as above

    _, broken = file_settings()
    if broken is not None and str(broken) != before:
        complain(f"{broken}; the settings from before are kept", broken.hint)
    return str(broken or "")


def _asked() -> str | None:
    if sys.stdin.isatty():
        print("? ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline().strip()
    return line or None
