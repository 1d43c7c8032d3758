"""The events of a run: their format, reading them, and the journal that writes them.

A line of `journal.jsonl` is `{"v", "seq", "at", "type", "place", "data", "prev", "hash"}`: `v` is
the version of this schema, `seq` counts from 0, `at` is in UTC. `place` (`subtask/step/call`)
identifies the call that caused the event, regardless of when it finished. `hash` is the SHA-256 of
the line without the hash and before escaping; `prev` is the hash of the previous line.

Types: run.started · tools.offered · skills.given · memory.given · context.read · plan ·
plan.clarified · plan.approved · sections · sections.kept · rerun.taken_over · model.request ·
model.reply · model.failed · thought · tool.intent · tool.call · call.repaired · tool.result ·
tool.outcome_unknown · page.open · captcha · corpus.indexed · search.attempt · results.added ·
source.added · mcp.changed · policy.refused · policy.approved · query.withheld · guard.noticed ·
user.asked · user.answered · limit.reached · judge · review · challenge · primary · note ·
answer.draft · answer.verified · browser.missing · skill.proposed · run.interrupted ·
run.crashed · run.finished · job.begun · job.done · run.settled.

A `model.delta` is a piece of a reply; with `anew`, the reply starts again from the beginning. It is
only sent to listeners; `model.reply` contains the complete text.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agent.errors import JournalError
from browser.text.words import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.journal.runs import RunFolder

# Places of events. The first part is the loop or the request; the other parts are the step and the
# tool call.
MAIN: Final = "0"
"""The main loop; the loops of subtasks are `1`, `2`, …"""
PLAN: Final = "plan"
PROPOSAL: Final = "proposal"
"""The plan for the user to approve; `proposal/2` if the user clarified the question."""
SYNTHESIS: Final = "synthesis"
"""Combining the results of subtasks."""
CHALLENGE: Final = "challenge"
"""Queries for evidence against central claims; the first search is `0/challenge-1`."""
PRIMARY: Final = "primary"
"""Looking up a source that a secondary source cites; the first one is `0/primary-1`."""
MISSING: Final = "missing"
"""Checking a draft for open points; the first check is `missing/1`."""
OUTLINE: Final = "outline"
CLOSING: Final = "closing"
"""The text above and below the sections of a report."""
VALUES: Final = "values"
"""Filling in a schema; the first attempt is `values/1`."""
REVIEW: Final = "review"
"""The objections of the answer review."""
JUDGE: Final = "judge"
REPHRASE: Final = "rephrase"
"""Alternative queries for a search; followed by the place of the call."""
CONDENSE: Final = "condense"
"""Summarising old steps when the window is full; followed by the place of the step."""
AFTER: Final = "after"
"""The post-run tasks."""

SCHEMA_VERSION: Final = 1
GENESIS: Final = "0" * 64
"""`prev` of the first event."""
DURABLE_EVENTS: Final = frozenset(
    {"run.started", "model.reply", "tool.intent", "tool.result", "answer.verified", "run.finished"}
)
"""Events that are synced to disk (fsync) when written, since later effects depend on them."""
TRANSIENT_EVENTS: Final = frozenset({"model.delta"})
"""Events that are sent to listeners but not written."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event as written to the journal; `data` is JSON."""

    seq: int
    at: str
    type: str
    place: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    prev: str = GENESIS
    hash: str = ""

    def with_hash(self) -> Event:
        """Return the event with its hash."""
        return replace(self, hash=self.digest())

    def digest(self) -> str:
        """Compute the SHA-256 (hex) of all fields except the hash."""
        return hashlib.sha256(_canonical(self._fields()).encode()).hexdigest()

    def to_json(self) -> str:
        """Serialise as one line, without the newline.

        Characters that would control a terminal or reorder displayed text (for example, in a file
        name) are escaped. This changes neither the values nor the hash.
        """
        return escaped(_canonical({**self._fields(), "hash": self.hash}))

    def _fields(self) -> dict[str, Any]:
        return {
            "v": SCHEMA_VERSION,
            "seq": self.seq,
            "at": self.at,
            "type": self.type,
            "place": self.place,
            "data": self.data,
            "prev": self.prev,
        }


def _canonical(value: Any) -> str:
    # The hash is computed over these bytes, so their format must never change. Pages may contain
    # lone surrogates, which UTF-8 cannot encode, hence `backslashreplace`.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "backslashreplace").decode()


