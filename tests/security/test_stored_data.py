"""Stored data is only data: no key, filter or pickle in a database is ever executed."""

from __future__ import annotations

import json
import pickle
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from agent.errors import ResearchError
from agent.memory import Memory

pytestmark = pytest.mark.row(n=27)

KEYS = (
    *("__proto__", "constructor", "prototype", "toString", "__class__", "__dict__", "__reduce__"),
    *("py/object", "$where", "$ne", "@type", "!!python/object/apply:os.system", "{{7*7}}", "%s%n"),
    *("'; DROP TABLE memories; --", "a' OR '1'='1", 'x" UNION SELECT 1 --', "a\\' OR 1", "%", "_"),
    *("\x00", "a\x00b", "\ud800", "../../memory", "file:///etc/passwd", "0", "-1", "null", "[]"),
)
VALUES = (
    {"py/object": "os.system", "py/reduce": [{"py/function": "os.system"}, ["touch revived"]]},
    {"__proto__": {"trusted": True}, "__class__": "Origin", "trusted": True},
    {
        "$ref": "file:///etc/passwd",
        "@type": "java.lang.Runtime",
        "__reduce__": ["os.system", ["x"]],
    },
)
FILTERS = ("' OR 1=1 --", "note') OR ('1'='1", 'x"; DROP TABLE memories; --', "%", "*", "\x00")


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "memory.db") as opened:
        opened.remember("home", "14 Harbour Lane")
        yield opened


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.sample(10)
def test_hostile_memory_key_is_stored_literally(memory, key):
    for value in VALUES:
        with suppress(ResearchError):  # a key may be refused
            memory.remember(key, value)
            assert memory.recall(key) == value
    memory.search(key)
    with suppress(ResearchError):
        memory.forget(key)
    assert memory.remembered() == {"home": "14 Harbour Lane"}


@pytest.mark.parametrize("said", FILTERS)
def test_memory_filters_are_not_sql_injectable(memory, said, tmp_path):
    memory.add("a private note", kind="diary")
    assert memory.search("private note", kinds=[said]) == []
    with suppress(ResearchError), Memory.open(tmp_path / "memory.db", namespace=said) as other:
        assert other.search("private note home harbour") == []
        assert other.remembered() == {}
    memory.layers("private note", said)
    assert memory.recall("home") == "14 Harbour Lane"


class Bomb:
    """Creates a file if it is unpickled."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self):
        return Path.touch, (self.made,)


def poison(database: Path, bomb: bytes) -> int:
    """Replace every text and blob in a database with a pickle; returns how many."""
    placed = 0
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        names = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        for table, made in names:
            if not made or made.upper().startswith("CREATE VIRTUAL") or "_index" in table:
                continue
            for _, column, kind, *_ in db.execute(f'PRAGMA table_info("{table}")').fetchall():
                if kind.upper() in ("TEXT", "VARCHAR", "BLOB", ""):
                    with suppress(sqlite3.Error):  # a UNIQUE constraint
                        done = db.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ?', (bomb,))
                        placed += done.rowcount
    return placed


def test_pickles_in_databases_are_not_loaded(run, web, answering, tmp_path):
    made, data = tmp_path / "revived", tmp_path / "data"
    asked = ("When?", "--model", answering, *(flag for flag in web if flag != "--no-memory"))
    assert run(*asked).returncode == 0
    run("memory", "remember", "home", "14 Harbour Lane")
    bomb = pickle.dumps(Bomb(made))
    assert sum(poison(path, bomb) for path in data.rglob("*.db")) > 5
    said = [
        run(*words)
        for words in (
            ("memory", "list", "--all"),
            ("memory", "search", "home"),
            asked,
            ("memory", "export"),
            ("runs",),
        )
    ]
    assert not made.exists()
    ours = ("Traceback", "internal error")
    assert [done.stderr for done in said if any(word in done.stderr for word in ours)] == []
    pickle.loads(bomb)
    assert made.exists()


def test_journal_is_read_as_plain_data(run, web, answering, tmp_path):
    assert run("When?", "--model", answering, *web).returncode == 0
    [journal] = (tmp_path / "data" / "runs").glob("*/journal.jsonl")
    lines = journal.read_text().splitlines()
    row = json.loads(lines[-1])
    row["data"] |= {"py/object": "os.system", "__class__": "Report", "__proto__": {"status": "x"}}
    journal.write_text("\n".join([*lines[:-1], json.dumps(row)]) + "\n")
    shown = run("show")
    assert "Traceback" not in shown.stderr
    assert run("verify").returncode == 8  # its seal tells
