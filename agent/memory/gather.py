"""Gathering the layers of a run from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.memory import jsvalues, kinds
from agent.memory.distinct import distinct
from agent.memory.layers import RECENT_TURNS, SHOWN_WITHOUT_FILTER, relevant
from agent.memory.sharing import search_all
from agent.memory.types import Layers, Untrusted
from agent.memory.values import unpack

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.memory.conversations import Conversations
    from agent.memory.entries import Entries
    from agent.memory.types import Hit

SEARCHED = 24  # memories that are looked at
RECALLED = 12  # of them that may fill the context block
RELEVANT = 0.45  # of the question's words, by weight: less is not about it


def gather(
    entries: Entries, conversations: Conversations, question: str, session: str | None
) -> Layers:
    """Read every layer; `recalled` holds what bears on the question and is in no other layer."""
    memories = {row.key: _value(row) for row in entries.all([kinds.REMEMBERED])}
    sessions = {row.key: _value(row) for row in entries.all([kinds.SUMMARY])}
    return Layers(
        condensed=conversations.condensed(session)[0] if session else "",
        history=tuple(conversations.turns(session, RECENT_TURNS)) if session else (),
        profile=_mapping(entries, kinds.PROFILE),
        memories=memories,
        sessions=sessions,
        skills=tuple(unpack(row) for row in entries.all([kinds.SKILL])),
        recalled=_recalled(entries, question, memories, sessions),
    )


def _recalled(
    entries: Entries, question: str, memories: Mapping[str, Any], sessions: Mapping[str, Any]
) -> tuple[Hit, ...]:
    shown = {**memories, **sessions}
    if len(shown) > SHOWN_WITHOUT_FILTER:
        shown = {entry.key: entry.value for entry in relevant(question, shown)}
    found = [
        hit
        for hit in search_all(entries, question, SEARCHED, None)
        if hit.score >= RELEVANT and (hit.shared or not _is_shown(hit, shown))
    ]
    return tuple(distinct(found)[:RECALLED])


def _is_shown(hit: Hit, shown: Mapping[str, Any]) -> bool:
    return hit.kind in kinds.NAMED and hit.key in shown


def _mapping(entries: Entries, kind: str) -> dict[str, Any]:
    return {row.key: unpack(row) for row in entries.all([kind])}


def _value(row: Any) -> Any:
    value = unpack(row)
    return value if row.trusted else Untrusted(jsvalues.to_string(value))
