"""Memory for the background jobs, and import and export in the reference engine's format.

| key | shape |
|---|---|
| urchinMemory | key → value; `session_<ms>` are summaries, `_…` counters |
| urchinProfile | key → value |
| urchinSkills | list of records, each with a `name` |
| urchinProjects | name → project |
| urchinCondensed | text |
| urchinChatHistory | list of {role, text} |

Other keys are kept unchanged. Importing an export changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent import jsvalues
from agent.limits import LimitSettings
from agent.memory import kinds
from agent.memory.entries import Entries, MemoryDraft, pack, unpack
from agent.memory.memory_types import BadImport, Origin, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.memory.conversations import Conversations

COUNTER = "_convCount"
Skill = dict[str, Any]
_SAVED = (kinds.REMEMBERED, kinds.SUMMARY, kinds.INTERNAL)


class Upkeep:
    """The memory of one namespace for background jobs; `session` is the conversation."""

    def __init__(
        self,
        entries: Entries,
        conversations: Conversations,
        session: str,
        limits: LimitSettings | None = None,
    ) -> None:
        self.limits = limits or LimitSettings()
        self._entries = entries
        self._conversations = conversations
        self._session = session

    def conversations_counted(self) -> int:
        """Return how many questions were answered; 0 if the stored counter is no number."""
        row = self._entries.get(kinds.INTERNAL, COUNTER)
        counted = jsvalues.to_string(unpack(row)) if row is not None else "0"
        return int(counted) if counted.isascii() and counted.isdigit() else 0

    def count_conversation(self) -> int:
        """Increment the count of answered questions and return it."""
        count = self.conversations_counted() + 1
        self._put(kinds.INTERNAL, {COUNTER: str(count)})
        return count

    def profile(self) -> dict[str, Any]:
        """Return the facts about the person, by key."""
        return _values(self._entries, kinds.PROFILE)

    def extend_profile(self, facts: Mapping[str, Any]) -> None:
        """Add facts about the person; those with the same key are replaced."""
        self._put(kinds.PROFILE, facts)

    def add_summary(self, at_ms: int, text: str, *, trusted: bool) -> None:
        """Save the summary of a session; the oldest of too many is deleted."""
        summary = jsvalues.cut(text, self.limits.summary_units)
        self._put(kinds.SUMMARY, {f"session_{at_ms}": summary}, trusted=trusted)
        keys = sorted((r.key for r in self._entries.all(kinds.SUMMARY)), key=jsvalues.sort_key)
        self._drop(kinds.SUMMARY, keys[: -self.limits.session_summaries])

    def condensed(self) -> tuple[str, int]:
        """Read the condensed conversation, and how many of its turns it covers."""
        return self._conversations.condensed(self._session)

    def condense(self, text: str, watermark: int) -> None:
        """Replace the condensed conversation; `watermark` is how many turns it covers."""
        cut = jsvalues.cut(text, self.limits.condensed_units)
        self._conversations.condense(self._session, cut, watermark)

    def add_provenance(self, public: str, *, quotes: bool) -> None:
        """Record words that left the conversation, and whether its turns may quote others."""
        self._conversations.add_provenance(self._session, public, quotes=quotes)

    def turns(self) -> list[Turn]:
        """List the whole conversation."""
        return self._conversations.turns(self._session, None)

    def skills(self) -> list[Skill]:
        """List the skills, in the order in which they were learned."""
        return [unpack(row) for row in self._entries.all(kinds.SKILL)]

    def put_skills(self, changed: Sequence[Skill]) -> None:
        """Save skills, replacing those with the same name; the oldest of too many is deleted."""
        self._entries.put(*(_draft(kinds.SKILL, str(skill["name"]), skill) for skill in changed))
        rows = self._entries.all(kinds.SKILL)
        self._drop(kinds.SKILL, [row.key for row in rows[: -self.limits.skills]])

    def drop_skill(self, name: str) -> bool:
        """Delete a skill for good."""
        return self._entries.delete(kinds.SKILL, name) > 0

    def projects(self) -> dict[str, Any]:
        """Return the plans, by project."""
        return _values(self._entries, kinds.PROJECT)

    def put_project(self, name: str, plan: Mapping[str, Any]) -> None:
        """Save a plan; the oldest of too many projects is deleted."""
        self._put(kinds.PROJECT, {name: dict(plan)})
        names = list(jsvalues.ordered(self.projects()))
        self._drop(kinds.PROJECT, names[: -self.limits.projects])

    def saved(self) -> dict[str, Any]:
        """Return saved values, summaries and counters by key, in the order of JavaScript."""
        return jsvalues.ordered(_values(self._entries, *_SAVED))

    def trusts(self, key: str) -> bool:
        """Tell whether a person's own word is saved under a key."""
        row = self._entries.get(kinds.REMEMBERED, key)
        return row is not None and bool(row.trusted)

    def trim(self) -> None:
        """Drop what is beyond the bounds of profile and memories, oldest first."""
        bounds = (kinds.PROFILE, self.limits.profile_keys), (kinds.REMEMBERED, self.limits.memories)
        for kind, most in bounds:
            keys = list(jsvalues.ordered({row.key: row for row in self._entries.all(kind)}))
            self._drop(kind, keys[:-most])

    def _put(self, kind: str, values: Mapping[str, Any], *, trusted: bool = True) -> None:
        drafts = (_draft(kind, key, value, trusted=trusted) for key, value in values.items())
        self._entries.put(*drafts)

    def _drop(self, kind: str, keys: Sequence[str]) -> None:
        for key in keys:
            self._entries.delete(kind, key)


