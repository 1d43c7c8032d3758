"""What came in and what goes out, on disk: nothing is answered twice, and nothing is lost.

A message is here before its service is told that it was taken. Of each part of an answer it is
written that it will be sent before it is: one that was being sent when the process ended is of
unknown outcome, and is not sent again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from agent.channels.channel import Inbound, Notebook
from agent.config import private_folder
from agent.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS messages (
  channel TEXT, id TEXT, sender TEXT, thread TEXT, body TEXT, at REAL, state TEXT, run TEXT,
  usd REAL DEFAULT 0, PRIMARY KEY (channel, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_sender ON messages (channel, sender, at);
CREATE TABLE IF NOT EXISTS parts (
  channel TEXT, message TEXT, n INTEGER, text TEXT, export TEXT, state TEXT,
  PRIMARY KEY (channel, message, n)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (
  channel TEXT, key TEXT, value TEXT, PRIMARY KEY (channel, key)) WITHOUT ROWID;
"""
WAITING, HELD, DONE = "waiting", "held", "done"
"""States of a message: to be answered, kept for the question that follows it, over."""
TRYING, SENT, UNKNOWN, FAILED = "trying", "sent", "unknown", "failed"
"""States of a part, beside WAITING."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an answer: a text, or the endings of files to be made of the run."""

    n: int
    text: str = ""
    export: tuple[str, ...] = ()


class Inbox(Notebook):
    """The messages of one channel, in a database that all channels of a data folder share."""

    def __init__(self, data: Path, channel: str) -> None:
        """Open or make it. Raises `UsageError` where that fails."""
        self._channel = channel
        path = private_folder(data) / "channels.db"
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.executescript(_SCHEMA)
            path.chmod(0o600)
        except (sqlite3.Error, OSError) as error:
            raise UsageError(f"cannot use {path}: {error}", hint="Move the file away.") from error
        # what was being sent when the process ended
        self._do("UPDATE parts SET state=? WHERE channel=? AND state=?", UNKNOWN, channel, TRYING)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def add(self, message: Inbound, state: str = WAITING) -> bool:
        """Keep a message; False where it is here already."""
        row = (self._channel, message.id, message.sender, message.thread)
        body = json.dumps(asdict(message))
        done = self._do(
            "INSERT OR IGNORE INTO messages (channel,id,sender,thread,body,at,state) "
            "VALUES (?,?,?,?,?,?,?)", *row, body, time.time(), state,
        )  # fmt: skip
        return done.rowcount == 1

    def waiting(self) -> list[Inbound]:
        """List what was taken and is not over, oldest first."""
        query = "SELECT body FROM messages WHERE channel=? AND state=? ORDER BY at"
        rows = self._do(query, self._channel, WAITING)
        return [_inbound(body) for (body,) in rows]

    def held(self, message: Inbound) -> list[Inbound]:
        """Take what the sender sent ahead of this question in its thread."""
        at = (self._channel, message.sender, message.thread, HELD)
        where = "channel=? AND sender=? AND thread=? AND state=?"
        rows = self._do(f"SELECT body FROM messages WHERE {where} ORDER BY at", *at).fetchall()  # noqa: S608 - constants
        self._do(f"UPDATE messages SET state='done' WHERE {where}", *at)  # noqa: S608 - as above
        return [_inbound(body) for (body,) in rows]

    def mark(self, message: str, state: str) -> None:
        """Say how a message stands."""
        self._do(
            "UPDATE messages SET state=? WHERE channel=? AND id=?", state, self._channel, message
        )

    def began(self, message: str, run: str) -> None:
        """Say by which run a message is answered."""
        self._do("UPDATE messages SET run=? WHERE channel=? AND id=?", run, self._channel, message)

    def run_of(self, message: str) -> str:
        """Name the run that answers a message, if one was begun."""
        row = self._do(
            "SELECT run FROM messages WHERE channel=? AND id=?", self._channel, message
        ).fetchone()
        return str(row[0] or "") if row else ""

    def last_run(self, thread: str) -> str:
        """Name the last run of a thread that was answered."""
        row = self._do(
            "SELECT run FROM messages WHERE channel=? AND thread=? AND run IS NOT NULL AND "
            "state='done' ORDER BY at DESC LIMIT 1", self._channel, thread,
        ).fetchone()  # fmt: skip
        return str(row[0]) if row else ""

    def spent(self, message: str, usd: float) -> None:
        """Say what a message cost."""
        self._do("UPDATE messages SET usd=? WHERE channel=? AND id=?", usd, self._channel, message)

    def spent_since(self, sender: str, since: float) -> tuple[float, int]:
        """Give the dollars, and the questions begun, of a sender since a time (s since 1970)."""
        row = self._do(
            "SELECT COALESCE(SUM(usd),0), COUNT(run) FROM messages "
            "WHERE channel=? AND sender=? AND at>=?", self._channel, sender, since,
        ).fetchone()  # fmt: skip
        return float(row[0]), int(row[1])

    def lay_out(self, message: str, parts: list[Part]) -> None:
        """Keep the parts of an answer, to be sent in their order."""
        rows = [(self._channel, message, p.n, p.text, json.dumps(p.export), WAITING) for p in parts]
        self._db.executemany("INSERT OR IGNORE INTO parts VALUES (?,?,?,?,?,?)", rows)

    def parts(self, message: str, state: str = WAITING) -> list[Part]:
        """List the parts in a state, in their order."""
        query = "SELECT n, text, export FROM parts WHERE channel=? AND message=? AND state=?"
        rows = self._do(f"{query} ORDER BY n", self._channel, message, state)
        return [Part(n, text, tuple(json.loads(export))) for n, text, export in rows]

    def laid_out(self, message: str) -> bool:
        """Say whether the answer to a message stands."""
        found = self._do(
            "SELECT 1 FROM parts WHERE channel=? AND message=? LIMIT 1", self._channel, message
        )
        return found.fetchone() is not None

    def mark_part(self, message: str, n: int, state: str) -> None:
        """Say how a part stands."""
        self._do(
            "UPDATE parts SET state=? WHERE channel=? AND message=? AND n=?",
            state, self._channel, message, n,
        )  # fmt: skip

    def note(self, key: str) -> str:
        """Give a note, or nothing."""
        row = self._do(
            "SELECT value FROM notes WHERE channel=? AND key=?", self._channel, key
        ).fetchone()
        return str(row[0]) if row else ""

    def keep(self, key: str, value: str) -> None:
        """Keep a note."""
        self._do("INSERT OR REPLACE INTO notes VALUES (?,?,?)", self._channel, key, value)

    def _do(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._db.execute(statement, values)


def _inbound(body: str) -> Inbound:
    row = json.loads(body)
    return Inbound(**{**row, "files": tuple(row["files"])})
