"""Imports and exports a memory in the reference engine's format.

| key | shape |
|---|---|
| urchinMemory | key → value; `session_<ms>` are summaries, `_…` counters |
| urchinProfile | key → value |
| urchinSkills | list of records, each with a `name` |
| urchinProjects | name → project |
| urchinCondensed | text |
| urchinChatHistory | list of {role, text} |

Other keys are kept unchanged. Importing a memory's own export leaves it unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.memory import kinds
from agent.memory.entries import value_draft
from agent.memory.memory_types import BadImport, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.memory.entries import MemoryDraft
    from agent.memory.memory_api import Memory

    Skill = dict[str, Any]

IMPORTED = "imported"
"""The name of the conversation that an import creates from its chat history."""

_MEMORY = "urchinMemory"
_PROFILE = "urchinProfile"
_SKILLS = "urchinSkills"
_PROJECTS = "urchinProjects"
_CONDENSED = "urchinCondensed"
_CHAT = "urchinChatHistory"
CHAT_TURNS = 200  # maximum number of exported turns, as in the reference engine
_SHAPES: dict[str, type] = {
    _MEMORY: dict,
    _PROFILE: dict,
    _PROJECTS: dict,
    _SKILLS: list,
    _CHAT: list,
    _CONDENSED: str,
}
_JSON_NAMES: dict[type, str] = {dict: "JSON object", list: "JSON array", str: "string"}


def load_storage(
    memory: Memory, storage: Mapping[str, Any], session: str = IMPORTED
) -> list[tuple[str, str]]:
    """Import a storage; if it is invalid, raises `BadImport` before anything is written.

    Values with the same key are replaced, and the former ones are kept in the history. The chat
    history becomes the conversation `session`. A skill that has the same name as another one but a
    different instruction is renamed; returns the (name, new name) pairs.
    """
    _check(storage)
    skills, renamed = _rename_duplicates(memory.skills(), storage.get(_SKILLS, []))
    memory.entries.put(*_drafts({**storage, _SKILLS: skills} if skills else storage))
    conversation = memory.conversation(session)
    if _CHAT in storage:
        turns = [Turn(turn["role"], turn["text"]) for turn in storage[_CHAT]]
        conversation.append(*turns, anew=True)
    if _CONDENSED in storage:
        conversation.condense(storage[_CONDENSED], 0)
    return renamed


def export_storage(memory: Memory, session: str | None = None) -> dict[str, Any]:
    """Export everything in the storage format, with the named (or most recent) conversation.

    Empty entries are left out, unless they were imported.
    """
    kept = memory.values(kinds.STATE)
    parts: dict[str, Any] = {
        _MEMORY: memory.saved(),
        _PROFILE: memory.values(kinds.PROFILE),
        _SKILLS: memory.skills(),
        _PROJECTS: memory.values(kinds.PROJECT),
    }
    session = session or memory.latest_session()
    if session is not None:
        conversation = memory.conversation(session)
        turns = conversation.turns(CHAT_TURNS)
        parts[_CHAT] = [{"role": turn.role, "text": turn.text} for turn in turns]
        parts[_CONDENSED] = conversation.condensed()[0]
    return {**kept, **{name: part for name, part in parts.items() if part or name in kept}}


def _check(storage: Mapping[str, Any]) -> None:
    if not isinstance(storage, dict):
        raise BadImport("the import is not a JSON object")
    for name, shape in _SHAPES.items():
        if name in storage and not isinstance(storage[name], shape):
            raise BadImport(f"{name} is not a {_JSON_NAMES[shape]}")
    if not all(isinstance(skill, dict) for skill in storage.get(_SKILLS, [])):
        raise BadImport(f"{_SKILLS} contains an entry that is not an object")
    for turn in storage.get(_CHAT, []):
        fields = turn if isinstance(turn, dict) else {}
        if not all(isinstance(fields.get(name), str) for name in ("role", "text")):
            raise BadImport(f"{_CHAT} contains an entry without a role and text")


def _rename_duplicates(
    learned: Sequence[Skill], imported: Sequence[Skill]
) -> tuple[list[Skill], list[tuple[str, str]]]:
    """Give skills unique names; returns them, and (name, new name) pairs for renamed ones.

    A skill that has the same name and instruction as a learned one replaces it.
    """
    known = {skill.get("name"): skill.get("instruction") for skill in learned}
    skills: list[Skill] = []
    renamed: list[tuple[str, str]] = []
    for skill in imported:
        name = free = skill.get("name")
        if isinstance(name, str):
            free, number = name, 2
            while free in known and known[free] != skill.get("instruction"):
                free, number = f"{name} ({number})", number + 1
            known[free] = skill.get("instruction")
            if free != name:
                renamed.append((name, free))
        skills.append({**skill, "name": free} if free != name else skill)
    return skills, renamed


def _drafts(storage: Mapping[str, Any]) -> Iterator[MemoryDraft]:
    for key, value in storage.get(_MEMORY, {}).items():
        internal = kinds.INTERNAL if key.startswith("_") else kinds.REMEMBERED
        yield value_draft(kinds.SUMMARY if key.startswith("session_") else internal, key, value)
    for part, kind in ((_PROFILE, kinds.PROFILE), (_PROJECTS, kinds.PROJECT)):
        for key, value in storage.get(part, {}).items():
            yield value_draft(kind, key, value)
    for number, skill in enumerate(storage.get(_SKILLS, [])):
        name = skill.get("name")
        yield value_draft(kinds.SKILL, name if isinstance(name, str) else f"#{number}", skill)
    for name, value in storage.items():
        if name not in _SHAPES:
            yield value_draft(kinds.STATE, name, value)
        elif not value:
            yield value_draft(kinds.STATE, name, _SHAPES[name]())
