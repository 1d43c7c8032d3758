"""What the jobs after an answer change: counters, summaries, profile, skills, what is condensed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.memory import jsvalues, kinds
from agent.memory.drafts import Draft
from agent.memory.layers import MANUAL_MEMORIES, PROFILE_KEYS, SESSION_SUMMARIES
from agent.memory.types import Origin
from agent.memory.values import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.memory.conversations import Conversations
    from agent.memory.entries import Entries
    from agent.memory.types import Turn

COUNTER = "_convCount"
SUMMARY_UNITS = 1_500
CONDENSED_UNITS = 4_000
SKILLS = 50
"""More instructions than that crowd the question out; the oldest goes."""
PROJECTS = 10
Skill = dict[str, Any]


class Upkeep:
    """The memory of one namespace as its housekeeping sees it; `session` is the conversation."""

    def __init__(self, entries: Entries, conversations: Conversations, session: str) -> None:
        self._entries = entries
        self._conversations = conversations
        self._session = session

    def conversations_counted(self) -> int:
        """Tell how many questions were answered; a counter that is no number begins anew."""
        row = self._entries.get([kinds.INTERNAL], COUNTER)
        counted = jsvalues.to_string(unpack(row)) if row is not None else "0"
        return int(counted) if counted.isascii() and counted.isdigit() else 0

    def count_conversation(self) -> int:
        """Count one more answered question."""
        count = self.conversations_counted() + 1
        self._put(kinds.INTERNAL, COUNTER, str(count))
        return count

    def profile(self) -> dict[str, Any]:
        """What is known of the person."""
        return {row.key: unpack(row) for row in self._entries.all([kinds.PROFILE])}

    def extend_profile(self, facts: Mapping[str, Any]) -> None:
        """Add facts of the person; what has the same key is replaced."""
        for key, value in facts.items():
            self._put(kinds.PROFILE, key, value)

    def add_summary(self, at_ms: int, text: str, *, trusted: bool) -> None:
        """Keep the summary of a session; the newest twenty stay."""
        origin = Origin(trusted=trusted)
        self._put(kinds.SUMMARY, f"session_{at_ms}", jsvalues.cut(text, SUMMARY_UNITS), origin)
        keys = sorted((r.key for r in self._entries.all([kinds.SUMMARY])), key=jsvalues.sort_key)
        for key in keys[:-SESSION_SUMMARIES]:
            self._entries.delete([kinds.SUMMARY], key)

    def condensed(self) -> tuple[str, int]:
        """What is condensed of the conversation, and how many of its turns that covers."""
        return self._conversations.condensed(self._session)

    def condense(self, text: str, watermark: int) -> None:
        """Replace what is condensed, which now covers so many turns."""
        self._conversations.condense(self._session, jsvalues.cut(text, CONDENSED_UNITS), watermark)

    def turns(self) -> list[Turn]:
        """The whole conversation."""
        return self._conversations.turns(self._session, None)

    def skills(self) -> list[Skill]:
        """The skills, in the order in which they were learned."""
        return [unpack(row) for row in self._entries.all([kinds.SKILL])]

    def put_skills(self, changed: Sequence[Skill]) -> None:
        """Write skills, each in place of the one of its name; past fifty the oldest goes."""
        for skill in changed:
            self._put(kinds.SKILL, str(skill["name"]), skill)
        for row in self._entries.all([kinds.SKILL])[:-SKILLS]:
            self._entries.delete([kinds.SKILL], row.key)

    def drop_skill(self, name: str) -> bool:
        """Delete a skill for good."""
        return self._entries.delete([kinds.SKILL], name) > 0

    def projects(self) -> dict[str, Any]:
        """The plans, by project."""
        return {row.key: unpack(row) for row in self._entries.all([kinds.PROJECT])}

    def put_project(self, name: str, plan: Mapping[str, Any]) -> None:
        """Write a plan; past ten projects the first goes."""
        self._put(kinds.PROJECT, name, dict(plan))
        names = list(jsvalues.ordered(self.projects()))
        for key in names[:-PROJECTS]:
            self._entries.delete([kinds.PROJECT], key)

    def saved(self) -> dict[str, Any]:
        """All that is saved under keys: memories, summaries, counters, in that form's order."""
        which = [kinds.REMEMBERED, kinds.SUMMARY, kinds.INTERNAL]
        return jsvalues.ordered({row.key: unpack(row) for row in self._entries.all(which)})

    def trim(self) -> None:
        """Drop what is beyond the bounds of profile and memories, oldest first."""
        for kind, most in ((kinds.PROFILE, PROFILE_KEYS), (kinds.REMEMBERED, MANUAL_MEMORIES)):
            keys = list(jsvalues.ordered({row.key: row for row in self._entries.all([kind])}))
            for key in keys[:-most]:
                self._entries.delete([kind], key)

    def _put(self, kind: str, key: str, value: Any, origin: Origin | None = None) -> None:
        text, packed = pack(value)
        self._entries.put(Draft(text, kind, key, packed, origin=origin or Origin()))


def used(skills: Sequence[Skill], shown: Sequence[str], now_ms: int) -> list[Skill]:
    """Give the skills that a run is given, with that counted."""
    return [
        {**skill, "usageCount": (skill.get("usageCount") or 0) + 1, "lastUsedAt": now_ms}
        for skill in skills
        if skill.get("name") in shown
    ]
