"""A memory before it is written, and the columns it becomes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from agent.memory.errors import ReservedKey
from agent.memory.kinds import NAMED, UNSEARCHED
from agent.memory.retrieval.ranking import ASKS, NAMES_TIME
from agent.memory.terms import index_terms, kind_term, memory_terms
from agent.memory.types import Origin

_NAMES_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|since|last|next|week(?:end)?s?|months?|years?|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|"
    r"september|october|november|december|\d{4})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory to be written; `value` is JSON where the value is more than its text.

    `searched` is what it is found by where that is not all of its text. Times are seconds since the
    epoch; `at` is when it happened, now unless told.
    """

    text: str
    kind: str
    key: str | None = None
    value: str | None = None
    at: float | None = None
    source: str | None = None
    origin: Origin = field(default_factory=Origin)
    confidence: float | None = None
    expires: float | None = None
    searched: str | None = None


def columns(draft: Draft, now: float) -> dict[str, Any]:
    """Lay a draft out as columns; its id and session are given where it is written."""
    return {
        "kind": draft.kind,
        "key": draft.key,
        "text": draft.text,
        "value": draft.value,
        "at": now if draft.at is None else draft.at,
        "written": now,
        "source": draft.source,
        "run": draft.origin.run,
        "url": draft.origin.url,
        "trusted": draft.origin.trusted,
        "state": "active",
        "terms": _terms(draft),
        "traits": _traits(draft.text),
        "confidence": draft.confidence,
        "expires": draft.expires,
    }


def _terms(draft: Draft) -> str:
    if draft.kind in UNSEARCHED:
        return ""
    named = index_terms(draft.key) if draft.key and draft.kind in NAMED else []
    own = memory_terms(draft.text if draft.searched is None else draft.searched)
    return " ".join([kind_term(draft.kind), *own, *named])


def _traits(text: str) -> int:
    return ASKS * text.rstrip().endswith("?") | NAMES_TIME * bool(_NAMES_TIME.search(text))


def check_key(key: str) -> None:
    """Refuse keys that belong to the engine; raises `ReservedKey`."""
    if not key:
        raise ReservedKey("a memory needs a key")
    if key.startswith(("_", "session_")):
        raise ReservedKey(f"the key {key!r} belongs to the engine")


def seconds(at: datetime | str | float | None) -> float | None:
    """Give a moment as seconds since the epoch; a naive time is UTC."""
    if at is None or isinstance(at, int | float):
        return at
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
