"""Detecting that a loop repeats itself: the model gets a note first, then the loop is ended.

Only calls with nothing new in their result are counted. A result that differs from all before
means progress, so that paging through a list or filling in a long form is never stopped.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from agent.guard.budget import LimitReached
from agent.protocol.call_results import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import Observation, ToolCall

REPETITION: Final = "repetition"
"""The name of the limit that ends such a loop."""
SAME: Final = 3
"""Identical calls with identical results, or calls about one page or query, however they are
spelt. The second time may be an accident, the third is not."""
FAILURES: Final = 3
"""Failures of a tool in a row; further attempts will not help."""
TURNS: Final = 6
"""Alternating calls of two tools: A B A B A B is the shortest sequence that is surely a cycle."""
ONE_TOOL, ONE_RESEARCH_TOOL = 5, 15
"""Calls of one tool without anything new; tools that only read are allowed more."""
RESEARCH_TOOLS: Final = frozenset(
    {"WEB_SEARCH", "READ", "FETCH_URL", "FIND", "SNAPSHOT", "SCROLL", "SEARCH_MEMORY", "RECALL"}
)
THOUGHTS: Final = 5
"""Replies without a call or an answer; a hard question takes two or three."""


Circle = Literal["same call", "failing", "same place", "alternating", "one tool", "thinking"]
"""The kinds of repetition, by their names on record."""
_ELSE = "Do something else, or answer."
NOTES: Final[dict[Circle, str]] = {
    "same call": f"this call was made before with the same result. {_ELSE}",
    "alternating": f"two tools take turns and nothing changes. {_ELSE}",
    "failing": "this tool has failed several times in a row. Use another one, or answer from what "
    "is known.",
    "same place": "this page or query was looked at before; nothing new is there. Try another, or "
    "answer.",
    "one tool": "this tool has brought nothing new for several calls. Use another one, or answer.",
    "thinking": "several turns have passed without a call or an answer. Call a tool now, or "
    "answer.",
}
"""The notes to the model; the second time the loop is ended instead."""


class _FruitlessCall(NamedTuple):
    """A call that brought nothing new; `place` is the page or query that it is about."""

    name: str
    param: str
    place: str


@dataclass(slots=True)
class RepetitionGuard:
    """Watches the calls of one loop."""

    _seen: set[bytes] = field(default_factory=set)
    _fruitless: list[_FruitlessCall] = field(default_factory=list)
    _failed: Counter[str] = field(default_factory=Counter)
    _thoughts: int = 0
    _noted: set[Circle] = field(default_factory=set)

    def check_calls(self, results: Sequence[Observation]) -> Circle | None:
        """Count the calls of a step; returns what the model gets a note on, if anything.

        Raises `LimitReached` if it had that note before.
        """
        self._thoughts = 0
        # All calls are counted, also those behind the first repetition.
        found = [self._check(result) for result in results]
        circles = [circle for circle in found if circle is not None]
        return self._note_or_end(circles[0] if circles else None)

    def check_thought(self) -> Circle | None:
        """Count a reply with neither call nor answer; result and errors as of `check_calls`."""
        self._thoughts += 1
        return self._note_or_end("thinking" if self._thoughts >= THOUGHTS else None)

    def _check(self, result: Observation) -> Circle | None:
        call, has_failed = result.call, result.failed
        self._failed[call.name] = self._failed[call.name] + 1 if has_failed else 0
        images = "".join(image.sha256 for image in result.images)
        content = f"{call.name}\0{to_json(result.data)}\0{result.web}\0{images}"
        digest = hashlib.sha256(content.encode("utf-8", "replace")).digest()
        is_new = digest not in self._seen and not has_failed
        self._seen.add(digest)
        if is_new:
            # After a change, a repeated call may well have another result.
            self._fruitless.clear()
            self._noted.clear()
            return None

        this = _FruitlessCall(call.name, call.param, _place_of(call))
        self._fruitless.append(this)
        same_place = [c for c in self._fruitless if (c.name, c.place) == (this.name, this.place)]
        same_tool = [c for c in self._fruitless if c.name == this.name]
        turns = [c.name for c in self._fruitless[-TURNS:]]
        max_of_tool = ONE_RESEARCH_TOOL if call.name in RESEARCH_TOOLS else ONE_TOOL
        # One less than SAME: the first of the identical calls was new, and is not in the list.
        if self._fruitless.count(this) >= SAME - 1:
            return "same call"
        if self._failed[call.name] >= FAILURES:
            return "failing"
        if len(same_place) >= SAME - 1:
            return "same place"
        if len(set(turns)) == 2 and turns == turns[:2] * (TURNS // 2):
            return "alternating"
        if len(same_tool) >= max_of_tool:
            return "one tool"
        return None

    def _note_or_end(self, circle: Circle | None) -> Circle | None:
        if circle is None:
            return None
        if circle in self._noted:
            raise LimitReached(REPETITION, circle)
        self._noted.add(circle)
        self._fruitless.clear()
        self._failed.clear()
        self._thoughts = 0
        return circle


def _place_of(call: ToolCall) -> str:
    """Return the page or query that a call is about, else its parameter; normalised."""
    place = str(call.fields.get("url") or call.fields.get("query") or call.param)
    return " ".join(place.lower().split()).rstrip("/")
