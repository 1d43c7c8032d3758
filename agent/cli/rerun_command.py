"""`research rerun`: perform a recorded browser session again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from agent.cli.ask import run_to_end
from agent.cli.flags import output_flags, run_flags, several
from agent.cli.terminal import approver
from agent.config import load_options
from agent.run.rerun import rerun as rerun_session

if TYPE_CHECKING:
    from collections.abc import Sequence


def _read_values(_: click.Context, __: click.Parameter, rows: Sequence[str]) -> dict[str, str]:
    if wrong := [row for row in rows if "=" not in row]:
        raise click.BadParameter(f"{wrong[0]!r} should be FIELD=VALUE.")
    return {key: value for key, _, value in (row.partition("=") for row in rows)}


@click.command()
@click.argument("run", metavar="RUN")
@several(
    ("--with", "values"),
    "FIELD=VALUE",
    "Enter VALUE in FIELD, given by its name or its recorded text; repeatable.",
    callback=_read_values,
)
@run_flags(
    "--model",
    "--base-url",
    "--yes",
    "--headed",
    "--storage-state",
    "--allow-private",
    "--timeout",
    "--data-dir",
)
@output_flags
def rerun(run: str, values: dict[str, str], **flags: Any) -> int:
    """Repeat RUN's browser session live, without a model.

    Elements are found by role, name and position. If an action's outcome differs from the record,
    or an element is missing, the command reports this and exits with code 8; with --model, the
    model takes over at that step. Actions that needed approval in RUN need it again.
    """
    required = flags.pop("require_verified")
    settings = load_options(
        {"data_dir": flags["data_dir"], "require_verified": required}, config=True
    )
    start = partial(rerun_session, run, values=values, approve=approver(), config=True)
    return run_to_end(start, flags, settings.data, required=settings.require_verified)
