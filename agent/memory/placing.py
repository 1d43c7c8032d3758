"""Which memories belong together: turns of one talk form a session."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.memory import kinds
from agent.memory.terms import has_speaker

if TYPE_CHECKING:
    from agent.memory.drafts import Draft

SESSION_GAP = 3_600.0  # seconds of silence after which a conversation is another one
_TURN_ID = re.compile(r"(.*\d)\D+\d+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory stands; `session` is the id of the first memory of its session."""

    id: int
    session: int
    at: float
    source: str | None


def place(number: int, draft: Draft, now: float, before: Place | None) -> Place:
    """Place a memory after the one that was written before it."""
    here = Place(number, number, now if draft.at is None else draft.at, draft.source)
    if before is not None and _talks(draft) and _goes_on(before, here):
        return replace(here, session=before.session)
    return here


def _talks(draft: Draft) -> bool:
    """Tell a turn of a talk, which says when, where or who, from a note that stands for itself."""
    if draft.kind in kinds.ALONE or draft.origin.run is not None:
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
