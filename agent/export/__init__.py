"""Writing a run for others: the file's ending says in which form."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from agent.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = {
    ".md": "markdown",
    ".html": "html",
    ".pdf": "pdf",
    ".json": "json",
    ".jsonl": "json",
    ".bib": "bibtex",
    ".ris": "ris",
    ".csl.json": "csl",
    ".xml": "junit",
    ".warc.gz": "warc",
    ".zip": "archive",
}
"""Ending to the module that writes it; each has a function `render(folder, ending) -> bytes`."""


def ending(path: Path) -> str:
    """The ending that tells the format, `.csl.json` before `.json`; none known, the last one."""
    name = path.name.lower()
    known = [end for end in FORMATS if name.endswith(end) and name != end]
    return max(known, key=len, default=path.suffix.lower())


def export(folder: Path, path: Path) -> None:
    """Write the run in `folder` to `path`; raises `UsageError` where that cannot be done."""
    module = import_module(f"agent.export.{FORMATS[ending(path)]}")
    body: bytes = module.render(folder, ending(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}", hint="Name a file in a folder of yours."
        ) from error
