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
from typing import TYPE_CHECKING

from agent.guard.budget import LimitReached
from agent.protocol.results import failed, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.protocol.results import CallResult
    from agent.types import ToolCall

REPETITION = "repetition"
"""The limit that such an end is reported as."""


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
        return f"[Note: {NOTES[self]}]"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How often is too often, counted over calls (or turns) that brought nothing new.

    same_call: the third identical answer to an identical call is no accident (the second may be).
    pairs: two tools taking turns (A B A B A B), the shortest run that is surely a cycle.
    failures: a tool that failed three times in a row fails for a reason that trying will not mend.
    one_tool, research_tool: a model may look about, more so with tools that only read.
    thinking: turns without a call or an answer; a hard question takes two or three.
    same_place: the same page or the same query again, however the call is spelt.
    patience: notes of one kind after which the run ends with what is known.
    """

    same_call: int = 3
    pairs: int = 3
    failures: int = 3
    one_tool: int = 5
    research_tool: int = 15
    thinking: int = 5
    same_place: int = 3
    patience: int = 1


RESEARCH_TOOLS = frozenset(
    {"WEB_SEARCH", "READ", "FETCH_URL", "FIND", "SNAPSHOT", "SCROLL", "SEARCH_MEMORY", "RECALL"}
)


@dataclass(slots=True)
class Repetition:
    """Watches the calls of one loop."""

    limits: Thresholds = field(default_factory=Thresholds)
    _seen: set[str] = field(default_factory=set)
    _idle: list[tuple[str, str]] = field(default_factory=list)
    _tools: Counter[str] = field(default_factory=Counter)
    _places: Counter[tuple[str, str]] = field(default_factory=Counter)
    _failed: Counter[str] = field(default_factory=Counter)
    _thinking: int = 0
    _told: Counter[Circle] = field(default_factory=Counter)

    def noticed(self, calls: Sequence[ToolCall], results: Sequence[CallResult]) -> Circle | None:
        """Take up a step; gives what the model is to be told of, or raises `LimitReached`."""
        self._thinking = 0
        kinds = [self._one(call, result) for call, result in zip(calls, results, strict=True)]
        return self._say(next((kind for kind in kinds if kind), None))

    def thought_only(self) -> Circle | None:
        """Take up a turn with neither call nor answer; as `noticed`."""
        self._thinking += 1
        return self._say(Circle.THINKING if self._thinking >= self.limits.thinking else None)

    def _one(self, call: ToolCall, result: CallResult) -> Circle | None:
        nothing = failed(result.data)
        self._failed[call.name] = self._failed[call.name] + 1 if nothing else 0
        digest = _digest(call.name, result)
        fresh = digest not in self._seen and not nothing
        self._seen.add(digest)
        if fresh:
            # What was repeated before something changed says nothing about what comes now.
            self._forget()
            self._told.clear()
            return None
        self._idle.append((call.name, call.param))
        self._tools[call.name] += 1
        self._places[call.name, _place_of(call)] += 1
        return self._kind(call)

    def _kind(self, call: ToolCall) -> Circle | None:
        limits = self.limits
        often = limits.research_tool if call.name in RESEARCH_TOOLS else limits.one_tool
        # The first of several alike brought something, so it is not among those counted here.
        checks = {
            Circle.SAME_CALL: self._idle.count((call.name, call.param)) >= limits.same_call - 1,
            Circle.FAILING: self._failed[call.name] >= limits.failures,
            Circle.SAME_PLACE: self._places[call.name, _place_of(call)] >= limits.same_place - 1,
            Circle.ALTERNATING: self._alternates(),
            Circle.ONE_TOOL: self._tools[call.name] >= often,
        }
        return next((kind for kind, holds in checks.items() if holds), None)

    def _alternates(self) -> bool:
        last = [name for name, _ in self._idle[-2 * self.limits.pairs :]]
        pairs = set(zip(last[::2], last[1::2], strict=False))
        return len(last) == 2 * self.limits.pairs and len(pairs) == 1 and len(set(last)) == 2

    def _forget(self) -> None:
        self._idle.clear()
        self._places.clear()
        self._tools.clear()

    def _say(self, kind: Circle | None) -> Circle | None:
        if kind is None:
            return None
        self._told[kind] += 1
        if self._told[kind] > self.limits.patience:
            raise LimitReached(REPETITION, kind)
        self._forget()
        self._failed.clear()
        self._thinking = 0
        return kind


_ELSE = "Do something else, or answer."
NOTES = {
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


def _digest(name: str, result: CallResult) -> str:
    seen = "".join(image.sha256 for image in result.images)
    said = f"{name}\0{to_json(result.data)}\0{result.web}\0{seen}"
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def _place_of(call: ToolCall) -> str:
    """Name the page or query that a call is about, else the whole parameter."""
    try:
        fields = json.loads(call.param)
    except ValueError:
        fields = None
    named = fields if isinstance(fields, dict) else {}
    place = str(named.get("url") or named.get("query") or call.param)
    return " ".join(place.lower().split()).rstrip("/")
