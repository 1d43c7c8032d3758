"""What a command opens: the runs of a data folder, the memory of a namespace in it."""

from __future__ import annotations

import functools
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli import job_place
from agent.cli.flags import data_dir_option
from agent.config import Options, default_data_dir, options, private_folder
from agent.journal.runs import Runs
from agent.run.settings import left_of, memory_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent.journal.usage import Left
    from agent.memory.memory_api import Memory

Place = tuple[Path, str]
"""The data folder, the namespace."""
namespace_option = click.option(
    "--namespace", envvar="RESEARCH_NAMESPACE", default="default", help="Whose memories."
)


def placed(group: Callable[[], None]) -> Callable[..., None]:
    """Let a group take a namespace and a data folder; its commands get them as a `Place`."""

    @namespace_option
    @data_dir_option
    @click.pass_context
    def place(ctx: click.Context, namespace: str, data_dir: Path | None) -> None:
        ctx.obj = (data_dir or default_data_dir(), namespace)

    return functools.update_wrapper(place, group)


@contextmanager
def opened(place: Place) -> Iterator[Memory]:
    """Open the memory of a data folder and a namespace."""
    folder, namespace = place
    given = {"data_dir": private_folder(folder), "namespace": namespace}
    with memory_of(options(given, config=True), os.environ) as store:
        yield store


def all_runs(data_dir: Path | None) -> Runs:
    """Give the runs of the data folder."""
    return Runs(Options(data_dir=data_dir).data if data_dir else default_data_dir())


def still_left(data_dir: Path | None) -> Left:
    """Give what is left of the budgets of the day and the month, where there are any.

    Where RESEARCH_JOBS_URL names jobs that machines share, what others spent counts too.
    """
    jobs_url = os.environ.get(job_place.JOBS_URL)
    settings = options({"data_dir": data_dir}, config=True)
    if jobs_url is None or (settings.budget_day is None and settings.budget_month is None):
        return left_of(settings)
    with job_place.opened(jobs_url, settings.data) as jobs:
        from agent.jobs.shared_limits import SharedSpending  # noqa: PLC0415 - loads DBOS, an extra

        return left_of(settings, SharedSpending(jobs.database, settings.data))
