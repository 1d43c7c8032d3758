"""Opens the stores that commands use: memory, jobs, and spending."""

from __future__ import annotations

import functools
import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import (
    JOBS_URL_VARIABLE,
    data_dir_option,
    jobs_url_option,
    namespace_option,
)
from agent.config import load_options
from agent.errors import requires_extra
from agent.run.settings import open_memory, remaining_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from agent.cli.flags import Option
    from agent.jobs.jobs import Jobs
    from agent.memory.memory_api import Memory
    from agent.options import Options
    from agent.tools.registry import Tool

MemoryLocation = tuple[Path, str]
"""The data folder and the namespace."""
JOB_FLAGS = "--model --search --corpus --depth --budget --timeout --memory/--no-memory".split()
"""Run flags shown in the help of `batch`, `queue`, `schedule` and `monitor`; all others work."""


def _location_group(name: str, text: str, *options: Option) -> click.Group:
    """Make a command group with options for a store's location, passed to commands as a tuple."""

    @click.pass_context
    def store_location(ctx: click.Context, /, **location: Any) -> None:
        ctx.obj = tuple(location[str(parameter.name)] for parameter in ctx.command.params)

    command: Any = store_location
    for option in reversed(options):
        command = option(command)
    return click.group(name, help=text)(command)


def _store_opener(open_store: Callable[[Any], AbstractContextManager[Any]]) -> Callable[..., Any]:
    """Make a decorator that opens a group's store and passes it to a command."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.pass_obj
        def run(location: Any, /, **flags: Any) -> Any:
            flags.pop("data_dir", None)  # this is also a run flag, but the group's value applies
            with open_store(location) as store:
                return command(store, **flags)

        return functools.update_wrapper(run, command)

    return decorate


def memory_group(name: str, text: str) -> click.Group:
    """Make a command group whose data folder and namespace apply to its `with_memory` commands."""
    return _location_group(name, text, data_dir_option, namespace_option)


@contextmanager
def memory_at(location: MemoryLocation) -> Iterator[Memory]:
    """Open the memory for a data folder and namespace."""
    folder, namespace = location
    settings = load_options({"data_dir": folder, "namespace": namespace}, config=True)
    with open_memory(settings, os.environ) as store:
        yield store


def jobs_group(name: str, text: str) -> click.Group:
    """Make a command group whose jobs database applies to its `with_jobs` commands."""
    return _location_group(name, text, jobs_url_option, data_dir_option)


def open_jobs(url: str | None, data_dir: Path) -> Jobs:
    """Open the jobs; raises `UsageError` if the database driver is not installed."""
    with requires_extra("jobs"):
        from agent.jobs.jobs import Jobs  # noqa: PLC0415 - loads DBOS, an extra
    return Jobs.open(url, data_dir)


with_memory = _store_opener(memory_at)
with_jobs = _store_opener(lambda location: open_jobs(*location))


def task_tools(settings: Options) -> Sequence[Tool]:
    """Make a run's task tools; raises `UsageError` without the database driver."""
    with requires_extra("jobs"):
        from agent.jobs.task_tools import task_tools  # noqa: PLC0415 - loads DBOS, an extra
    return task_tools(
        settings, partial(open_jobs, os.environ.get(JOBS_URL_VARIABLE), settings.data)
    )


def check_task_targets(settings: Options) -> None:
    """Raise `UsageError` for an invalid notification target or a missing database driver."""
    with requires_extra("jobs"):
        from agent.jobs.job_notices import check_targets  # noqa: PLC0415 - as above
    check_targets(settings.allow_tasks)


def load_remaining_budget(data_dir: Path) -> dict[str, float]:
    """Return the remaining daily and monthly budgets, if they are set.

    If RESEARCH_JOBS_URL specifies a shared database, spending on other machines is included.
    """
    jobs_url = os.environ.get(JOBS_URL_VARIABLE)
    settings = load_options({"data_dir": data_dir}, config=True)
    if jobs_url is None or (settings.budget_day is None and settings.budget_month is None):
        return remaining_budget(settings)
    with open_jobs(jobs_url, settings.data) as jobs:
        from agent.jobs.shared_limits import SharedSpending  # noqa: PLC0415 - loads DBOS, an extra

        return remaining_budget(settings, SharedSpending(jobs.database, settings.data))
