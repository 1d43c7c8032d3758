"""`research resume`: going on with a run that was cut off."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from agent.cli.ask import run_to_end
from agent.cli.flags import data_dir_option, output_flags
from agent.cli.job_place import tasks_of
from agent.cli.stores import all_runs
from agent.cli.terminal import asker
from agent.run.resume import resume_run

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("run", default="last")
@click.option("--max-steps", type=int, metavar="N", help="Steps at most, those on record included.")
@click.option("--budget", type=float, metavar="USD", help="Dollars at most from here on.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Seconds at most from here on.")
@data_dir_option
@output_flags
def resume(run: str, data_dir: Path | None, **flags: Any) -> int:
    """Go on with RUN where it stopped: after a crash, Ctrl-C, a reboot or a spent budget."""
    folder = all_runs(data_dir).find(run)
    data = folder.path.parent.parent

    required = bool(flags.pop("require_verified"))
    start = partial(resume_run, folder, data_dir=data, ask=asker(flags), tasks=tasks_of)
    return run_to_end(start, flags, data, required=required)
