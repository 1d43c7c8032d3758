"""One event of a run, and how it is written.

A line of `journal.jsonl` is `{"v", "seq", "at", "type", "place", "data", "prev", "hash"}`: `v` the
version of this schema, `seq` from 0, `at` UTC, `place` (`subtask/step/call`) names an effect
apart from when it finished, `hash` is SHA-256 over the line without it, `prev` the hash before it.

Types: run.started · skills.given · plan · model.request · model.reply · model.failed · thought ·
tool.intent · tool.call · call.mended · tool.result · tool.outcome_unknown · page.open ·
corpus.indexed · search.attempt · results.added · source.added · policy.refused · guard.noticed ·
person.asked · person.answered · limit.reached · judge · review · note · answer.draft ·
answer.verified · run.interrupted · run.crashed · run.finished · job.begun · job.done · run.settled.

A `model.delta` (a piece of a reply; `anew`: what came so far is void) is told as it happens and not
kept: `model.reply` has the whole.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Final

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
