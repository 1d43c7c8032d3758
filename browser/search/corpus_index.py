"""The corpus index: passages of a folder's files in SQLite FTS5, updated file by file.

Several processes may use one index: each file is one transaction, so readers see complete files. A
passage's row id is its file's id times 2^20 plus its number, so a file's passages are a range of
ids that can be deleted without a second index.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from browser.errors import BrowserError, ExtractError, SearchError
from browser.net.local_files import MAX_FILE_BYTES
from browser.text.languages import language_of, stems_in
from browser.text.sentences import sentences
from browser.text.words import character_pairs, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from browser.types import Document

    Extractor = Callable[[bytes, str, str], Document]

KINDS = frozenset(
    """.md .markdown .txt .rst .vtt .srt .nxml .html .htm .xhtml .pdf .docx .docm .dotx .doc .xlsx
    .xlsm .xlsb .xls .pptx .ppsx .ppt .odt .ods .odp .rtf .epub .eml .mbox .mht .mhtml .msg .csv
    .tsv .json .xml .zip .text .log .adoc .asciidoc .org .tex .yaml .yml .toml .ini .cfg
    .conf""".split()
)
# Characters per passage: long enough to contain a question's words, short enough for one topic.
_MIN_CHARS, _MAX_CHARS = 500, 1500

PASSAGE_BITS = 20  # low bits of a passage id, for its number in the file: a million per file
_MAX_PASSAGES = (1 << PASSAGE_BITS) - 1
# A file that changed this shortly before it was indexed may have changed again within the same tick
# of its file system's clock (2 s on FAT), without a new timestamp. Its content is compared instead.
_CLOCK_TICK_NS = 2_000_000_000
_SCHEMA_VERSION = 6

_SCHEMA = """
CREATE TABLE IF NOT EXISTS file (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, modified INTEGER NOT NULL,
    size INTEGER NOT NULL, sha256 TEXT NOT NULL, indexed INTEGER NOT NULL,
    title TEXT NOT NULL, note TEXT NOT NULL, failed INTEGER NOT NULL, language TEXT NOT NULL
);
CREATE VIRTUAL TABLE IF NOT EXISTS passage USING fts5(
    title, text, stems, tokenize = 'porter unicode61 remove_diacritics 2'
);
"""


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of updating the index, as file counts; `left` files remain for the next update.

    `unread` lists each file in the folder that was not read, with the reason.
    """

    files: int = 0
    indexed: int = 0
    left: int = 0
    unread: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file in the folder; `modified` is in nanoseconds since the epoch."""

    path: str
    modified: int
    size: int


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text; `note` says which parts could not be read."""

    title: str
    body: str = ""
    note: str = ""


class Index:
    """The index of one folder in one SQLite file; a damaged file is replaced.

    Raises `SearchError` if the file cannot be written.
    """

    def __init__(
        self, folder: Path, path: Path, only: Callable[[], frozenset[str]] | None = None
    ) -> None:
        self.folder = folder
        self._only = only
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                self._create()
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                path.unlink()
                self._create()
        except (OSError, sqlite3.OperationalError) as error:
            raise SearchError(
                f"cannot write the corpus index {path}: {error}",
                hint="Choose a writable data folder with --data-dir DIR.",
            ) from error

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for one operation; each thread and process has its own."""
        with closing(sqlite3.connect(self.path, timeout=30.0, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous=NORMAL")
            yield db

    def compare(self) -> tuple[int, list[CorpusFile], list[tuple[str, str]]]:
        """Compare the index with the folder, and remove missing files from the index.

        Returns the number of files, the new or changed files, and the skipped files with the
        reasons.
        """
        left_out: list[tuple[str, str]] = []
        files = list(_list_files(self.folder, left_out))
        if self._only is not None:
            wanted = self._only()
            files = [file for file in files if file.path in wanted]
            left_out = [(path, why) for path, why in left_out if path in wanted]
        with self.connect() as db:
            rows = db.execute("SELECT path, id, modified, size, indexed FROM file")
            known = {path: row for path, *row in rows}
            for path in known.keys() - {file.path for file in files}:
                with _transaction(db):
                    _delete_file(db, known[path][0])
        stale = [file for file in files if not _is_current(file, *known.get(file.path, ()))]
        return len(files) + len(left_out), stale, left_out

    def note_crash(self, file: CorpusFile) -> None:
        """Record a file in the index as unreadable because its reader crashed."""

        def refuse(*_: object) -> Document:
            raise ExtractError("its reader crashed")

        with self.connect() as db:
            index_file(db, file, refuse)

    def unread(self) -> list[tuple[str, str]]:
        """Return the files that could not be read, with the reasons."""
        with self.connect() as db:
            return db.execute("SELECT path, note FROM file WHERE failed ORDER BY path").fetchall()

    def _create(self) -> None:
        with self.connect() as db:
            db.execute("PRAGMA journal_mode=WAL")
            if db.execute("PRAGMA user_version").fetchone()[0] not in (0, _SCHEMA_VERSION):
                db.executescript("DROP TABLE IF EXISTS file; DROP TABLE IF EXISTS passage;")
            db.executescript(f"{_SCHEMA} PRAGMA user_version = {_SCHEMA_VERSION};")


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    with db:  # commits, or rolls back
        yield


def _is_current(
    file: CorpusFile, _id: int = 0, modified: int = -1, size: int = -1, indexed: int = -1
) -> bool:
    """Whether a file's time and size are as indexed, and no later change can have the same time."""
    same = (file.modified, file.size) == (modified, size)
    return same and file.modified <= indexed - _CLOCK_TICK_NS


