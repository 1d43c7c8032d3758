"""All runs in a data folder, searchable by tags and by words in questions, answers and sources.

The index (`library.db`, SQLite full text) is built from the runs' folders and can be deleted at any
time. Tags are user data and are stored in the run's folder (`tags.json`).
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import ValidationError

from agent.errors import ResearchError, UsageError
from agent.export.report_view import badge_kind, text_parts
from agent.journal.events import read_event
from agent.serve.schemas import RunState
from agent.types import Report
from browser.files import write_atomic
from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from agent.journal.runs import RunFolder, Runs

T = TypeVar("T")
VERSION: Final = 4
"""Version of the tables; an index with a different version is rebuilt."""
MAX_TAG_CHARS: Final = 40  # a tag is a word or two
MAX_TAGS: Final = 20  # per run
_SCHEMA_SQL: Final = """
create table run(id text primary key, stamp integer, at text, session text, tags text, state text,
  sent text);
create virtual table said using fts5(id unindexed, question, answer, sources,
  tokenize = 'unicode61 remove_diacritics 2');
"""
_EXCERPT_CHARS: Final = 220
"""Maximum length of an answer's excerpt in a list, in characters (two lines)."""
_MARKUP_RE: Final = re.compile(r"\s*\[\d{1,3}\]|[#*`|]+")
_HIT_START, _HIT_END = "\ue001", "\ue002"  # private-use characters: web text does not use them
_SNIPPET_SQL: Final = f"snippet(said, -1, '{_HIT_START}', '{_HIT_END}', '…', 24)"


class Library:
    """The searchable index of runs. Thread-safe."""

    def __init__(self, runs: Runs, data: Path) -> None:
        self._runs = runs
        self._path = data / "library.db"
        self._lock = Lock()

    def search(
        self, query: str = "", tag: str = "", session: str = "", *, limit: int = 50, skip: int = 0
    ) -> list[RunState]:
        """Find runs: best match first for a search, otherwise newest first."""
        # Quoting prevents words from being FTS5 operators; the star makes them match as prefixes.
        wanted = " ".join(f'"{word}"*' for word in words(query))
        if query.strip() and not wanted:
            return []
        if wanted:
            found, tables = _SNIPPET_SQL, "said join run on run.id = said.id"
            order = "bm25(said, 0, 4, 2, 1), at desc"
        else:
            found, tables, order = "''", "run", "at desc, run.id desc"
        in_tags = "exists (select 1 from json_each(tags) where value = ?)"
        given = {"said match ?": wanted, in_tags: tag, "session = ?": session}
        conditions = {condition: value for condition, value in given.items() if value}
        sql = (
            f"select state, {found} from {tables}"  # noqa: S608 - our own constants
            f" where {' and '.join(conditions) or '1'} order by {order} limit ? offset ?"
        )
        with self._index() as index:
            self._refresh(index)
            rows = index.execute(sql, [*conditions.values(), limit, skip]).fetchall()
        return [_run_state(state, snippet) for state, snippet in rows]

    def one(self, folder: RunFolder) -> RunState:
        """Describe a run."""
        with self._index() as index:
            # The run may be new, or have changed since the index was last updated.
            return self._add(index, folder, _stamp(folder)).model_copy(update={"found": []})

    def session_of_answer(self, text: str) -> str:
        """Return the session in which this answer was last sent, or an empty string."""
        with self._index() as index:
            self._refresh(index)
            row = index.execute(
                "select session from run where sent = ? order by at desc limit 1", [_digest(text)]
            ).fetchone()
        return str(row[0]) if row else ""

    def tags(self) -> list[tuple[str, int]]:
        """List the tags, each with its number of runs."""
        with self._index() as index:
            self._refresh(index)
            rows = index.execute(
                "select value, count(*) from run, json_each(run.tags) group by value order by value"
            )
            return rows.fetchall()

    def tag(self, folder: RunFolder, tags: Sequence[str]) -> tuple[str, ...]:
        """Replace the tags of a run. Raises `UsageError`."""
        cleaned = tuple(dict.fromkeys(" ".join(tag.split()) for tag in tags if tag.strip()))
        if len(cleaned) > MAX_TAGS or any(len(tag) > MAX_TAG_CHARS for tag in cleaned):
            raise UsageError(
                f"a run can have at most {MAX_TAGS} tags of up to {MAX_TAG_CHARS} characters"
            )
        write_atomic(_tags_file(folder), json.dumps(cleaned).encode(), private=True)
        return cleaned

    @contextmanager
    def _index(self) -> Iterator[sqlite3.Connection]:
        """Open the index for the duration of the block, and commit at its end."""
        # One update at a time: two would do the same work and wait for each other.
        with self._lock, closing(sqlite3.connect(self._path, timeout=30)) as index, index:
            if index.execute("pragma user_version").fetchone()[0] != VERSION:
                index.executescript(
                    "drop table if exists run; drop table if exists said;"
                    f"{_SCHEMA_SQL} pragma user_version = {VERSION};"
                )
            yield index

    def _refresh(self, index: sqlite3.Connection) -> None:
        """Update the index from the folders."""
        known = dict(index.execute("select id, stamp from run").fetchall())
        for folder in self._runs:
            stamp = _stamp(folder)
            if known.pop(folder.id, None) != stamp:
                self._add(index, folder, stamp)
        for removed in known:
            index.execute("delete from run where id = ?", [removed])
            index.execute("delete from said where id = ?", [removed])

    def _add(self, index: sqlite3.Connection, folder: RunFolder, stamp: int) -> RunState:
        start, report = read_start_event(folder), _read_json(folder.report, dict)
        options = start.get("options") or {}
        shown = _report(report)
        usage = report.get("usage") or {}
        sources = report.get("sources") or []
        answer = str(report.get("answer") or "")
        question = str(report.get("question") or start.get("question") or "")
        begins = " ".join(_MARKUP_RE.sub("", answer[: _EXCERPT_CHARS * 2]).split())[:_EXCERPT_CHARS]
        run = RunState(
            run=folder.id,
            question=question,
            status=report.get("status") or "cut off",
            badge=shown.badge if shown else "",
            kind=badge_kind(shown) if shown else "",
            standing=shown.standing if shown else None,
            doubt=shown.doubt if shown else None,
            confidence=report.get("confidence"),
            at=start.get("at", ""),
            session=str(start.get("session") or folder.id),
            model=str(usage.get("model") or start.get("model") or options.get("model") or ""),
            usd=float(usage.get("usd") or 0),
            elapsed_s=float(report.get("elapsed_s") or 0),
            sources=len(sources),
            tags=[str(tag) for tag in _read_json(_tags_file(folder), list)],
            found=[(begins, False)] if begins else [],
        )
        row = [run.run, stamp, run.at, run.session, json.dumps(run.tags), run.model_dump_json()]
        row.append(_digest("\n\n".join(text_parts(shown))) if shown else "")
        index.execute("insert or replace into run values (?, ?, ?, ?, ?, ?, ?)", row)
        index.execute("delete from said where id = ?", [folder.id])
        source_words = " ".join(
            " ".join([str(s.get("title", "")), str(s.get("url", "")), *s.get("quotes", [])])
            for s in sources
        )
        said = [folder.id, question, answer, source_words]
        index.execute("insert into said values (?, ?, ?, ?)", said)
        return run


