"""A channel's inbox on disk, which ensures that no message is lost or answered twice.

A message is stored before its receipt is confirmed to the service. Each part of an answer is marked
before it is sent. If the process ends before the outcome is known, the part is not resent.
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
"""The states of a message: to be answered, held for the question that follows, or done."""
TRYING, SENT, UNKNOWN, FAILED = "trying", "sent", "unknown", "failed"
"""The states of a part, in addition to WAITING."""


@dataclass(frozen=True, slots=True)
class Part:
    """Part of an answer: text, or the extensions of files to export from the run."""

    n: int
    text: str = ""
    export: tuple[str, ...] = ()


class Inbox(Notebook):
    """One channel's messages, in a database that all channels in a data folder share."""

    def __init__(self, data: Path, channel: str) -> None:
        """Open or create the database. Raises `UsageError` on failure."""
        self._channel = channel
        path = private_folder(data) / "channels.db"
        try:
            # autocommit: each statement is on disk when it returns
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.executescript(_SCHEMA)
            path.chmod(0o600)
        except (sqlite3.Error, OSError) as error:
            raise UsageError(
                f"cannot use {path}: {error}", hint="Move the file elsewhere."
            ) from error
        # parts that were being sent when the process ended
        self._db.execute(
            "UPDATE parts SET state=? WHERE channel=? AND state=?", (UNKNOWN, channel, TRYING)
        )

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def add(self, message: Inbound, state: str = WAITING) -> bool:
        """Store a message; returns False if it is already stored."""
        body = json.dumps(asdict(message))
        row = (message.id, message.sender, message.thread, body, time.time(), state)
        added = self._db.execute(
            "INSERT OR IGNORE INTO messages (channel,id,sender,thread,body,at,state) "
            "VALUES (?,?,?,?,?,?,?)",
            (self._channel, *row),
        )
        return added.rowcount == 1

    def waiting(self) -> list[Inbound]:
        """List the unanswered messages, oldest first."""
        return self._messages("state=?", WAITING)

    def take_held(self, message: Inbound) -> list[Inbound]:
        """Return the sender's held messages in a question's thread, and mark them as done."""
        where = (message.sender, message.thread, HELD)
        held = self._messages("sender=? AND thread=? AND state=?", *where)
        for one in held:
            self.update(one.id, state=DONE)
        return held

    def _messages(self, where: str, *values: str) -> list[Inbound]:
        query = f"SELECT body FROM messages WHERE channel=? AND {where} ORDER BY at"  # noqa: S608 - constants
        bodies = [json.loads(body) for (body,) in self._db.execute(query, (self._channel, *values))]
        return [Inbound(**{**body, "files": tuple(body["files"])}) for body in bodies]

    def update(self, message: str, **columns: str | float) -> None:
        """Set a message's `state`, the `run` that answers it, or its cost (`usd`)."""
        changes = ",".join(f"{name}=?" for name in columns)
        self._db.execute(
            f"UPDATE messages SET {changes} WHERE channel=? AND id=?",  # noqa: S608 - our own names
            (*columns.values(), self._channel, message),
        )

    def run_of(self, message: str) -> str:
        """Return the id of the run that answers a message, or "" if it was not started."""
        row = self._fetch_row("SELECT run FROM messages WHERE channel=? AND id=?", message)
        return str(row[0] or "") if row else ""

    def last_run(self, thread: str) -> str:
        """Return the id of the thread's last run with an answer."""
        row = self._fetch_row(
            "SELECT run FROM messages WHERE channel=? AND thread=? AND run IS NOT NULL AND "
            "state='done' ORDER BY at DESC LIMIT 1",
            thread,
        )
        return str(row[0]) if row else ""

    def spent_since(self, sender: str, since: float) -> tuple[float, int]:
        """Return a sender's cost in dollars and number of runs since a time (epoch s)."""
        usd, questions = self._fetch_row(
            "SELECT COALESCE(SUM(usd),0), COUNT(run) FROM messages "
            "WHERE channel=? AND sender=? AND at>=?",
            sender,
            since,
        )
        return float(usd), int(questions)

    def put_parts(self, message: str, parts: list[Part]) -> None:
        """Store the parts of an answer, to be sent in order."""
        rows = [(self._channel, message, p.n, p.text, json.dumps(p.export), WAITING) for p in parts]
        self._db.executemany("INSERT OR IGNORE INTO parts VALUES (?,?,?,?,?,?)", rows)

    def parts(self, message: str, state: str = WAITING) -> list[Part]:
        """List the parts with a given state, in order."""
        rows = self._db.execute(
            "SELECT n, text, export FROM parts WHERE channel=? AND message=? AND state=? "
            "ORDER BY n",
            (self._channel, message, state),
        )
        return [Part(n, text, tuple(json.loads(export))) for n, text, export in rows]

    def is_answered(self, message: str) -> bool:
        """Return whether a message's answer is stored, even if it has not been sent yet."""
        query = "SELECT 1 FROM parts WHERE channel=? AND message=? LIMIT 1"
        return self._fetch_row(query, message) is not None

    def mark_part(self, message: str, n: int, state: str) -> None:
        """Set the state of a part."""
        self._db.execute(
            "UPDATE parts SET state=? WHERE channel=? AND message=? AND n=?",
            (state, self._channel, message, n),
        )

    def get(self, key: str) -> str:
        """Return the value stored under a key, or an empty string."""
        row = self._fetch_row("SELECT value FROM notes WHERE channel=? AND key=?", key)
        return str(row[0]) if row else ""

    def set(self, key: str, value: str) -> None:
        """Store a value."""
        row = (self._channel, key, value)
        self._db.execute("INSERT OR REPLACE INTO notes VALUES (?,?,?)", row)

    def _fetch_row(self, query: str, *values: Any) -> Any:
        return self._db.execute(query, (self._channel, *values)).fetchone()