def index_file(db: sqlite3.Connection, file: CorpusFile, extract: Extractor) -> None:
    """Read a file and add its passages to the index, in one transaction."""
    now, path, body, failure = time.time_ns(), Path(file.path), b"", ""
    if file.size > MAX_FILE_BYTES:
        failure = f"larger than {MAX_FILE_BYTES >> 20} MB"
    else:
        try:
            body = path.read_bytes()
        except OSError as error:
            failure = f"cannot be read: {error.strerror}"
    digest = sha256(body).hexdigest()
    known = db.execute("SELECT id, sha256 FROM file WHERE path = ?", (file.path,)).fetchone()
    if known is not None and known[1] == digest:
        db.execute(
            "UPDATE file SET modified = ?, size = ?, indexed = ? WHERE id = ?",
            (file.modified, file.size, now, known[0]),
        )
        return
    text = FileText(path.stem, note=failure) if failure else _read_text(path, body, extract)
    failed = not text.body.strip()
    language = language_of(text.body) or ""
    row = (
        file.path,
        file.modified,
        file.size,
        digest,
        now,
        text.title,
        text.note,
        failed,
        language,
    )
    with _transaction(db):
        # Looked up again: another process may have indexed it in the meantime.
        current = db.execute("SELECT id FROM file WHERE path = ?", (file.path,)).fetchone()
        if current is not None:
            _delete_file(db, current[0])
        number = db.execute(
            "INSERT INTO file (path, modified, size, sha256, indexed, title, note, failed,"
            " language) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        ).lastrowid
        first = (number or 0) << PASSAGE_BITS
        passages = list(_split_passages(text.body))[: _MAX_PASSAGES + 1]
        db.executemany(
            "INSERT INTO passage (rowid, title, text, stems) VALUES (?, ?, ?, ?)",
            (
                (first + n, text.title, part, " ".join(foreign_stems(language, part)))
                for n, part in enumerate(passages)
            ),
        )


def _delete_file(db: sqlite3.Connection, number: int) -> None:
    first = number << PASSAGE_BITS
    db.execute("DELETE FROM passage WHERE rowid BETWEEN ? AND ?", (first, first + _MAX_PASSAGES))
    db.execute("DELETE FROM file WHERE id = ?", (number,))


def resolve_corpus_folder(folder: Path) -> Path:
    """Return the absolute folder; raises `SearchError` if it cannot be listed."""
    hint = "Pass an existing folder of documents (.md, .html, .pdf, .docx, …) with --corpus DIR."
    try:
        absolute = folder.expanduser().resolve(strict=True)
        with os.scandir(absolute) as entries:
            next(entries, None)
    except NotADirectoryError as error:
        hint = f"Pass its folder with --corpus DIR, or read only this file with --file {folder}."
        raise SearchError(f"the corpus {folder} is a file, not a folder", hint=hint) from error
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SearchError(f"cannot read the corpus {folder}: {reason}", hint=hint) from error
    return absolute


_DATA_FOLDER_NAMES = frozenset({"runs", "corpus"})
"""Subfolders by which Urchin's data folder is recognised: a run with a corpus creates them."""


def _list_files(folder: Path, left_out: list[tuple[str, str]]) -> Iterator[CorpusFile]:
    """Yield the searchable, non-hidden files below a folder, sorted by name.

    Links to files within the folder are followed; those that lead out of it are added to
    `left_out`, so that somebody else's folder cannot expose the user's private keys. Urchin's data
    folders are added too: their runs and memories are not the user's documents. Links to folders
    are not followed, because targets within the folder are found anyway. Unreadable files are
    skipped.
    """
    folders = [str(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        own = (
            _DATA_FOLDER_NAMES
            if {entry.name for entry in entries} > _DATA_FOLDER_NAMES
            else frozenset()
        )
        for entry in entries:
            try:
                if entry.name.startswith("."):
                    continue
                # SQLite cannot store a name that is not UTF-8.
                path = entry.path.encode("utf-8", "replace").decode()
                if entry.name in own:
                    left_out.append((path, "part of an Urchin data folder"))
                elif _links_outside(entry, folder):
                    left_out.append((path, "a link to something outside the folder"))
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file() and _is_searchable(entry):
                    status = entry.stat()
                    yield CorpusFile(path, status.st_mtime_ns, status.st_size)
            except OSError:
                continue


def _links_outside(entry: os.DirEntry[str], folder: Path) -> bool:
    """Whether an entry is a link (on Windows, also a junction) to something outside the folder."""
    junction = sys.version_info >= (3, 12) and entry.is_junction()
    if not (entry.is_symlink() or junction):
        return False
    return not Path(os.path.realpath(entry.path)).is_relative_to(folder)


def _is_searchable(entry: os.DirEntry[str]) -> bool:
    """Whether a file is one of `KINDS`, or text without an alphabetic suffix (`NEWS`, `ls.1`)."""
    suffix = os.path.splitext(entry.name)[1].lower()  # noqa: PTH122 - ten times as fast as Path
    if suffix in KINDS or suffix[1:].isalpha():
        return suffix in KINDS
    with Path(entry.path).open("rb") as file:
        head = file.read(1024)
    return bool(head) and b"\0" not in head


def _read_text(path: Path, body: bytes, extract: Extractor) -> FileText:
    """Extract the title and text from a file's bytes, or a note if it cannot be read."""
    name = path.stem if path.suffix[1:].isalpha() else path.name
    try:
        document = extract(body, "", f"file:///{quote(path.name)}")
    except BrowserError as error:
        return FileText(name, note=str(error))
    except Exception as error:  # noqa: BLE001 - one bad file must not stop the indexing
        return FileText(name, note=f"could not be read: {error!r}"[:300])
    # A JSON file may contain a lone surrogate, which SQLite and terminals reject.
    title, text = (
        clean(part).encode("utf-8", "replace").decode() for part in (document.title, document.text)
    )
    is_text = document.kind == "text"  # its first line is not a title
    note = "; ".join(document.notes) or ("" if text.strip() else "it contains no text")
    return FileText(name if is_text else " ".join(title.split()) or name, text, note)


def _split_passages(text: str) -> Iterator[str]:
    """Split text at blank lines into passages of about 500 to 1,500 characters."""
    passage = ""
    for block in re.split(r"\n\s*\n", text):
        for piece in _split_block(block.strip()):
            if passage and len(passage) + len(piece) > _MAX_CHARS:
                yield passage
                passage = ""
            passage = f"{passage}\n\n{piece}" if passage else piece
            if len(passage) >= _MIN_CHARS:
                yield passage
                passage = ""
    if passage:
        yield passage


def _split_block(block: str) -> Iterator[str]:
    """Split a long block between sentences, or by length if it has no sentences (tables, logs)."""
    start = end = 0
    parts = []
    for span in sentences(block) if len(block) > _MAX_CHARS else ():
        if span.end - start > _MAX_CHARS and end > start:
            parts.append(block[start:end])
            start = span.start
        end = span.end
    for part in (*parts, block[start:]):
        yield from (part[n : n + 2 * _MAX_CHARS] for n in range(0, len(part), 2 * _MAX_CHARS))


def foreign_stems(language: str, text: str) -> list[str]:
    """Return the stems that FTS5's English stemmer does not find.

    They are stems in the text's language, or character pairs in scripts without spaces.
    """
    return character_pairs(text) if language in ("", "en") else stems_in(language, text)
