"""One event of a run, how it is written and read back.

A line of `journal.jsonl` is `{"v", "seq", "at", "type", "place", "data", "prev", "hash"}`: `v` the
version of this schema, `seq` from 0, `at` UTC, `place` (`subtask/step/call`) names an effect
apart from when it finished, `hash` is SHA-256 over the line without it, `prev` the hash before it.

Types: run.started · skills.given · memory.given · plan · model.request · model.reply ·
model.failed · thought ·
tool.intent · tool.call · call.mended · tool.result · tool.outcome_unknown · page.open ·
corpus.indexed · search.attempt · results.added · source.added · policy.refused · guard.noticed ·
person.asked · person.answered · limit.reached · judge · review · note · answer.draft ·
answer.verified · browser.missing · run.interrupted · run.crashed · run.finished · job.begun ·
job.done · run.settled.

A `model.delta` (a piece of a reply; `anew`: what came so far is void) is told as it happens and not
kept: `model.reply` has the whole.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from agent.errors import JournalError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


MAIN: Final = "0"
"""The main loop."""
PLAN: Final = "plan"
SYNTHESIS: Final = "synthesis"
"""Putting the results of subtasks together."""
MISSING: Final = "missing"
"""What a draft leaves open; `missing/1` the first time."""
OUTLINE: Final = "outline"
CLOSING: Final = "closing"
"""What stands above and below the sections of a report."""
VALUES: Final = "values"
"""The data of a schema; `values/1` the first time."""
REVIEW: Final = "review"
"""What the gate says of an answer."""
JUDGE: Final = "judge"
MEND: Final = "mend"
"""Writing down a call again; followed by the place of the call."""
REPHRASE: Final = "rephrase"
"""Other words for a search; followed by the place of the call."""
CONDENSE: Final = "condense"
"""Summing up old steps where the window is full; followed by the place of the step."""
AFTER: Final = "after"
"""The background jobs."""


SCHEMA_VERSION: Final = 1
GENESIS: Final = "0" * 64
"""`prev` of the first event."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event as written; `data` is JSON."""

    seq: int
    at: str
    type: str
    place: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    prev: str = GENESIS
    hash: str = ""

    def sealed(self) -> Event:
        """Give the same event with its hash filled in."""
        return Event(self.seq, self.at, self.type, self.place, self.data, self.prev, self.digest())

    def digest(self) -> str:
        """SHA-256 (hex) over all but the hash itself."""
        return hashlib.sha256(_canonical(self._body()).encode()).hexdigest()

    def to_json(self) -> str:
        """Write as one line, without the newline."""
        return _canonical({**self._body(), "hash": self.hash})

    def _body(self) -> dict[str, Any]:
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
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "backslashreplace").decode()


def read_events(path: Path) -> Iterator[Event]:
    """Yield the events of a journal; a torn last line, as a crash leaves it, is passed over.

    Raises `JournalError` where the file cannot be read or a line before the last is no event.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise JournalError(f"cannot read {path}: {error.strerror}") from error
    for number, line in enumerate(lines[:-1], 1):
        yield read_event(line, f"{path}:{number}")


def read_event(line: bytes, where: str) -> Event:
    """Read one line; `where` names it in the `JournalError` that is raised where it is no event."""
    try:
        row = json.loads(line)
        version = row.pop("v")
        event = Event(**row)
        texts = (event.at, event.type, event.place, event.prev, event.hash)
        numbers = isinstance(version, int) and isinstance(event.seq, int)
        if not (
            numbers and isinstance(event.data, dict) and all(isinstance(t, str) for t in texts)
        ):
            raise TypeError("a field is of another kind")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise JournalError(
            f"{where} is no event: {error}",
            hint="The record was changed or damaged; `research runs rm` removes it.",
        ) from error
    if version > SCHEMA_VERSION:
        raise JournalError(
            f"{where} was written by a newer version (schema {version})",
            hint="Upgrade with `pip install -U urchin-research`.",
        )
    return event
