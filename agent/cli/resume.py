"""`research resume`: go on with a run that was cut off."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import output_flags
from agent.cli.runs import all_runs, data_dir_option

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
    from agent.cli.person import asker  # noqa: PLC0415 - `--help` needs none of it
    from agent.cli.running import run_to_end  # noqa: PLC0415 - `--help` needs none of it
    from agent.run.record import RunRecord  # noqa: PLC0415 - as above
    from agent.run.resume import resume as go_on  # noqa: PLC0415 - as above

    folder = all_runs(data_dir).find(run)
    record = RunRecord.read(folder)
    data = folder.path.parent.parent

    required = bool(flags.pop("require_verified"))
    start = partial(go_on, record, data_dir=data, ask=asker(flags))
    return run_to_end(start, flags, data, required=required)
