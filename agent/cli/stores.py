"""What a command opens: runs, the memory of a namespace, and jobs."""

from __future__ import annotations

import functools
import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import Amount, data_dir_option
from agent.config import Options, default_data_dir, load_options, private_folder
from agent.errors import from_extra
from agent.journal.runs import Runs
from agent.run.settings import open_memory, remaining_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent.jobs.jobs import Jobs
    from agent.journal.usage import BudgetLeft
    from agent.memory.memory_api import Memory
    from agent.tools.registry import Tool


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
    with open_memory(load_options(given, config=True), os.environ) as store:
        yield store


def all_runs(data_dir: Path | None) -> Runs:
    """Give the runs of the data folder."""
    return Runs(Options(data_dir=data_dir).data if data_dir else default_data_dir())


def still_left(data_dir: Path | None) -> BudgetLeft:
    """Give what is left of the budgets of the day and the month, where there are any.

    Where RESEARCH_JOBS_URL names jobs that machines share, what others spent counts too.
    """
    jobs_url = os.environ.get(JOBS_URL)
    settings = load_options({"data_dir": data_dir}, config=True)
    if jobs_url is None or (settings.budget_day is None and settings.budget_month is None):
        return remaining_budget(settings)
    with open_jobs(jobs_url, settings.data) as jobs:
        from agent.jobs.shared_limits import SharedSpending  # noqa: PLC0415 - loads DBOS, an extra

        return remaining_budget(settings, SharedSpending(jobs.database, settings.data))


JOBS_URL = "RESEARCH_JOBS_URL"
jobs_url_option = click.option(
    "--jobs-url",
    envvar=JOBS_URL,
    metavar="URL",
    help="Jobs that machines share: postgresql://… (jobs.db in the data folder).",
)
notify_option = click.option(
    "--notify",
    multiple=True,
    metavar="TARGET",
    help="Tell of it: mailto:ADDRESS, https://…, desktop:, feed:FILE; repeatable.",
)
host_delay_option = click.option(
    "--host-delay",
    type=Amount(min=0),
    metavar="S",
    help="Least seconds between two pages of one host, over all questions (0.2).",
)


def retry_option(default: int) -> Callable[[Any], Any]:
    """Make the option `--retry`: how often what failed is tried again."""
    kind, told = click.IntRange(0, 20), "Try it again so often where that may help."
    return click.option(
        "--retry", type=kind, default=default, show_default=True, metavar="N", help=told
    )


SHOWN = (
    "--model", "--search", "--corpus", "--depth", "--budget", "--timeout", "--memory/--no-memory",
)  # fmt: skip
"""Flags of a run that the help of these commands shows; all others hold as well."""


def tasks_of(settings: Options) -> Sequence[Tool]:
    """Make the tools of a run that may set tasks; raises `UsageError` without their engine."""
    with from_extra("jobs"):
        from agent.jobs.task_tools import task_tools  # noqa: PLC0415 - loads DBOS, an extra
    return task_tools(settings, partial(open_jobs, os.environ.get(JOBS_URL), settings.data))


def check_tasks(settings: Options) -> None:
    """Raise `UsageError` where tasks are allowed, and cannot be set or told of."""
    with from_extra("jobs"):
        from agent.jobs.job_notices import check_targets  # noqa: PLC0415 - as above
    check_targets(settings.allow_tasks)


def open_jobs(url: str | None, data_dir: Path | None) -> Jobs:
    """Open the jobs; raises `UsageError` where their engine is not installed."""
    with from_extra("jobs"):
        from agent.jobs.jobs import Jobs  # noqa: PLC0415 - loads DBOS, an extra
    return Jobs.open(url, data_dir)


def place_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where the jobs stand."""
    return jobs_url_option(data_dir_option(function))
