"""Detects loops that repeat themselves: first the model gets a note, then the loop ends.

Only calls without new results are counted. A result that differs from all earlier ones is progress,
so paging through a list or filling in a long form never ends the loop.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from agent.guard.budget import LimitReached
from agent.protocol.call_results import to_json
from agent.types import ToolTrait

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import Observation, ToolCall

REPETITION: Final = "repetition"
"""The journal's name for the limit that ends such a loop."""
MAX_IDENTICAL_CALLS: Final = 3
"""Maximum number of identical calls with identical results, and of calls for the same page or
query: the second may be accidental, but not the third.
"""
MAX_FAILURES: Final = 3
"""Maximum number of consecutive failures of a tool; further attempts would not help."""
MAX_ALTERNATING_CALLS: Final = 6
"""Maximum number of calls that alternate between two tools: A B A B A B is certainly a cycle."""
MAX_FRUITLESS_CALLS, MAX_FRUITLESS_READS = 5, 15
"""Maximum number of calls of one tool without new results; read-only tools may make more."""
MAX_THOUGHTS: Final = 5
"""Maximum number of replies without a call or an answer; a hard question takes two or three."""


Repetition = Literal["same call", "failing", "same place", "alternating", "one tool", "thinking"]
"""The kinds of repetition, as named in the journal."""
_TRY_SOMETHING_ELSE = "Try something else, or answer."
NOTES: Final[dict[Repetition, str]] = {
    "same call": f"you made this call before, and its result is the same. {_TRY_SOMETHING_ELSE}",
    "alternating": f"you alternate between two tools and nothing changes. {_TRY_SOMETHING_ELSE}",
    "failing": "this tool has failed several times in a row. Use another one, or answer from what "
    "you have read.",
    "same place": "you have seen this page or query before, and nothing there is new. Try another, "
    "or answer.",
    "one tool": "the last calls of this tool found nothing new. Use another one, or answer.",
    "thinking": "your last replies had no call and no answer. Call a tool now, or answer.",
}
"""The notes to the model for each kind; the second time, the loop ends instead."""


class _FruitlessCall(NamedTuple):
    """A call without a new result; `target` is its page or query."""

    name: str
    param: str
    target: str


@dataclass(slots=True)
class RepetitionGuard:
    """Detects repetition in one loop's calls."""

    _seen: set[bytes] = field(default_factory=set)
    _fruitless: list[_FruitlessCall] = field(default_factory=list)
    _failed: Counter[str] = field(default_factory=Counter)
    _thoughts: int = 0
    _noted: set[Repetition] = field(default_factory=set)

    def check_calls(self, results: Sequence[Observation]) -> Repetition | None:
        """Count the calls of a step; returns the repetition to report to the model, if any.

        Raises `LimitReached` if the same kind was already reported.
        """
        self._thoughts = 0
        # All calls are counted, including those after the first repetition.
        found = [self._check(result) for result in results]
        repetitions = [repetition for repetition in found if repetition is not None]
        return self._note_or_end(repetitions[0] if repetitions else None)

    def check_thought(self) -> Repetition | None:
        """Count a reply with neither a call nor an answer.

        Returns and raises the same as `check_calls`.
        """
        self._thoughts += 1
        return self._note_or_end("thinking" if self._thoughts >= MAX_THOUGHTS else None)

    def _check(self, result: Observation) -> Repetition | None:
        call, has_failed = result.call, result.failed
        self._failed[call.name] = self._failed[call.name] + 1 if has_failed else 0
        images = "".join(image.sha256 for image in result.images)
        content = f"{call.name}\0{to_json(result.data)}\0{result.web}\0{images}"
        digest = hashlib.sha256(content.encode("utf-8", "replace")).digest()
        is_new = digest not in self._seen and not has_failed
        self._seen.add(digest)
        if is_new:
            # Now that something has changed, a repeated call may have a different result.
            self._fruitless.clear()
            self._noted.clear()
            return None

        this = _FruitlessCall(call.name, call.param, _target_of(call))
        self._fruitless.append(this)
        same_target = [c for c in self._fruitless if (c.name, c.target) == (this.name, this.target)]
        same_tool = [c for c in self._fruitless if c.name == this.name]
        turns = [c.name for c in self._fruitless[-MAX_ALTERNATING_CALLS:]]
        only_reads = ToolTrait.READS in result.traits
        max_of_tool = MAX_FRUITLESS_READS if only_reads else MAX_FRUITLESS_CALLS
        # One less than MAX_IDENTICAL_CALLS, because the first identical call had a new result, so
        # it is not in the list.
        if self._fruitless.count(this) >= MAX_IDENTICAL_CALLS - 1:
            return "same call"
        if self._failed[call.name] >= MAX_FAILURES:
            return "failing"
        if len(same_target) >= MAX_IDENTICAL_CALLS - 1:
            return "same place"
        if len(set(turns)) == 2 and turns == turns[:2] * (MAX_ALTERNATING_CALLS // 2):
            return "alternating"
        if len(same_tool) >= max_of_tool:
            return "one tool"
        return None

    def _note_or_end(self, repetition: Repetition | None) -> Repetition | None:
        if repetition is None:
            return None
        if repetition in self._noted:
            raise LimitReached(REPETITION, repetition)
        self._noted.add(repetition)
        self._fruitless.clear()
        self._failed.clear()
        self._thoughts = 0
        return repetition


def _target_of(call: ToolCall) -> str:
    """Return a call's page or query, or else its parameter, normalised."""
    target = str(call.fields.get("url") or call.fields.get("query") or call.param)
    return " ".join(target.lower().split()).rstrip("/")
