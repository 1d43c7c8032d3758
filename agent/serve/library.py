"""All runs of a data folder, found by words in questions, answers and sources, and by tags.

The index (`library.db`, SQLite's full text) is made of the runs' folders and can be deleted at any
time; tags are a person's own, so they stand in the folder of their run (`tags.json`).
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from agent.errors import ResearchError, UsageError
from agent.files import write_whole
from agent.journal.events import read_event
from agent.serve.forms import RunState
from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agent.journal.runs import RunFolder, Runs

VERSION: Final = 2
LONGEST_TAG: Final = 40
MOST_TAGS: Final = 20
_TABLES: Final = """
create table run(id text primary key, stamp integer, question text, status text, confidence real,
  at text, session text, model text, usd real, elapsed_s real, sources integer, tags text,
  begins text);
create virtual table said using fts5(id unindexed, question, answer, sources,
  tokenize = 'unicode61 remove_diacritics 2');
"""
_BEGINS: Final = 220
"""Characters of an answer in a list: two lines."""
_MARKS: Final = re.compile(r"\s*\[\d{1,3}\]|[#*`|]+")
_BEGIN, _END = "\ue001", "\ue002"  # for private use: no text of the web means anything by them


_FIELDS: Final = (
    "id, question, status, confidence, at, session, model, usd, elapsed_s, sources, tags"
)


class Library:
    """The runs as a person looks for them; to be called from threads."""

    def __init__(self, runs: Runs, data: Path) -> None:
        self._runs = runs
        self._path = data / "library.db"
        self._lock = Lock()

    def search(
        self, query: str = "", tag: str = "", session: str = "", *, limit: int = 50, skip: int = 0
    ) -> list[RunState]:
        """Find runs, best first where words are searched for, else newest first."""
        wanted = " ".join(f'"{word}"*' for word in words(query))
        if query.strip() and not wanted:
            return []
        conditions, values = ["1"], []
        if tag:
            conditions.append("exists (select 1 from json_each(run.tags) where value = ?)")
            values.append(tag)
        if session:
            conditions.append("session = ?")
            values.append(session)
        where = " and ".join(conditions)
        with self._lock, closing(self._opened()) as index, index:
            self._take_up(index)
            if wanted:
                named = ", ".join(f"run.{name.strip()}" for name in _FIELDS.split(","))
                snippet = f"snippet(said, -1, '{_BEGIN}', '{_END}', '…', 24)"
                rows = index.execute(
                    f"select {named}, {snippet} from said join run on run.id = said.id"  # noqa: S608 - our own names
                    f" where said match ? and {where}"
                    " order by bm25(said, 0, 4, 2, 1), run.at desc limit ? offset ?",
                    [wanted, *values, limit, skip],
                ).fetchall()
            else:
                rows = index.execute(
                    f"select {_FIELDS}, begins from run where {where}"  # noqa: S608 - as above
                    " order by at desc, id desc limit ? offset ?",
                    [*values, limit, skip],
                ).fetchall()
        return [_row(*row) for row in rows]

    def one(self, folder: RunFolder) -> RunState:
        """Describe one run."""
        with self._lock, closing(self._opened()) as index, index:
            self._put(index, folder, _stamp(folder))
            row = index.execute(f"select {_FIELDS}, '' from run where id = ?", [folder.id])  # noqa: S608 - our own names
            return _row(*row.fetchone())

    def session_of_answer(self, answer: str) -> str:
        """Name the conversation in which this answer was given last; empty where none was."""
        with self._lock, closing(self._opened()) as index, index:
            self._take_up(index)
            row = index.execute(
                "select session from said join run on run.id = said.id where trim(answer) = ?"
                " order by run.at desc limit 1",
                [answer],
            ).fetchone()
        return str(row[0]) if row else ""

    def tags(self) -> list[tuple[str, int]]:
        """List the tags that are used, with how many runs have each."""
        with self._lock, closing(self._opened()) as index, index:
            self._take_up(index)
            return index.execute(
                "select value, count(*) from run, json_each(run.tags) group by value order by value"
            ).fetchall()

    def tag(self, folder: RunFolder, tags: Sequence[str]) -> tuple[str, ...]:
        """Give a run these tags in place of those it has; raises `UsageError`."""
        cleaned = tuple(dict.fromkeys(" ".join(tag.split()) for tag in tags if tag.strip()))
        if len(cleaned) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in cleaned):
            raise UsageError(f"a run has {MOST_TAGS} tags of {LONGEST_TAG} characters at most")
        write_whole(_tags_file(folder), json.dumps(cleaned).encode(), private=True)
        return cleaned

    def _opened(self) -> sqlite3.Connection:
        index = sqlite3.connect(self._path, timeout=30)
        (version,) = index.execute("pragma user_version").fetchone()
        if version != VERSION:
            for (name,) in index.execute(
                "select name from sqlite_master where name in ('run', 'said')"
            ).fetchall():
                index.execute(f"drop table {name}")
            index.executescript(f"{_TABLES} pragma user_version = {VERSION};")
        return index

    def _take_up(self, index: sqlite3.Connection) -> None:
        """Bring the index to what the folders hold now."""
        known = dict(index.execute("select id, stamp from run").fetchall())
        there: set[str] = set()
        for folder in self._runs:
            stamp = _stamp(folder)
            there.add(folder.id)
            if known.get(folder.id) != stamp:
                self._put(index, folder, stamp)
        for gone in known.keys() - there:
            index.execute("delete from run where id = ?", [gone])
            index.execute("delete from said where id = ?", [gone])

    def _put(self, index: sqlite3.Connection, folder: RunFolder, stamp: int) -> None:
        began, report = began_with(folder), _report(folder)
        options = began.get("options") or {}
        usage = report.get("usage") or {}
        sources = report.get("sources") or []
        answer = str(report.get("answer") or "")
        question = str(report.get("question") or began.get("question") or "")
        row = [
            folder.id,
            stamp,
            question,
            str(report.get("status") or "cut off"),
            report.get("confidence"),
            began.get("at", ""),
            str(began.get("session") or folder.id),
            str(usage.get("model") or began.get("model") or options.get("model") or ""),
            float(usage.get("usd") or 0),
            float(report.get("elapsed_s") or 0),
            len(sources),
            json.dumps(tags_of(folder)),
            " ".join(_MARKS.sub("", answer[: _BEGINS * 2]).split())[:_BEGINS],
        ]
        index.execute(f"insert or replace into run values ({', '.join('?' * len(row))})", row)  # noqa: S608 - marks alone
        index.execute("delete from said where id = ?", [folder.id])
        told = " ".join(
            " ".join([str(s.get("title", "")), str(s.get("url", "")), *s.get("quotes", [])])
            for s in sources
        )
        said = [folder.id, question, answer, told]
        index.execute("insert into said values (?, ?, ?, ?)", said)


def _row(*values: Any) -> RunState:
    named = _FIELDS.replace("id", "run", 1).split(", ")
    told = dict(zip((*named, "found"), values, strict=True))
    told |= {"tags": json.loads(told["tags"]), "found": _pieces(told["found"])}
    return RunState.model_validate(told)


def _pieces(snippet: str) -> list[tuple[str, bool]]:
    """Split a snippet into what was searched for and what stands around it."""
    found: list[tuple[str, bool]] = []
    for piece in snippet.split(_BEGIN):
        hit, ended, rest = piece.partition(_END)
        found += [(hit, True), (rest, False)] if ended else [(hit, False)]
    return [(text, hit) for text, hit in found if text]


def _tags_file(folder: RunFolder) -> Path:
    return folder.path / "tags.json"


def tags_of(folder: RunFolder) -> tuple[str, ...]:
    """Read the tags of a run; none where they cannot be read."""
    try:
        tags = json.loads(_tags_file(folder).read_bytes())
    except (OSError, ValueError):
        return ()
    return tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()


def _stamp(folder: RunFolder) -> int:
    """Tell one state of a folder from another: when report and tags were last written."""
    stamp = 0
    for path in (folder.report, _tags_file(folder)):
        try:
            stamp = stamp * 31 + path.stat().st_mtime_ns
        except FileNotFoundError:
            stamp *= 31
    return stamp % 2**62


def began_with(folder: RunFolder) -> dict[str, Any]:
    """Read what a run began with and when (`at`), from its first line alone; empty without one."""
    try:
        with folder.journal.open("rb") as file:
            event = read_event(file.readline().rstrip(b"\n"), folder.id)
    except (OSError, ResearchError):
        return {}
    return {**event.data, "at": event.at}


def _report(folder: RunFolder) -> dict[str, Any]:
    try:
        report = json.loads(folder.report.read_bytes())
    except (OSError, ValueError):
        return {}
    return report if isinstance(report, dict) else {}
