"""Appending events: on disk before anything depends on them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agent.errors import JournalError
from agent.journal.events import GENESIS, Event, read_events

if TYPE_CHECKING:
    from agent.journal.runs import RunFolder

Listener = Callable[[Event], None]
Clock = Callable[[], datetime]

DURABLE = frozenset(
    {"run.started", "model.reply", "tool.intent", "tool.result", "answer.verified", "run.finished"}
)
"""Events that are synced to disk when written: later ones depend on them."""


PASSING = frozenset({"model.delta"})
"""Events that listeners are told and that are not kept: what they add up to is kept whole."""


def utc_now() -> datetime:
    """Tell the time, in UTC."""
    return datetime.now(UTC)


class Journal:
    """Writes the events of one run and tells its listeners; `JournalError` when it cannot."""

    def __init__(self, folder: RunFolder, *, clock: Clock = utc_now) -> None:
        self.folder = folder
        self._clock = clock
        self._listeners: list[Listener] = []
        self._seq = 0
        self._prev = GENESIS
        self._go_on()
        try:
            self._file = folder.journal.open("ab", buffering=0)
        except OSError as error:
            raise JournalError(f"cannot write {folder.journal}: {error.strerror}") from error

    def _go_on(self) -> None:
        """Take up a record that stands already, behind its last whole line."""
        if not self.folder.journal.exists():
            return
        for event in read_events(self.folder.journal):
            self._seq, self._prev = event.seq + 1, event.hash
        whole = self.folder.journal.read_bytes().rfind(b"\n") + 1
        os.truncate(self.folder.journal, whole)

    def listen(self, listener: Listener) -> None:
        """Call `listener` with each event, after it was written."""
        self._listeners.append(listener)

    def write(self, kind: str, place: str = "", **data: Any) -> Event:
        """Append one event; the durable kinds are on disk when this returns.

        What only passes is told to the listeners: its `seq` is that of the next event that is
        kept, and it has no hash.
        """
        at = self._clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        event = Event(self._seq, at, kind, place, data, self._prev)
        if kind not in PASSING:
            event = event.sealed()
            self._append(event)
            self._seq += 1
            self._prev = event.hash
        for listener in self._listeners:
            listener(event)
        return event

    def keep(self, body: bytes) -> str:
        """Keep bytes in the run's blobs; gives their SHA-256 (hex)."""
        return self.folder.keep(body)

    def close(self) -> None:
        """Close the file; writing afterwards is an error."""
        self._file.close()

    def _append(self, event: Event) -> None:
        line = event.to_json().encode() + b"\n"
        # Not `tell`: after a torn line was cut off, it still points behind it.
        start = os.fstat(self._file.fileno()).st_size
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if event.type in DURABLE:
                os.fsync(self._file.fileno())
        except OSError as error:
            self._forget_torn_line(start)
            raise JournalError(
                f"cannot write {self.folder.journal}: {error.strerror}",
                hint="Free some disk space; what was recorded before is intact.",
            ) from error

    def _forget_torn_line(self, start: int) -> None:
        """Cut a half-written line off, so that the record stays readable to its end."""
        self._file.truncate(start)
