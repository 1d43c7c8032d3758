"""Noticing that a run goes round in circles: first a word to the model, then an end.

Only calls that brought nothing new are counted: a call whose result differs from all seen before
changed the page, the evidence or the results, so a paged list or a long form is free.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from agent.guard.budget import LimitReached
from agent.protocol.results import failed, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.protocol.results import CallResult
    from agent.types import ToolCall

REPETITION: Final = "repetition"
"""The limit that such an end is reported as."""
SAME: Final = 3
"""The third identical answer to an identical call is no accident (the second may be); also the same
page or query, however the call is spelt."""
FAILURES: Final = 3
"""A tool that failed so often in a row fails for a reason that trying will not mend."""
TURNS: Final = 6
"""Calls of two tools in turn: A B A B A B is the shortest run that is surely a cycle."""
ONE_TOOL, ONE_RESEARCH_TOOL = 5, 15
"""A model may look about, more so with tools that only read."""
RESEARCH_TOOLS: Final = frozenset(
    {"WEB_SEARCH", "READ", "FETCH_URL", "FIND", "SNAPSHOT", "SCROLL", "SEARCH_MEMORY", "RECALL"}
)
THOUGHTS: Final = 5
"""Turns without a call or an answer; a hard question takes two or three."""


class Circle(StrEnum):
    """A way of going round in circles; the value is what records and people read."""

    SAME_CALL = "same call"
    FAILING = "failing"
    SAME_PLACE = "same place"
    ALTERNATING = "alternating"
    ONE_TOOL = "one tool"
    THINKING = "thinking"

    @property
    def note(self) -> str:
        """What the model is told once, before the run is ended for the same reason."""
        return f"[Note: {_NOTES[self]}]"


_ELSE = "Do something else, or answer."
_NOTES = {
    Circle.SAME_CALL: f"this call was made before with the same result. {_ELSE}",
    Circle.ALTERNATING: f"two tools take turns and nothing changes. {_ELSE}",
    Circle.FAILING: "this tool has failed several times in a row. Use another one, or answer from "
    "what is known.",
    Circle.SAME_PLACE: "this page or query was looked at before; nothing new is there. Try "
    "another, or answer.",
    Circle.ONE_TOOL: "this tool has brought nothing new for several calls. Use another one, or "
    "answer.",
    Circle.THINKING: "several turns have passed without a call or an answer. Call a tool now, or "
    "answer.",
}


class _Idle(NamedTuple):
    """A call that brought nothing new; `place` is the page or query that it is about."""

    name: str
    param: str
    place: str


@dataclass(slots=True)
class RepetitionGuard:
    """Watches the calls of one loop."""

    _seen: set[bytes] = field(default_factory=set)
    _idle: list[_Idle] = field(default_factory=list)
    _failed: Counter[str] = field(default_factory=Counter)
    _thoughts: int = 0
    _noted: set[Circle] = field(default_factory=set)

    def check_calls(
        self, calls: Sequence[ToolCall], results: Sequence[CallResult]
    ) -> Circle | None:
        """Count a step's calls; gives what the model is to be told of, or raises `LimitReached`."""
        self._thoughts = 0
        found = [self._check(call, result) for call, result in zip(calls, results, strict=True)]
        return self._note_or_end(next(filter(None, found), None))

    def check_thought(self) -> Circle | None:
        """Count a turn with neither call nor answer; as `check_calls`."""
        self._thoughts += 1
        return self._note_or_end(Circle.THINKING if self._thoughts >= THOUGHTS else None)

    def _check(self, call: ToolCall, result: CallResult) -> Circle | None:
        nothing = failed(result.data)
        self._failed[call.name] = self._failed[call.name] + 1 if nothing else 0
        seen = "".join(image.sha256 for image in result.images)
        said = f"{call.name}\0{to_json(result.data)}\0{result.web}\0{seen}"
        digest = hashlib.sha256(said.encode("utf-8", "replace")).digest()
        fresh = digest not in self._seen and not nothing
        self._seen.add(digest)
        if fresh:
            # What was repeated before something changed says nothing about what comes now.
            self._idle.clear()
            self._noted.clear()
            return None
        this = _Idle(call.name, call.param, _place_of(call))
        self._idle.append(this)
        turns = [each.name for each in self._idle[-TURNS:]]
        often = ONE_RESEARCH_TOOL if call.name in RESEARCH_TOOLS else ONE_TOOL
        # The first of several alike brought something, so it is not among those counted here.
        checks = {
            Circle.SAME_CALL: self._idle.count(this) >= SAME - 1,
            Circle.FAILING: self._failed[call.name] >= FAILURES,
            Circle.SAME_PLACE: sum(each[::2] == this[::2] for each in self._idle) >= SAME - 1,
            Circle.ALTERNATING: len({*turns}) == 2 and turns == turns[:2] * (TURNS // 2),
            Circle.ONE_TOOL: sum(each.name == call.name for each in self._idle) >= often,
        }
        return next((kind for kind, holds in checks.items() if holds), None)

    def _note_or_end(self, kind: Circle | None) -> Circle | None:
        if kind is None:
            return None
        if kind in self._noted:
            raise LimitReached(REPETITION, kind)
        self._noted.add(kind)
        self._idle.clear()
        self._failed.clear()
        self._thoughts = 0
        return kind


def _place_of(call: ToolCall) -> str:
    """Name the page or query that a call is about, else the whole parameter."""
    try:
        fields = json.loads(call.param)
    except ValueError:
        fields = None
    named = fields if isinstance(fields, dict) else {}
    place = str(named.get("url") or named.get("query") or call.param)
    return " ".join(place.lower().split()).rstrip("/")
