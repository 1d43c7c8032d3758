"""Where the jobs of a command stand."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import data_dir_option
from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from agent.config import Options
    from agent.jobs.jobs import Jobs
    from agent.tools.registry import Tool

JOBS_HINT = "pip install 'urchin-research[jobs]'"
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
SHOWN = (
    "--model",
    "--search",
    "--corpus",
    "--depth",
    "--budget",
    "--timeout",
    "--memory/--no-memory",
)
"""Flags of a run that the help of these commands shows; all others hold as well."""
Place = tuple["str | None", "Path | None"]
"""The URL of the jobs, the data folder."""


def tasks_of(settings: Options) -> Sequence[Tool]:
    """Make the tools of a run that may set tasks; raises `UsageError` without their engine."""
    with _engine():
        from agent.jobs.task_tools import task_tools  # noqa: PLC0415 - loads DBOS, an extra
    return task_tools(settings, partial(opened, os.environ.get(JOBS_URL), settings.data))


def check_tasks(settings: Options) -> None:
    """Raise `UsageError` where tasks are allowed, and cannot be set or told of."""
    with _engine():
        from agent.jobs.jobs import check_targets  # noqa: PLC0415 - as above
    check_targets(settings.allow_tasks)


@contextmanager
def _engine() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(f"jobs need {error.name}, which is not here", hint=JOBS_HINT) from error


def opened(url: str | None, data_dir: Path | None) -> Jobs:
    """Open the jobs; raises `UsageError` where their engine is not installed."""
    with _engine():
        from agent.jobs.jobs import Jobs  # noqa: PLC0415 - loads DBOS, an extra
    return Jobs.open(url, data_dir)


def place_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where the jobs stand."""
    return jobs_url_option(data_dir_option(function))
