"""Exports a run to a file; the file extension selects the format."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING

from agent.config import find_plugin
from agent.errors import UsageError
from agent.files import write_file
from browser.plugins import IN_EXTRAS, extras_hint, plugins

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Content(StrEnum):
    """The part of a run that is exported in a format."""

    ANSWER = "answer"
    """The answer with its verdicts and sources, so that readers can see doubts and disputes."""
    SOURCES = "sources"
    DATA = "data"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class Format:
    """An export format; `python dev/formats.py` generates docs/archive.md from all formats.

    `render` is a `module:function` of this package, imported when needed: it converts a run's
    folder to bytes. `about` and `read_by` are Markdown for the documentation.
    """

    render: str
    content: Content
    about: str
    read_by: str = ""


_READING = "the report for human readers; the HTML file is self-contained and has no scripts"
_SOURCES = (
    "the answer's sources, as `@article` or `@inproceedings` with DOI, volume and pages if a source"
    " names its journal or conference, otherwise as `@misc`; quotes from paged documents include"
    " the page number"
)
FORMATS = {
    ".md": Format("report_markdown:render_markdown", Content.ANSWER, _READING),
    ".html": Format("report_html:render_html", Content.ANSWER, _READING),
    ".pdf": Format("report_pdf:render_pdf", Content.ANSWER, _READING),
    ".docx": Format(
        "report_docx:render_docx",
        Content.ANSWER,
        "the report as a Word document; requires the `docx` extra",
        "Word, LibreOffice",
    ),
    ".json": Format("finished_run:render_report", Content.ANSWER, "the report as JSON"),
    ".jsonl": Format(
        "finished_run:render_journal", Content.ANSWER, "the journal, one event per line"
    ),
    ".csv": Format(
        "data_csv:render_csv",
        Content.DATA,
        "the data requested with `--schema`: one row per item, with the cited URLs; cells are"
        " escaped so that spreadsheets do not run them as formulas",
        "spreadsheets",
    ),
    ".bib": Format(
        "bibliography:render_bibtex",
        Content.SOURCES,
        _SOURCES,
        "LaTeX, Zotero, citation processors",
    ),
    ".ris": Format(
        "bibliography:render_ris", Content.SOURCES, _SOURCES, "LaTeX, Zotero, citation processors"
    ),
    ".csl.json": Format(
        "bibliography:render_csl", Content.SOURCES, _SOURCES, "LaTeX, Zotero, citation processors"
    ),
    ".biblatex.bib": Format(
        "bibliography:render_biblatex",
        Content.SOURCES,
        "the same, but with web pages as `@online` and separate fields for dates and URLs",
        "biblatex",
    ),
    ".xml": Format(
        "junit:render_junit",
        Content.ANSWER,
        "JUnit results: one test case per sentence, which passes if the sentence is supported",
        "CI",
    ),
    ".warc.gz": Format(
        "web_archive:render_warc",
        Content.ARCHIVE,
        "the pages as they were read: HTTP responses with status and headers (without cookies) as"
        " `response`, live pages and images as `resource`, extracted text as `conversion`,"
        " repeated content as `revisit`",
        "web archive tools",
    ),
    ".zip": Format(
        "archive_writer:render_zip",
        Content.ARCHIVE,
        "the complete run; with `--sentence N`, [the proof of one"
        " sentence](#the-proof-of-one-sentence)",
        "`research show`, `export`, `verify`, `replay`, `diff`, `check`",
    ),
}
"""Formats by file extension, in the order used in the documentation."""


def format_extension(path: Path) -> str:
    """Return the extension that selects the format: the longest known one, otherwise the suffix."""
    name = path.name.lower()
    known = [*FORMATS, *IN_EXTRAS["exports"], *(plugin.name for plugin in plugins("exports"))]
    matching = [end for end in known if name.endswith(end) and name != end]
    return max(matching, key=len, default=path.suffix.lower())


def writer(path: Path) -> Callable[[Path], bytes]:
    """Return the function that renders a run for this file extension; raises `UsageError`."""
    end = format_extension(path)
    write: Callable[[Path], bytes] | None
    if end in FORMATS:
        module, _, function = FORMATS[end].render.partition(":")
        write = getattr(import_module(f"agent.export.{module}"), function)
    else:
        write = find_plugin("exports", end)
    if write is None:
        hint = f"Available: {' '.join(FORMATS)}; {extras_hint('exports')}"
        raise UsageError(f"{path.name}: unknown format", hint=hint)
    return write


def export(folder: Path, path: Path) -> None:
    """Write the run in `folder` to `path`; raises `UsageError` for an unknown format."""
    write_file(path, writer(path)(folder))
