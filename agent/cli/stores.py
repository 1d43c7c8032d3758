"""What commands open: the memory of a namespace, jobs, and what is left of a budget."""

from __future__ import annotations

import functools
import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import (
    JOBS_URL,
    data_dir_option,
    jobs_url_option,
    namespace_option,
)
from agent.config import load_options
from agent.errors import from_extra
from agent.run.settings import open_memory, remaining_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from agent.cli.flags import Option
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


def _place_group(name: str, text: str, *options: Option) -> click.Group:
    """Make a group that takes where a store is; its commands get the values as a tuple."""

    @click.pass_context
    def remember_place(ctx: click.Context, /, **place: Any) -> None:
        ctx.obj = tuple(place[str(parameter.name)] for parameter in ctx.command.params)

    command: Any = remember_place
    for option in reversed(options):
        command = option(command)
    return click.group(name, help=text)(command)


def _store_opener(open_store: Callable[[Any], AbstractContextManager[Any]]) -> Callable[..., Any]:
    """Make a decorator that hands a command of a group its store, open while the command runs."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.pass_obj
        def run(place: Any, /, **flags: Any) -> Any:
            flags.pop("data_dir", None)  # among the flags of a run; the group's counts
            with open_store(place) as store:
                return command(store, **flags)

        return functools.update_wrapper(run, command)

    return decorate


def memory_group(name: str, text: str) -> click.Group:
    """Make a group that takes a data folder and a namespace, for its commands `with_memory`."""
    return _place_group(name, text, data_dir_option, namespace_option)


@contextmanager
def memory_at(place: MemoryPlace) -> Iterator[Memory]:
    """Open the memory of a data folder and a namespace."""
    folder, namespace = place
    settings = load_options({"data_dir": folder, "namespace": namespace}, config=True)
    with open_memory(settings, os.environ) as store:
        yield store


def jobs_group(name: str, text: str) -> click.Group:
    """Make a group that takes where the jobs stand, for its commands `with_jobs`."""
    return _place_group(name, text, jobs_url_option, data_dir_option)


def open_jobs(url: str | None, data_dir: Path) -> Jobs:
    """Open the jobs; raises `UsageError` where their engine is not installed."""
    with from_extra("jobs"):
        from agent.jobs.jobs import Jobs  # noqa: PLC0415 - loads DBOS, an extra
    return Jobs.open(url, data_dir)


with_memory = _store_opener(memory_at)
with_jobs = _store_opener(lambda place: open_jobs(*place))


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
