"""Writing a run for others: the file's ending says in which form."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = {
    ".md": "report_markdown:render_markdown",
    ".obsidian.md": "report_notes:render_note",
    ".docx": "report_docx:render_docx",
    ".html": "report_html:render_html",
    ".pdf": "report_pdf:render_pdf",
    ".json": "run_record:render_report",
    ".jsonl": "run_record:render_journal",
    ".bib": "bibliography:render_bibtex",
    ".biblatex.bib": "bibliography:render_biblatex",
    ".ris": "bibliography:render_ris",
    ".csl.json": "bibliography:render_csl",
    ".xml": "junit:render_junit",
    ".warc.gz": "web_archive:render_warc",
    ".zip": "archive_writer:render_zip",
}
"""Ending to what writes it, `module:function`; each takes a run's folder and gives the bytes."""


def ending(path: Path) -> str:
    """The ending that tells the format, `.csl.json` before `.json`; none known, the last one."""
    name = path.name.lower()
    known = [end for end in FORMATS if name.endswith(end) and name != end]
    return max(known, key=len, default=path.suffix.lower())


def export(folder: Path, path: Path) -> None:
    """Write the run in `folder` to `path`; raises `UsageError` where that cannot be done."""
    module, _, function = FORMATS[ending(path)].partition(":")
    write_file(path, getattr(import_module(f"agent.export.{module}"), function)(folder))


def write_file(path: Path, body: bytes, *, private: bool = False) -> None:
    """Write a file that a person named, `private` for its owner alone; raises `UsageError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, body, private=private)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}", hint="Name a file in a folder of yours."
        ) from error