def read_lines(path: Path) -> tuple[list[bytes], bytes]:
    """Read the complete lines of a journal, and the partial last line if a crash left one.

    Raises `JournalError` if the file cannot be read.
    """
    try:
        *lines, torn = path.read_bytes().split(b"\n")
    except OSError as error:
        raise JournalError(f"cannot read {path}: {error.strerror}") from error
    return lines, torn


def read_events(path: Path) -> Iterator[Event]:
    """Yield the events of a journal; an incomplete last line left by a crash is skipped.

    Raises `JournalError` if the file cannot be read, or if a complete line is not an event.
    """
    lines, _ = read_lines(path)
    for number, line in enumerate(lines, 1):
        yield read_event(line, f"{path}:{number}")


def read_event(line: bytes, where: str) -> Event:
    """Parse one line; if it is not an event, raises a `JournalError` that mentions `where`."""
    try:
        row = json.loads(line)
        version = row.pop("v")
        event = Event(**row)
        texts = (event.at, event.type, event.place, event.prev, event.hash)
        if not (
            isinstance(version, int)
            and isinstance(event.seq, int)
            and isinstance(event.data, dict)
            and all(isinstance(text, str) for text in texts)
        ):
            raise TypeError("a field has the wrong type")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise JournalError(
            f"{where} is not an event: {error}",
            hint="The record was changed or damaged; `research runs rm` removes it.",
        ) from error
    if version > SCHEMA_VERSION:
        raise JournalError(
            f"{where} was written by a newer version (schema {version})",
            hint="Upgrade with `pip install -U urchin-research`.",
        )
    return event


Listener = Callable[[Event], None]
Clock = Callable[[], datetime]
_LOCK_SECONDS: Final = 1.0
"""Seconds to wait for the lock: a process that checks whether a run is in progress takes it
briefly.
"""


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class Journal:
    """Appends the events of one run and calls listeners; raises `JournalError` on failure.

    An existing record is continued after its last complete line.
    """

    def __init__(self, folder: RunFolder, *, clock: Clock = utc_now) -> None:
        self.folder = folder
        self._clock = clock
        self._listeners: list[Listener] = []
        self._seq = 0
        self._prev = GENESIS
        if folder.journal.exists():
            for event in read_events(folder.journal):
                self._seq, self._prev = event.seq + 1, event.hash
            # Cut off the partial line that a crash left behind.
            os.truncate(folder.journal, folder.journal.read_bytes().rfind(b"\n") + 1)
        try:
            # Unbuffered: once `write` returns, an event is in the file even if the process is
            # killed.
            self._file = folder.journal.open("ab", buffering=0)
        except OSError as error:
            raise JournalError(f"cannot write {folder.journal}: {error.strerror}") from error
        self._lock = folder.lock()
        # another process is checking the lock, or the file system has no locks
        with suppress(OSError):
            self._lock.acquire(timeout=_LOCK_SECONDS, blocking=True)

    def listen(self, listener: Listener) -> None:
        """Call `listener` with each event after it has been written."""
        self._listeners.append(listener)

    def write(self, kind: str, place: str = "", **data: Any) -> Event:
        """Append one event and return it; events in `DURABLE_EVENTS` are on disk when this returns.

        Events in `TRANSIENT_EVENTS` are only sent to listeners: they have no hash, and the `seq` of
        the next event that is written.
        """
        at = self._clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        event = Event(self._seq, at, kind, place, data, self._prev)
        if kind not in TRANSIENT_EVENTS:
            event = event.with_hash()
            self._append(event)
            self._seq += 1
            self._prev = event.hash
        # Called after writing, since a listener may depend on the event being on disk.
        for listener in self._listeners:
            listener(event)
        return event

    def close(self) -> None:
        """Close the file; nothing can be written afterwards."""
        self._file.close()
        if self._lock.is_locked:
            self._lock.release()
            Path(self._lock.lock_file).unlink(missing_ok=True)

    def _append(self, event: Event) -> None:
        line = event.to_json().encode() + b"\n"
        # Do not use `tell()`, which still points past an incomplete line that was removed.
        start = os.fstat(self._file.fileno()).st_size
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if event.type in DURABLE_EVENTS:
                os.fsync(self._file.fileno())
        except OSError as error:
            # A partial line in the middle of the journal would make the record unreadable.
            self._file.truncate(start)
            raise JournalError(
                f"cannot write {self.folder.journal}: {error.strerror}",
                hint="Free some disk space; everything recorded so far is intact.",
            ) from error
