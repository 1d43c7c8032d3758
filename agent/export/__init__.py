"""Exports a run to a file; the file's ending chooses the format."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from agent.config import find_plugin
from agent.errors import UsageError
from agent.files import write_file
from browser.plugins import IN_EXTRAS, extras_hint, plugins

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FORMATS = {
    ".md": "report_markdown:render_markdown",
    ".docx": "report_docx:render_docx",
    ".html": "report_html:render_html",
    ".pdf": "report_pdf:render_pdf",
    ".json": "run_record:render_report",
    ".jsonl": "run_record:render_journal",
    ".bib": "bibliography:render_bibtex",
    ".biblatex.bib": "bibliography:render_biblatex",
    ".ris": "bibliography:render_ris",
    ".csl.json": "bibliography:render_csl",
    ".csv": "data_csv:render_csv",
    ".xml": "junit:render_junit",
    ".warc.gz": "web_archive:render_warc",
    ".zip": "archive_writer:render_zip",
}
"""File ending to `module:function`, imported when needed; it turns a run's folder into bytes."""


def ending(path: Path) -> str:
    """Return the ending that chooses the format: the longest known one, or the plain suffix."""
    name = path.name.lower()
    known = [*FORMATS, *IN_EXTRAS["exports"], *(plugin.name for plugin in plugins("exports"))]
    matching = [end for end in known if name.endswith(end) and name != end]
    return max(matching, key=len, default=path.suffix.lower())


def writer(path: Path) -> Callable[[Path], bytes]:
    """Return the function that renders a run for this file's ending; raises `UsageError`."""
    end = ending(path)
    write: Callable[[Path], bytes] | None
    if end in FORMATS:
        module, _, function = FORMATS[end].partition(":")
        write = getattr(import_module(f"agent.export.{module}"), function)
    else:
        write = find_plugin("exports", end)
    if write is None:
        hint = f"There are {' '.join(FORMATS)}; {extras_hint('exports')}"
        raise UsageError(f"{path.name}: no such format", hint=hint)
    return write


def export(folder: Path, path: Path) -> None:
    """Write the run in `folder` to `path`; raises `UsageError` for an unknown format."""
    write_file(path, writer(path)(folder))
