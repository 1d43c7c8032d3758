"""Which memories form a session, as decided when they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agent.memory import Memory, Origin
from agent.memory.entries import SESSION_GAP, MemoryDraft

if TYPE_CHECKING:
    from collections.abc import Sequence


def _sessions(*drafts: MemoryDraft) -> list[int]:
    """Write drafts in order, together or one by one; returns their sessions, counted from 1."""
    found = []
    for batches in ([drafts], [[draft] for draft in drafts]):
        with Memory.open(":memory:") as memory:
            ids = [id_ for batch in batches for id_ in memory.entries.add(batch)]
            found.append([row.session - ids[0] + 1 for row in memory.entries.by_ids(ids)])
    assert found[0] == found[1]
    return found[0]


def _turn(at: float | None = None, source: str | None = None, text: str = "words") -> MemoryDraft:
    return MemoryDraft(text, "turn", at=at, source=source)


def test_long_gap_ends_session() -> None:
    assert _sessions(_turn(0.0), _turn(60.0), _turn(61.0 + SESSION_GAP)) == [1, 1, 3]


def test_change_of_source_ends_session() -> None:
    assert _sessions(*(_turn(source=name) for name in ("a", "a", "b", "b"))) == [1, 1, 3, 3]


@pytest.mark.parametrize("sources", [("D1:1", "D1:2", "D1:3"), ("x9#1", "x9#2", "x9#10")])
def test_per_turn_sources_do_not_end_session(sources: Sequence[str]) -> None:
    assert _sessions(*(_turn(source=source) for source in sources)) == [1, 1, 1]


def test_speaker_prefixes_form_one_session() -> None:
    assert _sessions(_turn(text="Ann: hello"), _turn(text="Bo: hello")) == [1, 1]


def test_plain_notes_are_separate_sessions() -> None:
    assert _sessions(MemoryDraft("oats", "note"), MemoryDraft("bread", "note")) == [1, 2]


def test_facts_from_runs_are_separate_sessions() -> None:
    fact = MemoryDraft("x", "fact", source="https://a.example/", origin=Origin("r1"))
    assert _sessions(fact, fact) == [1, 2]
