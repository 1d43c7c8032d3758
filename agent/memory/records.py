"""A memory as a row: drafted, placed in its session, written as columns, read back as a hit."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from agent import jsvalues
from agent.memory.kinds import ALONE, NAMED, UNSEARCHED
from agent.memory.memory_types import Hit, Origin, ReservedKey
from agent.memory.term_index import (
    ASKS,
    NAMES_TIME,
    has_speaker,
    index_terms,
    kind_term,
    memory_terms,
    names_time,
)

RUNS = "runs"
"""The note that says when the last two runs ended."""


def pack(value: Any) -> tuple[str, str | None]:
    """Split a value into the text that is searched, and its JSON where it is no plain string."""
    if isinstance(value, str) and jsvalues.well_formed(value) == value and "\x00" not in value:
        return value, None  # what a database may not hold as text, its JSON spells
    if isinstance(value, str | dict | list):
        return jsvalues.well_formed(json.dumps(value, ensure_ascii=False)), json.dumps(value)
    return jsvalues.to_string(value), json.dumps(value)


def details(row: Any) -> dict[str, Any]:
    """Give what a run or a dream noted with a memory; nothing for one that somebody else wrote."""
    value = {} if row is None or row.value is None else json.loads(row.value)
    return value if isinstance(value, dict) else {}


def unpack(row: Any) -> Any:
    """Read the value of a row back, exactly as it was given."""
    return row.text if row.value is None else json.loads(row.value)


@dataclass(frozen=True, slots=True)
class MemoryDraft:
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
    searched: str | None = None


def columns(draft: MemoryDraft, now: float) -> dict[str, Any]:
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
    }


def _terms(draft: MemoryDraft) -> str:
    if draft.kind in UNSEARCHED:
        return ""
    named = index_terms(draft.key) if draft.key and draft.kind in NAMED else []
    own = memory_terms(draft.text if draft.searched is None else draft.searched)
    return " ".join([kind_term(draft.kind), *own, *named])


def _traits(text: str) -> int:
    return ASKS * text.rstrip().endswith("?") | NAMES_TIME * names_time(text)


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


SESSION_GAP = 3_600.0  # seconds of silence after which a conversation is another one
_TURN_ID = re.compile(r"(.*\d)\D+\d+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory stands; `session` is the id of the first memory of its session."""

    id: int
    session: int
    at: float
    source: str | None


def place(number: int, draft: MemoryDraft, now: float, before: Place | None) -> Place:
    """Place a memory after the one that was written before it."""
    here = Place(number, number, now if draft.at is None else draft.at, draft.source)
    if before is not None and _talks(draft) and _goes_on(before, here):
        return replace(here, session=before.session)
    return here


def _talks(draft: MemoryDraft) -> bool:
    """Tell a turn of a talk, which says when, where or who, from a note that stands for itself."""
    if draft.kind in ALONE or draft.origin.run is not None:
        return False
    return draft.at is not None or draft.source is not None or has_speaker(draft.text)


def _goes_on(before: Place, here: Place) -> bool:
    """Tell whether a turn belongs to the session of the one before it.

    Silence ends a session, and so does another source; but where each turn has a source of its
    own (`D1:1`, `D1:2`, or one that stood alone), the source names the turn, not the session.
    """
    if abs(here.at - before.at) > SESSION_GAP:
        return False
    alone = before.session == before.id
    return alone or None in (before.source, here.source) or _stem(before) == _stem(here)


def _stem(place: Place) -> str | None:
    match = _TURN_ID.fullmatch(place.source or "")
    return match[1] if match else place.source


def meaning(kind: str, key: str | None, text: str) -> str:
    """Give the text that says what a memory means: its own, after the name that it goes by."""
    return f"{key}: {text}" if key and kind in NAMED else text


def hit_of(row: Any, score: float) -> Hit:
    """Show a row as the hit of a search."""
    return Hit(
        row.id,
        row.key,
        row.text,
        row.kind,
        round(score, 4),
        datetime.fromtimestamp(row.at, UTC),
        row.source,
        Origin(row.run, row.url, row.trusted),
    )
