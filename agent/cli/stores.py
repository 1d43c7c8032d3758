"""What commands open: the memory of a namespace, jobs, and what is left of a budget."""

from __future__ import annotations

import functools
import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import JOBS_URL, PlaceGroup, data_dir_option, jobs_url_option, namespace_option
from agent.config import load_options
from agent.errors import from_extra
from agent.run.settings import open_memory, remaining_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent.config import Options
    from agent.jobs.jobs import Jobs
    from agent.memory.memory_api import Memory
    from agent.tools.registry import Tool

MemoryPlace = tuple[Path, str]
"""The data folder and the namespace."""
JOB_FLAGS = "--model --search --corpus --depth --budget --timeout --memory/--no-memory".split()
"""Flags of a run that the help of `batch`, `queue`, `schedule` and `monitor` shows; all hold."""
JobsPlace = tuple[str | None, Path]
"""The URL of the jobs, if they are not in the data folder, and that folder."""


def memory_group(name: str, text: str) -> click.Group:
    """Make a group that takes a data folder and a namespace, for its commands `with_memory`."""

    @click.group(name, cls=PlaceGroup, help=text)
    @namespace_option
    @data_dir_option
    @click.pass_context
    def group(ctx: click.Context, namespace: str, data_dir: Path) -> None:
        ctx.obj = (data_dir, namespace)

    return group


@contextmanager
def memory_at(place: MemoryPlace) -> Iterator[Memory]:
    """Open the memory of a data folder and a namespace."""
    folder, namespace = place
    settings = load_options({"data_dir": folder, "namespace": namespace}, config=True)
    with open_memory(settings, os.environ) as store:
        yield store


def with_memory(command: Callable[..., Any]) -> Callable[..., Any]:
    """Hand a command of a `memory_group` the memory, open as long as it lasts."""

    @click.pass_obj
    def run(place: MemoryPlace, /, **flags: Any) -> Any:
        with memory_at(place) as store:
            return command(store, **flags)

    return functools.update_wrapper(run, command)


def place_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where the jobs stand."""
    return jobs_url_option(data_dir_option(function))


def jobs_group(name: str, text: str) -> click.Group:
    """Make a group that takes where the jobs stand, for its commands `with_jobs`."""

    @click.group(name, cls=PlaceGroup, help=text)
    @place_options
    @click.pass_context
    def group(ctx: click.Context, jobs_url: str | None, data_dir: Path) -> None:
        ctx.obj = (jobs_url, data_dir)

    return group


def open_jobs(url: str | None, data_dir: Path) -> Jobs:
    """Open the jobs; raises `UsageError` where their engine is not installed."""
    with from_extra("jobs"):
        from agent.jobs.jobs import Jobs  # noqa: PLC0415 - loads DBOS, an extra
    return Jobs.open(url, data_dir)


def with_jobs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Hand a command of a `jobs_group` the jobs, open as long as it lasts."""

    @click.pass_obj
    def run(place: JobsPlace, /, **flags: Any) -> Any:
        flags.pop("data_dir", None)  # among the flags of a run; the group's is the one that counts
        with open_jobs(*place) as jobs:
            return command(jobs, **flags)

    return functools.update_wrapper(run, command)


def task_tools(settings: Options) -> Sequence[Tool]:
    """Make the tools of a run that may set tasks; raises `UsageError` without their engine."""
    with from_extra("jobs"):
        from agent.jobs.task_tools import task_tools  # noqa: PLC0415 - loads DBOS, an extra
    return task_tools(settings, partial(open_jobs, os.environ.get(JOBS_URL), settings.data))


def check_task_targets(settings: Options) -> None:
    """Raise `UsageError` where what tasks tell has nowhere to go, or their engine is missing."""
    with from_extra("jobs"):
        from agent.jobs.job_notices import check_targets  # noqa: PLC0415 - as above
    check_targets(settings.allow_tasks)


def unspent(data_dir: Path) -> dict[str, float]:
    """What is left of the budgets of the day and the month, where there are any.

    Where RESEARCH_JOBS_URL names jobs that machines share, what others spent counts too.
    """
    jobs_url = os.environ.get(JOBS_URL)
    settings = load_options({"data_dir": data_dir}, config=True)
    if jobs_url is None or (settings.budget_day is None and settings.budget_month is None):
        return remaining_budget(settings)
    with open_jobs(jobs_url, settings.data) as jobs:
        from agent.jobs.shared_limits import SharedSpending  # noqa: PLC0415 - loads DBOS, an extra

        return remaining_budget(settings, SharedSpending(jobs.database, settings.data))
