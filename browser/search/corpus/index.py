"""The corpus index: passages in SQLite FTS5, brought up to date file by file.

Several processes may use one index: each file is one transaction, and readers see whole files.
A passage's row id is its file's id times 2^20 plus its number, so that a file's passages are a
range of ids and can be dropped without a second index.
"""

from __future__ import annotations

import math
import sqlite3
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from browser.errors import SearchError
from browser.search.corpus.folder import LARGEST_FILE, Text, read_text, split, unspaced, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.search.corpus.folder import Entry, Extractor

PASSAGE_BITS = 20
MOST_PASSAGES = (1 << PASSAGE_BITS) - 1
# A file changed this shortly before it was indexed may change again within one tick of its clock
# (FAT counts two seconds); its content is then compared as well.
_RACY_NS = 2_000_000_000
_VERSION = 4

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
        with _transaction(db):
            _drop(db, number)
    return len(gone)


def _stale(db: sqlite3.Connection, entries: list[Entry]) -> list[Entry]:
    """Give the files that are new, or whose time or size changed, or may have within one tick."""
    rows = db.execute("SELECT path, modified, size, indexed FROM file")
    known = {path: (modified, size, indexed) for path, modified, size, indexed in rows}

    def is_fresh(entry: Entry) -> bool:
        modified, size, indexed = known.get(entry.path, (-1, -1, -1))
        same = (modified, size) == (entry.modified, entry.size)
        return same and entry.modified <= indexed - _RACY_NS

    return [entry for entry in entries if not is_fresh(entry)]


def _index_file(db: sqlite3.Connection, entry: Entry, extract: Extractor | None) -> None:
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
    with _transaction(db):
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


def _read(entry: Entry) -> tuple[bytes, Text | None]:
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


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
