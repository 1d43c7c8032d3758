"""Insights in better words than rules have: what a model may word, and what it did.

A contradiction is left as it is: it quotes both sides, and nothing is to be said better there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.memory import kinds
from agent.memory.drafts import Draft
from agent.memory.types import Origin
from agent.memory.values import details

if TYPE_CHECKING:
    from agent.memory.entries import Entries

EVIDENCE = 12  # memories that a model is shown; the newest say most
LENGTH = 300  # characters of an insight


@dataclass(frozen=True, slots=True)
class Unworded:
    """An insight in the words of a rule, and what the memories say that carry it."""

    key: str
    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Worded:
    """What a model said of this evidence (ids)."""

    text: str
    evidence: tuple[int, ...]


def unworded(entries: Entries) -> list[Unworded]:
    """List the insights that no model has worded yet, the newest first."""
    found = []
    for row in reversed(entries.all([kinds.INSIGHT])):
        value = details(row)
        if value and value["type"] != "contradiction" and not value.get("worded"):
            rows = entries.by_ids(value["evidence"][-EVIDENCE:])
            found.append(Unworded(row.key, row.text, tuple(other.text for other in rows)))
    return found


def reword(entries: Entries, key: str, text: str) -> None:
    """Put an insight in other words; the former ones go into its history."""
    row = entries.get([kinds.INSIGHT], key)
    if row is None or not details(row):
        return
    value = json.dumps({**details(row), "worded": True})
    said = " ".join(text.split())[:LENGTH]
    trusted = Origin(trusted=row.trusted)
    entries.put(Draft(said, kinds.INSIGHT, key, value, origin=trusted, confidence=row.confidence))


def worded(entries: Entries) -> dict[str, Worded]:
    """Give what models have worded, by key."""
    rows = [(row, details(row)) for row in entries.all([kinds.INSIGHT])]
    return {
        row.key: Worded(row.text, tuple(value["evidence"]))
        for row, value in rows
        if value.get("worded")
    }
