"""The kinds of memories that the engine itself writes; others are free words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NOTE = "note"
REMEMBERED = "memory"
"""What a person or a model saved under a key (REMEMBER)."""
SUMMARY = "summary"
"""The summary of a past session; its key is `session_<milliseconds>`."""
INTERNAL = "internal"
"""Counters of the engine; their keys begin with `_`."""
PROFILE = "profile"
SKILL = "skill"
PROJECT = "project"
STATE = "state"
"""What else an imported storage held, by the name of its key."""

UNSEARCHED = frozenset({INTERNAL, PROFILE, SKILL, PROJECT, STATE})
"""Laid before a model whole, or never: nobody needs to search them."""

FACT = "fact"
"""A sentence that a run verified; `url` is where it stands."""
OUTCOME = "outcome"
"""How a question was answered."""
SOURCE = "source"
"""A page that was cited, with the questions it was good for."""
PLAYBOOK = "playbook"
"""The steps that answered a question."""
INSIGHT = "insight"
"""What consolidation made of several memories."""

NAMED = UNSEARCHED | {REMEMBERED, SUMMARY}
"""Their key is a name that people search by, not only a number."""
ALONE = NAMED | {INSIGHT}
"""What was written before or after has nothing to do with it."""

TURN = "turn"
PAGE = "page"

BASES: dict[str, frozenset[str]] = {
    "domain": frozenset({FACT, SOURCE, PAGE, NOTE}),
    "body": frozenset({SOURCE, PLAYBOOK, "tool", "site"}),
    "soul": frozenset({REMEMBERED, INSIGHT, "identity", "constraint"}),
    "heart": frozenset({SUMMARY, TURN}),
    "episodic": frozenset({SUMMARY, TURN, OUTCOME}),
    "mind": frozenset({PLAYBOOK, OUTCOME}),
}
"""Knowledge bases, as views over the one store."""
KNOWN = UNSEARCHED.union(*BASES.values())
"""All kinds that the engine writes, or that a knowledge base shows."""


def expand(names: Iterable[str]) -> frozenset[str]:
    """Replace names of knowledge bases by the kinds that they show."""
    return frozenset().union(*(BASES.get(name, frozenset({name})) for name in names))
