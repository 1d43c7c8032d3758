"""The kinds of memories that the engine writes, and their weights; users may add others."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NOTE = "note"
REMEMBERED = "memory"
"""A value that a user or a model saved under a key (REMEMBER)."""
SUMMARY = "summary"
"""The summary of a past session; its key is `session_<milliseconds>`."""
INTERNAL = "internal"
"""Counters used by the engine; their keys start with `_`."""
PROFILE = "profile"
SKILL = "skill"
PROJECT = "project"
STATE = "state"
"""Other entries from an imported storage, under their keys."""

UNSEARCHED = frozenset({INTERNAL, PROFILE, SKILL, PROJECT, STATE})
"""Kinds that are not searched: a model is shown either all memories of these kinds or none."""

FACT = "fact"
"""A sentence that a run verified; its `url` is that of the supporting page."""
OUTCOME = "outcome"
"""A question and the verified part of its answer."""
ERROR = "error"
"""A question, and the reason why a run failed to answer it."""
SOURCE = "source"
"""A page that supported an answer, with the questions that it helped to answer."""
PLAYBOOK = "playbook"
"""The steps that answered a question."""
INSIGHT = "insight"
"""A conclusion drawn from several memories during consolidation."""


class InsightType(StrEnum):
    """The types of insights, as in the reference engine; only a model writes recommendations."""

    CORRECTION = "correction"
    PATTERN = "pattern"
    SUMMARY = "summary"
    RECOMMENDATION = "recommendation"


BARE = frozenset({InsightType.PATTERN, InsightType.SUMMARY})
"""Insights that are only counts until a model has rephrased them."""


NAMED = UNSEARCHED | {REMEMBERED, SUMMARY}
"""Kinds whose key is a name that users may search for."""
STANDALONE = NAMED | {INSIGHT}
"""Kinds that never share a session with the memories before and after them."""

TURN = "turn"
PAGE = "page"

WEIGHTS = {OUTCOME: 1.0, FACT: 1.0, REMEMBERED: 1.0, ERROR: 0.9, "goal": 0.8, "observation": 0.6}
"""Search weights of kinds, as in the reference engine; what users save counts as much as facts."""
OTHER_WEIGHT = 0.5
"""The search weight of all other kinds."""

DOMAIN, BODY, SOUL, HEART, EPISODIC, MIND = "domain", "body", "soul", "heart", "episodic", "mind"
_CONTAINED = {
    DOMAIN: {FACT, SOURCE, PAGE, NOTE},
    BODY: {SOURCE, PLAYBOOK, "tool", "site"},
    SOUL: {REMEMBERED, INSIGHT, "identity", "constraint"},
    HEART: {SUMMARY, TURN},
    EPISODIC: {SUMMARY, TURN, OUTCOME, ERROR},
    MIND: {PLAYBOOK, OUTCOME, ERROR},
}
BASES = {name: frozenset({name, *contained}) for name, contained in _CONTAINED.items()}
"""Knowledge bases by role, under the reference engine's names: expertise, tools and environment,
identity and constraints, sessions, events, methods. Each is a view of certain kinds in the same
store, plus the memories that were added to it by name."""
KNOWN = UNSEARCHED.union(*BASES.values())
"""All kinds that the engine writes or a knowledge base contains."""


def named_kind(name: str) -> str:
    """Return a kind by its name; knowledge base names are case-insensitive: `Soul`, `soul`."""
    return name.lower() if name.lower() in BASES else name


def is_known(name: str) -> bool:
    """Return whether the engine writes this kind of memory, or a knowledge base has this name."""
    return named_kind(name) in KNOWN


def expand(names: Iterable[str]) -> frozenset[str]:
    """Replace knowledge base names with the kinds that they contain."""
    return frozenset().union(*(BASES.get(named_kind(name), frozenset({name})) for name in names))
