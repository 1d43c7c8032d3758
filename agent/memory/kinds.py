"""The kinds of memories that the engine writes, and their weights; users may invent others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NOTE = "note"
REMEMBERED = "memory"
"""What a user or a model saved under a key (REMEMBER)."""
SUMMARY = "summary"
"""The summary of a past session; its key is `session_<milliseconds>`."""
INTERNAL = "internal"
"""Counters of the engine; their keys begin with `_`."""
PROFILE = "profile"
SKILL = "skill"
PROJECT = "project"
STATE = "state"
"""Other entries of an imported storage, under their key."""

UNSEARCHED = frozenset({INTERNAL, PROFILE, SKILL, PROJECT, STATE})
"""Kinds that are not searched: a model is shown all of them, or none."""

FACT = "fact"
"""A sentence that a run verified; `url` is its page."""
OUTCOME = "outcome"
"""A question with the verified part of its answer."""
ERROR = "error"
"""A question and why a run failed to answer it."""
SOURCE = "source"
"""A page that supported an answer, with the questions it helped with."""
PLAYBOOK = "playbook"
"""The steps that answered a question."""
INSIGHT = "insight"
"""What consolidation concluded from several memories."""

NAMED = UNSEARCHED | {REMEMBERED, SUMMARY}
"""Kinds whose key is a name that people search by."""
STANDALONE = NAMED | {INSIGHT}
"""Kinds that never belong to a session with the memories before and after."""

TURN = "turn"
PAGE = "page"

WEIGHTS = {OUTCOME: 1.0, FACT: 1.0, REMEMBERED: 1.0, ERROR: 0.9, "goal": 0.8, "observation": 0.6}
"""Weights of kinds in a search, as in the reference engine; a user's words weigh like a fact."""
OTHER_WEIGHT = 0.5

BASES: dict[str, frozenset[str]] = {
    "domain": frozenset({FACT, SOURCE, PAGE, NOTE}),
    "body": frozenset({SOURCE, PLAYBOOK, "tool", "site"}),
    "soul": frozenset({REMEMBERED, INSIGHT, "identity", "constraint"}),
    "heart": frozenset({SUMMARY, TURN}),
    "episodic": frozenset({SUMMARY, TURN, OUTCOME, ERROR}),
    "mind": frozenset({PLAYBOOK, OUTCOME, ERROR}),
}
"""Knowledge bases: each is a view of some kinds in the one store."""
KNOWN = UNSEARCHED.union(*BASES.values())
"""All kinds that the engine writes or a knowledge base contains."""


def expand(names: Iterable[str]) -> frozenset[str]:
    """Replace names of knowledge bases by the kinds that they contain."""
    return frozenset().union(*(BASES.get(name, frozenset({name})) for name in names))
