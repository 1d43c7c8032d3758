"""Import and export in the storage form of the reference engine, an exact round trip.

| key | shape |
|---|---|
| urchinMemory | key → value; `session_<ms>` are summaries, `_…` counters |
| urchinProfile | key → value |
| urchinSkills | list of records, each with a `name` |
| urchinProjects | name → project |
| urchinCondensed | text |
| urchinChatHistory | list of {role, text} |

Any other key is kept as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.memory import kinds
from agent.memory.drafts import Draft
from agent.memory.errors import BadImport
from agent.memory.types import Turn
from agent.memory.values import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agent.memory.conversations import Conversations
    from agent.memory.entries import Entries

MEMORY = "urchinMemory"
PROFILE = "urchinProfile"
SKILLS = "urchinSkills"
PROJECTS = "urchinProjects"
CONDENSED = "urchinCondensed"
CHAT = "urchinChatHistory"
CHAT_TURNS = 200  # as many as the reference engine keeps
_SHAPES: dict[str, type] = {
    MEMORY: dict,
    PROFILE: dict,
    PROJECTS: dict,
    SKILLS: list,
    CHAT: list,
    CONDENSED: str,
}
_MEMORY_KINDS = (kinds.REMEMBERED, kinds.SUMMARY, kinds.INTERNAL)


def load(
    entries: Entries, conversations: Conversations, storage: Mapping[str, Any], session: str
) -> None:
    """Take over a storage; raises `BadImport` before anything is written."""
    _check(storage)
    entries.put_all(list(_drafts(storage)))
    if CHAT in storage:
        turns = [Turn(turn["role"], turn["text"]) for turn in storage[CHAT]]
        conversations.replace(session, turns)
    if CONDENSED in storage:
        conversations.condense(session, storage[CONDENSED], 0)


def export(entries: Entries, conversations: Conversations, session: str | None) -> dict[str, Any]:
    """Give a storage; keys that hold nothing are left out, unless an import had them."""
    kept = {row.key: unpack(row) for row in entries.all([kinds.STATE])}
    parts = {
        MEMORY: _mapping(entries, *_MEMORY_KINDS),
        PROFILE: _mapping(entries, kinds.PROFILE),
        SKILLS: [unpack(row) for row in entries.all([kinds.SKILL])],
        PROJECTS: _mapping(entries, kinds.PROJECT),
    }
    if session is not None:
        turns = conversations.turns(session, CHAT_TURNS)
        parts[CHAT] = [{"role": turn.role, "text": turn.text} for turn in turns]
        parts[CONDENSED] = conversations.condensed(session)[0]
    return {**kept, **{name: part for name, part in parts.items() if part or name in kept}}


def _drafts(storage: Mapping[str, Any]) -> Iterator[Draft]:
    for key, value in storage.get(MEMORY, {}).items():
        yield _draft(_memory_kind(key), key, value)
    for key, value in storage.get(PROFILE, {}).items():
        yield _draft(kinds.PROFILE, key, value)
    for key, value in storage.get(PROJECTS, {}).items():
        yield _draft(kinds.PROJECT, key, value)
    for number, skill in enumerate(storage.get(SKILLS, [])):
        yield _draft(kinds.SKILL, _skill_key(skill, number), skill)
    for name, value in storage.items():
        if name not in _SHAPES:
            yield _draft(kinds.STATE, name, value)
        elif not value:
            yield _draft(kinds.STATE, name, _SHAPES[name]())


def _draft(kind: str, key: str, value: Any) -> Draft:
    text, packed = pack(value)
    return Draft(text, kind, key, packed)


def _memory_kind(key: str) -> str:
    if key.startswith("session_"):
        return kinds.SUMMARY
    return kinds.INTERNAL if key.startswith("_") else kinds.REMEMBERED


def _skill_key(skill: Mapping[str, Any], number: int) -> str:
    name = skill.get("name")
    return name if isinstance(name, str) else f"#{number}"


def _mapping(entries: Entries, *which: str) -> dict[str, Any]:
    return {row.key: unpack(row) for row in entries.all(which)}


def _check(storage: Mapping[str, Any]) -> None:
    if not isinstance(storage, dict):
        raise BadImport("the import is not a JSON object")
    for name, shape in _SHAPES.items():
        if name in storage and not isinstance(storage[name], shape):
            raise BadImport(f"{name} is not a {_JSON_NAMES[shape.__name__]}")
    if not all(isinstance(skill, dict) for skill in storage.get(SKILLS, [])):
        raise BadImport(f"{SKILLS} holds something that is not an object")
    if not all(_is_turn(turn) for turn in storage.get(CHAT, [])):
        raise BadImport(f"{CHAT} holds something that is not a role and a text")


_JSON_NAMES = {"dict": "JSON object", "list": "JSON list", "str": "string"}


def _is_turn(turn: Any) -> bool:
    return isinstance(turn, dict) and all(isinstance(turn.get(k), str) for k in ("role", "text"))
