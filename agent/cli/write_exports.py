"""Writing the exports of a run, and saying which of them would be empty."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from agent.cli.terminal import complain
from agent.errors import NotFound
from agent.export import FORMATS, MORE, ending, export
from browser.plugins import plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_OF_SOURCES = frozenset({".bib", ".biblatex.bib", ".ris", ".csl.json"})
"""Formats that hold the sources and nothing else."""


def write_exports(folder: Path, paths: Iterable[Path], tell: Callable[[str], None]) -> int:
    """Write the run in `folder` to each path and `tell` of it; gives the exit code.

    A list of sources is not written where there are none: the code is that of `NotFound` then.
    """
    code = 0
    for path in paths:
        if ending(path) in _OF_SOURCES and (reason := _without_sources(folder)):
            complain(f"{path.name} is not written: {reason}")
            code = NotFound.exit_code
            continue
        export(folder, path)
        tell(f"wrote {path}")
    return code


def _without_sources(folder: Path) -> str:
    """Say why a run has no sources; empty where it has some."""
    try:
        report = json.loads((folder / "report.json").read_bytes())
    except FileNotFoundError:
        return "the run was cut off"
    if report["sources"]:
        return ""
    error = report["error"]
    return f"the run failed: {error['message']}" if error else "the answer has no sources"


def export_paths(values: tuple[Path, ...]) -> tuple[Path, ...]:
    """Check endings and folders of `--export` before the run, not after it."""
    for path in values:
        if not path.parent.is_dir():
            raise click.BadParameter(f"{path}: there is no folder {path.parent}; make it first")
        if ending(path) not in FORMATS and not plugins("exports", ending(path)):
            known = " ".join(FORMATS)
            said = f"{path.name}: no such format; there are {known}; {MORE}"
            raise click.BadParameter(said)
    return values
