"""The corpus index: a folder's files as passages in SQLite FTS5, brought up to date file by file.

Several processes may use one index: each file is one transaction, and readers see whole files.
A passage's row id is its file's id times 2^20 plus its number, so that a file's passages are a
range of ids and can be dropped without a second index.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from browser.errors import BrowserError, SearchError
from browser.text.sentences import sentences
from browser.text.words import UNSPACED, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from browser.types import Document

    Extractor = Callable[[bytes, str, str], Document]

KINDS = frozenset(
    """.md .markdown .txt .rst .html .htm .xhtml .pdf .docx .docm .dotx .doc .xlsx .xlsm .xlsb .xls
    .pptx .ppsx .ppt .odt .ods .odp .rtf .epub .eml .mbox .mht .mhtml .msg .csv .tsv .json .xml
    .zip .text .log .adoc .asciidoc .org .tex .yaml .yml .toml .ini .cfg .conf""".split()
)
_TEXTS = frozenset((".md", ".markdown", ".txt"))
# As large as a file may be that is then opened and read.
LARGEST_FILE = 32 * 1024 * 1024
# About a paragraph: long enough for a question's words to meet, short enough to be about one thing.
_SHORTEST, _LONGEST = 500, 1500
_HEADING = re.compile(r"^#{1,3}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_UNSPACED = re.compile(f"[{UNSPACED}]")


PASSAGE_BITS = 20
MOST_PASSAGES = (1 << PASSAGE_BITS) - 1
# A file changed this shortly before it was indexed may change again within one tick of its clock
# (FAT counts two seconds); its content is then compared as well.
_RACY_NS = 2_000_000_000
_VERSION = 5

_SCHEMA = """
CREATE TABLE IF NOT EXISTS file (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, modified INTEGER NOT NULL,
    size INTEGER NOT NULL, sha256 TEXT NOT NULL, indexed INTEGER NOT NULL,
    title TEXT NOT NULL, note TEXT NOT NULL, failed INTEGER NOT NULL
);
CREATE VIRTUAL TABLE IF NOT EXISTS passage USING fts5(
    title, text, unspaced, tokenize = 'porter unicode61 remove_diacritics 2'
);
"""


@dataclass(frozen=True, slots=True)
class Synced:
    """What bringing the index up to date did; `left` files await the next time.

    `unread` names each file of the folder that nothing could be read of, with the reason.
    """

    files: int = 0
    indexed: int = 0
    dropped: int = 0
    left: int = 0
    unread: tuple[tuple[str, str], ...] = ()


class Index:
    """The index of one folder in one SQLite file, made anew where that file is damaged."""

    def __init__(self, folder: Path, path: Path) -> None:
        self.folder = folder
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._prepare()
        except (OSError, sqlite3.OperationalError) as error:
            raise SearchError(
                f"cannot write the corpus index {path}: {error}",
                hint="Choose a data folder that can be written with --data-dir DIR.",
            ) from error

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one piece of work; threads and processes each have their own."""
        with closing(sqlite3.connect(self.path, timeout=30.0, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous=NORMAL")
            yield db

    def sync(self, extract: Extractor | None, *, seconds: float | None = None) -> Synced:
        """Index new and changed files and drop deleted ones, for `seconds` at most."""
        entries = list(walk(self.folder))
        with self.connect() as db:
            dropped = _drop_missing(db, {entry.path for entry in entries})
            stale = _stale(db, entries)
            indexed, until = 0, time.monotonic() + (math.inf if seconds is None else seconds)
            for entry in stale:
                if time.monotonic() >= until:
                    break
                _index_file(db, entry, extract)
                indexed += 1
            unread = db.execute("SELECT path, note FROM file WHERE failed ORDER BY path").fetchall()
        left = len(stale) - indexed
        return Synced(len(entries), indexed, dropped, left, tuple(unread))

    def _prepare(self) -> None:
        try:
            self._create()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            self.path.unlink()
            self._create()

    def _create(self) -> None:
        with self.connect() as db:
            db.execute("PRAGMA journal_mode=WAL")
            if db.execute("PRAGMA user_version").fetchone()[0] not in (0, _VERSION):
                db.executescript("DROP TABLE IF EXISTS file; DROP TABLE IF EXISTS passage;")
            db.executescript(f"{_SCHEMA} PRAGMA user_version = {_VERSION};")


def _drop_missing(db: sqlite3.Connection, present: set[str]) -> int:
    known = db.execute("SELECT id, path FROM file").fetchall()
    gone = [number for number, path in known if path not in present]
    for number in gone:
        db.execute("BEGIN IMMEDIATE")
        with db:  # commits, or rolls back
            _drop(db, number)
    return len(gone)


def _stale(db: sqlite3.Connection, entries: list[CorpusFile]) -> list[CorpusFile]:
    """Give the files that are new, or whose time or size changed, or may have within one tick."""
    rows = db.execute("SELECT path, modified, size, indexed FROM file")
    known = {path: (modified, size, indexed) for path, modified, size, indexed in rows}

    def is_fresh(entry: CorpusFile) -> bool:
        modified, size, indexed = known.get(entry.path, (-1, -1, -1))
        same = (modified, size) == (entry.modified, entry.size)
        return same and entry.modified <= indexed - _RACY_NS

    return [entry for entry in entries if not is_fresh(entry)]


def _index_file(db: sqlite3.Connection, entry: CorpusFile, extract: Extractor | None) -> None:
    now = time.time_ns()
    body, failure = _read(entry)
    digest = sha256(body).hexdigest()
    known = db.execute("SELECT id, sha256 FROM file WHERE path = ?", (entry.path,)).fetchone()
    if known is not None and known[1] == digest:
        db.execute(
            "UPDATE file SET modified = ?, size = ?, indexed = ? WHERE id = ?",
            (entry.modified, entry.size, now, known[0]),
        )
        return
    text = failure or read_text(Path(entry.path), body, extract)
    db.execute("BEGIN IMMEDIATE")
    with db:  # commits, or rolls back
        again = db.execute("SELECT id FROM file WHERE path = ?", (entry.path,)).fetchone()
        if again is not None:
            _drop(db, again[0])
        number = db.execute(
            "INSERT INTO file (path, modified, size, sha256, indexed, title, note, failed)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                entry.path,
                entry.modified,
                entry.size,
                digest,
                now,
                text.title,
                text.note,
                not text.body.strip(),
            ),
        ).lastrowid
        db.executemany(
            "INSERT INTO passage (rowid, title, text, unspaced) VALUES (?, ?, ?, ?)",
            _rows(number or 0, text),
        )


def _rows(number: int, text: Text) -> Iterator[tuple[int, str, str, str]]:
    for position, passage in enumerate(split(text.body)):
        if position > MOST_PASSAGES:
            return
        yield (number << PASSAGE_BITS) + position, text.title, passage, unspaced(passage)


def _read(entry: CorpusFile) -> tuple[bytes, Text | None]:
    if entry.size > LARGEST_FILE:
        return b"", Text(Path(entry.path).stem, note=f"larger than {LARGEST_FILE >> 20} MB")
    try:
        return Path(entry.path).read_bytes(), None
    except OSError as error:
        return b"", Text(Path(entry.path).stem, note=f"cannot be read: {error.strerror}")


def _drop(db: sqlite3.Connection, number: int) -> None:
    first = number << PASSAGE_BITS
    db.execute("DELETE FROM passage WHERE rowid BETWEEN ? AND ?", (first, first + MOST_PASSAGES))
    db.execute("DELETE FROM file WHERE id = ?", (number,))


@dataclass(frozen=True, slots=True)
class CorpusFile:
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
    except NotADirectoryError as error:
        hint = f"Give its folder with --corpus DIR, or --file {folder} for it alone."
        raise SearchError(f"the corpus {folder} is a file, not a folder", hint=hint) from error
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SearchError(f"cannot read the corpus {folder}: {reason}", hint=hint) from error
    return absolute


def walk(folder: Path) -> Iterator[CorpusFile]:
    """Yield the searchable files below a folder in the order of their names, hidden ones apart.

    Those are files of `KINDS`, and those without an ending of letters that begin as text.
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
            ending = os.path.splitext(entry.name)[1].lower()  # noqa: PTH122
            if ending in KINDS or not ending[1:].isalpha():
                try:
                    status, is_file = entry.stat(), entry.is_file()
                    readable = is_file and (ending in KINDS or _is_text(entry.path))
                except OSError:
                    continue
                if readable:
                    # A name that is no UTF-8 cannot be kept in SQLite.
                    path = entry.path.encode("utf-8", "replace").decode()
                    yield CorpusFile(path, status.st_mtime_ns, status.st_size)


def _is_text(path: str) -> bool:
    """Tell whether a file without an ending of its own (`NEWS`, `CC0-1.0`, `ls.1`) begins as text.

    Raises `OSError` for one that refuses.
    """
    with Path(path).open("rb") as file:
        begin = file.read(1024)
    return bool(begin) and b"\0" not in begin


def read_text(path: Path, body: bytes, extract: Extractor | None) -> Text:
    """Turn a file's bytes into title and text; one that cannot be read gets a note instead."""
    name = path.stem if path.suffix[1:].isalpha() else path.name
    if extract is None:
        if path.suffix.lower() not in _TEXTS:
            return Text(name, note="no extractor for this kind of file")
        text = clean(body.decode("utf-8-sig", "replace"))
        heading = _HEADING.search(text)
        return Text(heading[1] if heading else name, text)
    try:
        document = extract(body, "", path.as_uri())
    except BrowserError as error:
        return Text(name, note=str(error))
    except Exception as error:  # noqa: BLE001 - one file of others' making must not end the rest
        return Text(name, note=f"could not be read: {error!r}"[:300])
    # A JSON file may hold half a character, which neither SQLite nor a terminal takes.
    title, text = (
        clean(part).encode("utf-8", "replace").decode() for part in (document.title, document.text)
    )
    is_text = document.kind == "text"  # whose first line is no title
    note = "; ".join(document.notes) or ("" if text.strip() else "no text in it")
    return Text(name if is_text else " ".join(title.split()) or name, text, note)


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
