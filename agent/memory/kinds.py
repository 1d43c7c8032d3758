"""The kinds of memories that the engine itself writes, and their weights; others are free words."""

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
"""What a run verified in answer to a question."""
ERROR = "error"
"""How a run failed to answer a question."""
SOURCE = "source"
"""A page that carried an answer, with the questions it was good for."""
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

WEIGHTS = {OUTCOME: 1.0, FACT: 1.0, REMEMBERED: 1.0, ERROR: 0.9, "goal": 0.8, "observation": 0.6}
"""The reference engine's weight of a kind in a search; what a person said weighs as a fact does."""
OTHER_WEIGHT = 0.5

BASES: dict[str, frozenset[str]] = {
    "domain": frozenset({FACT, SOURCE, PAGE, NOTE}),
    "body": frozenset({SOURCE, PLAYBOOK, "tool", "site"}),
    "soul": frozenset({REMEMBERED, INSIGHT, "identity", "constraint"}),
    "heart": frozenset({SUMMARY, TURN}),
    "episodic": frozenset({SUMMARY, TURN, OUTCOME, ERROR}),
    "mind": frozenset({PLAYBOOK, OUTCOME, ERROR}),
}
"""Knowledge bases, as views over the one store."""
KNOWN = UNSEARCHED.union(*BASES.values())
"""All kinds that the engine writes, or that a knowledge base shows."""


def expand(names: Iterable[str]) -> frozenset[str]:
    """Replace names of knowledge bases by the kinds that they show."""
    return frozenset().union(*(BASES.get(name, frozenset({name})) for name in names))