def _run_state(state: str, snippet: str) -> RunState:
    """Read an index row; the snippet is split into pieces, each marked if it matches the query."""
    run = RunState.model_validate_json(state)
    pieces: list[tuple[str, bool]] = []
    for part in snippet.split(_HIT_START):
        hit, ended, rest = part.partition(_HIT_END)
        pieces += [(hit, True), (rest, False)] if ended else [(hit, False)]
    found = [(text, is_hit) for text, is_hit in pieces if text]
    return run.model_copy(update={"found": found}) if found else run


def _report(saved: dict[str, Any]) -> Report | None:
    """Read a saved report; None if it is missing or unreadable."""
    try:
        return Report.model_validate(saved)
    except ValidationError:
        return None


def _digest(text: str) -> str:
    return sha256(text.strip().encode("utf-8", "replace")).hexdigest()


def _tags_file(folder: RunFolder) -> Path:
    return folder.path / "tags.json"


def _stamp(folder: RunFolder) -> int:
    """Return the folder's modification time, which changes if its report or tags are replaced."""
    with suppress(FileNotFoundError):  # deleted in the meantime
        return folder.path.stat().st_mtime_ns
    return 0


def read_start_event(folder: RunFolder) -> dict[str, Any]:
    """Read a run's start event and its time (`at`) from the first line; {} if there is none."""
    try:
        with folder.journal.open("rb") as file:
            event = read_event(file.readline().rstrip(b"\n"), folder.id)
    except (OSError, ResearchError):
        return {}
    return {**event.data, "at": event.at}


def _read_json(path: Path, kind: type[T]) -> T:
    """Read a JSON file; return an empty `kind` if it is unreadable or of another type."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return kind()
    return value if isinstance(value, kind) else kind()
