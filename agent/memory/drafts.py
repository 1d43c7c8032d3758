"""A memory before it is written, and the columns it becomes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

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
