"""`research ui`: a terminal UI for runs, queue, memory and settings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from agent.cli.flags import data_dir_option, jobs_url_option, namespace_option
from agent.errors import UsageError, requires_extra

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@jobs_url_option
@namespace_option
@data_dir_option
def ui(jobs_url: str | None, namespace: str, data_dir: Path) -> None:
    """Open a terminal UI showing runs, live steps, the queue, memory and settings.

    Requires the `ui` extra. Keys are shown at the bottom of the screen; q quits.
    """
    with requires_extra("ui", "; `research runs`, `queue list` and `memory list` do not need it."):
        from agent.cli.ui_screen import ResearchScreen  # noqa: PLC0415 - textual, an extra
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the UI must be run in a terminal", hint="`research runs` prints a list.")
    ResearchScreen(data_dir, namespace, jobs_url).run()
