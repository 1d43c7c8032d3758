"""The files of a folder that can be searched, and the text in them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from browser.errors import BrowserError, SearchError
from browser.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from browser.types import Document

    Extractor = Callable[[bytes, str, str], Document]

KINDS = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    **dict.fromkeys((".docx", ".docm", ".xlsx", ".xlsm", ".pptx", ".odt", ".ods", ".odp"), ""),
    ".rtf": "application/rtf",
    ".epub": "application/epub+zip",
    ".eml": "message/rfc822",
    ".mbox": "application/mbox",
    ".mhtml": "multipart/related",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".xml": "text/xml",
}
# These are read here, as they stand; the others by the extractor.
_PLAIN = frozenset((".md", ".markdown", ".txt"))
# Kinds that are text: one with a NUL in it is something else under their name.
_TEXTUAL = _PLAIN | {".html", ".htm", ".csv", ".tsv", ".json", ".xml"}

# A text file beyond this is a log or a dump: its beginning is indexed. Ten long novels.
LONGEST_TEXT = 10_000_000
# PDFs and pages are parsed whole; beyond this that takes longer than anyone waits.
LARGEST_FILE = 100_000_000

_HEADING = re.compile(r"^#{1,3}\s+(.+?)\s*#*\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as the folder lists it; `modified` in nanoseconds since the epoch."""

    path: str
    modified: int
    size: int


@dataclass(frozen=True, slots=True)
class Text:
    """What a file says; `note` tells why it says nothing."""

    title: str
    body: str
    note: str = ""


def checked_folder(folder: Path) -> Path:
    """Give the absolute folder; raise `SearchError` where it cannot be listed."""
    hint = "Give an existing folder of documents (.md, .html, .pdf, .docx, …) with --corpus DIR."
    try:
        absolute = folder.expanduser().resolve(strict=True)
        with os.scandir(absolute) as entries:
            next(entries, None)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SearchError(f"cannot read the corpus {folder}: {reason}", hint=hint) from error
    return absolute


def walk(folder: Path) -> Iterator[Entry]:
    """Yield the searchable files below a folder in the order of their names, hidden ones apart.

    Symbolic links to folders are not followed; files that vanish or refuse meanwhile are left out.
    """
    folders = [str(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        visible = [entry for entry in entries if not entry.name.startswith(".")]
        folders += [entry.path for entry in visible if entry.is_dir(follow_symlinks=False)]
        yield from filter(None, map(_entry, visible))


def _entry(entry: os.DirEntry[str]) -> Entry | None:
    if os.path.splitext(entry.name)[1].lower() not in KINDS:  # noqa: PTH122 - 10x Path's speed
        return None
    try:
        status = entry.stat()
        return Entry(entry.path, status.st_mtime_ns, status.st_size) if entry.is_file() else None
    except OSError:
        return None


def read_text(path: Path, body: bytes, extract: Extractor | None) -> Text:
    """Turn a file's bytes into title and text; a file that is no text gets a note instead."""
    suffix = path.suffix.lower()
    if suffix in _TEXTUAL and _is_binary(body):
        return Text(path.stem, "", "binary data")
    if suffix not in _PLAIN:
        return _extracted(path, body, extract)
    text = clean(_decoded(body[:LONGEST_TEXT]))
    heading = _HEADING.search(text) if KINDS[suffix] == "text/markdown" else None
    return Text(heading[1] if heading else path.stem, text)


def _extracted(path: Path, body: bytes, extract: Extractor | None) -> Text:
    if extract is None:
        return Text(path.stem, "", "no extractor for this kind of file")
    try:
        document = extract(body, KINDS[path.suffix.lower()], path.as_uri())
    except BrowserError as error:
        return Text(path.stem, "", str(error))
    note = "" if document.text.strip() else "; ".join(document.notes) or "no text in it"
    return Text(" ".join(clean(document.title).split()) or path.stem, clean(document.text), note)


def _is_binary(body: bytes) -> bool:
    head = body[:8192]
    return b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))


def _decoded(body: bytes) -> str:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", errors="replace")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # A cut at LONGEST_TEXT may split the last character; anything earlier is another charset.
        if error.start >= len(body) - 4:
            return body.decode("utf-8", errors="ignore")
        return body.decode("cp1252", errors="replace")
