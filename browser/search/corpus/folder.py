"""The files of a folder that can be searched, what they say, and their passages."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from browser.errors import BrowserError, SearchError
from browser.text import clean, sentences
from browser.text.words import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from browser.types import Document

    Extractor = Callable[[bytes, str, str], Document]

KINDS = frozenset(
    """.md .markdown .txt .rst .html .htm .xhtml .pdf .docx .docm .dotx .doc .xlsx .xlsm .xlsb .xls
    .pptx .ppsx .ppt .odt .ods .odp .rtf .epub .eml .mbox .mht .mhtml .msg .csv .tsv .json .xml
    .zip""".split()
)
_TEXTS = frozenset((".md", ".markdown", ".txt"))
# As large as a file may be that is then opened and read.
LARGEST_FILE = 32 * 1024 * 1024
# About a paragraph: long enough for a question's words to meet, short enough to be about one thing.
_SHORTEST, _LONGEST = 500, 1500
_HEADING = re.compile(r"^#{1,3}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as the folder lists it; `modified` in nanoseconds since the epoch."""

    path: str
    modified: int
    size: int


@dataclass(frozen=True, slots=True)
class Text:
    """What a file says; `note` tells what could not be read of it."""

    title: str
    body: str = ""
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
        for entry in visible:
            # os.path: ten times as fast as Path.
            if os.path.splitext(entry.name)[1].lower() in KINDS:  # noqa: PTH122
                try:
                    status, is_file = entry.stat(), entry.is_file()
                except OSError:
                    continue
                if is_file:
                    # A name that is no UTF-8 cannot be kept in SQLite.
                    path = entry.path.encode("utf-8", "replace").decode()
                    yield Entry(path, status.st_mtime_ns, status.st_size)


def read_text(path: Path, body: bytes, extract: Extractor | None) -> Text:
    """Turn a file's bytes into title and text; one that cannot be read gets a note instead."""
    if extract is None:
        if path.suffix.lower() not in _TEXTS:
            return Text(path.stem, note="no extractor for this kind of file")
        text = clean(body.decode("utf-8-sig", "replace"))
        heading = _HEADING.search(text)
        return Text(heading[1] if heading else path.stem, text)
    try:
        document = extract(body, "", path.as_uri())
    except BrowserError as error:
        return Text(path.stem, note=str(error))
    except Exception as error:  # noqa: BLE001 - one file of others' making must not end the rest
        return Text(path.stem, note=f"could not be read: {error!r}"[:300])
    # A JSON file may hold half a character, which neither SQLite nor a terminal takes.
    title, text = (
        clean(part).encode("utf-8", "replace").decode() for part in (document.title, document.text)
    )
    is_text = document.kind == "text"  # whose first line is no title
    note = "; ".join(document.notes) or ("" if text.strip() else "no text in it")
    return Text(path.stem if is_text else " ".join(title.split()) or path.stem, text, note)


def split(text: str) -> Iterator[str]:
    """Cut a text at blank lines into passages of about 500 to 1,500 characters."""
    gathered = ""
    for block in re.split(r"\n\s*\n", text):
        for piece in _pieces(block.strip()):
            if gathered and len(gathered) + len(piece) > _LONGEST:
                yield gathered
                gathered = ""
            gathered = f"{gathered}\n\n{piece}" if gathered else piece
            if len(gathered) >= _SHORTEST:
                yield gathered
                gathered = ""
    if gathered:
        yield gathered


def unspaced(text: str) -> str:
    """Give the characters of scripts written without spaces, each as a word of its own."""
    return " ".join(_UNSPACED.findall(text))


def _pieces(block: str) -> Iterator[str]:
    """Cut a block that is too long between sentences; what has none (tables, logs) by length."""
    start = end = 0
    for span in sentences(block) if len(block) > _LONGEST else ():
        if span.end - start > _LONGEST and end > start:
            yield from _chunks(block[start:end])
            start = span.start
        end = span.end
    yield from _chunks(block[start:])


def _chunks(piece: str) -> Iterator[str]:
    for n in range(0, len(piece), 2 * _LONGEST):
        yield piece[n : n + 2 * _LONGEST]