def used(skills: Sequence[Skill], shown: Sequence[str], now_ms: int) -> list[Skill]:
    """Give the skills that a run is given, with that use counted."""
    return [
        {**skill, "usageCount": (skill.get("usageCount") or 0) + 1, "lastUsedAt": now_ms}
        for skill in skills
        if skill.get("name") in shown
    ]


_MEMORY = "urchinMemory"
_PROFILE = "urchinProfile"
_SKILLS = "urchinSkills"
_PROJECTS = "urchinProjects"
_CONDENSED = "urchinCondensed"
_CHAT = "urchinChatHistory"
CHAT_TURNS = 200  # as many as the reference engine keeps
_SHAPES: dict[str, type] = {
    _MEMORY: dict,
    _PROFILE: dict,
    _PROJECTS: dict,
    _SKILLS: list,
    _CHAT: list,
    _CONDENSED: str,
}
_JSON_NAMES: dict[type, str] = {dict: "JSON object", list: "JSON list", str: "string"}


def load_storage(
    entries: Entries, conversations: Conversations, storage: Mapping[str, Any], session: str
) -> list[tuple[str, str]]:
    """Import a storage; raises `BadImport` before anything is written.

    A skill that is named as another one, and says something else, is kept beside it under a name
    of its own. Returns (name, new name) of those.
    """
    _check(storage)
    skills, renamed = _name_apart(entries, storage.get(_SKILLS, []))
    entries.put(*_drafts({**storage, _SKILLS: skills} if skills else storage))
    if _CHAT in storage:
        turns = [Turn(turn["role"], turn["text"]) for turn in storage[_CHAT]]
        conversations.append(session, turns, anew=True)
    if _CONDENSED in storage:
        conversations.condense(session, storage[_CONDENSED], 0)
    return renamed


def export_storage(
    entries: Entries, conversations: Conversations, session: str | None
) -> dict[str, Any]:
    """Export a storage; keys that hold nothing are left out, unless an import had them."""
    kept = _values(entries, kinds.STATE)
    parts = {
        _MEMORY: _values(entries, *_SAVED),
        _PROFILE: _values(entries, kinds.PROFILE),
        _SKILLS: [unpack(row) for row in entries.all(kinds.SKILL)],
        _PROJECTS: _values(entries, kinds.PROJECT),
    }
    if session is not None:
        turns = conversations.turns(session, CHAT_TURNS)
        parts[_CHAT] = [{"role": turn.role, "text": turn.text} for turn in turns]
        parts[_CONDENSED] = conversations.condensed(session)[0]
    return {**kept, **{name: part for name, part in parts.items() if part or name in kept}}


def _check(storage: Mapping[str, Any]) -> None:
    if not isinstance(storage, dict):
        raise BadImport("the import is not a JSON object")
    for name, shape in _SHAPES.items():
        if name in storage and not isinstance(storage[name], shape):
            raise BadImport(f"{name} is not a {_JSON_NAMES[shape]}")
    if not all(isinstance(skill, dict) for skill in storage.get(_SKILLS, [])):
        raise BadImport(f"{_SKILLS} holds something that is not an object")
    for turn in storage.get(_CHAT, []):
        fields = turn if isinstance(turn, dict) else {}
        if not all(isinstance(fields.get(name), str) for name in ("role", "text")):
            raise BadImport(f"{_CHAT} holds something that is not a role and a text")


def _name_apart(
    entries: Entries, given: Sequence[Skill]
) -> tuple[list[Skill], list[tuple[str, str]]]:
    """Give skills unique names; returns them, and (name, new name) of those that were renamed.

    A skill with the same name and instruction as a known one replaces it.
    """
    known = {row.key: unpack(row).get("instruction") for row in entries.all(kinds.SKILL)}
    skills: list[Skill] = []
    renamed: list[tuple[str, str]] = []
    for skill in given:
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
        yield _draft(kinds.SUMMARY if key.startswith("session_") else internal, key, value)
    for part, kind in ((_PROFILE, kinds.PROFILE), (_PROJECTS, kinds.PROJECT)):
        for key, value in storage.get(part, {}).items():
            yield _draft(kind, key, value)
    for number, skill in enumerate(storage.get(_SKILLS, [])):
        name = skill.get("name")
        yield _draft(kinds.SKILL, name if isinstance(name, str) else f"#{number}", skill)
    for name, value in storage.items():
        if name not in _SHAPES:
            yield _draft(kinds.STATE, name, value)
        elif not value:
            yield _draft(kinds.STATE, name, _SHAPES[name]())


def _draft(kind: str, key: str, value: Any, *, trusted: bool = True) -> MemoryDraft:
    text, packed = pack(value)
    return MemoryDraft(text, kind, key, packed, origin=Origin(trusted=trusted))


def _values(entries: Entries, *which: str) -> dict[str, Any]:
    """Return the values of some kinds by key, in the order in which they were first written."""
    return {row.key: unpack(row) for row in entries.all(*which)}
