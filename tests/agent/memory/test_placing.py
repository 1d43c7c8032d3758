from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agent.memory.memory_types import Origin
from agent.memory.records import SESSION_GAP, MemoryDraft, Place, place

if TYPE_CHECKING:
    from collections.abc import Sequence


def _sessions(drafts: Sequence[MemoryDraft]) -> list[int]:
    """Place drafts one after another, all written at time 1000; gives their sessions."""
    found: list[int] = []
    before: Place | None = None
    for number, draft in enumerate(drafts, 1):
        before = place(number, draft, 1_000.0, before)
        found.append(before.session)
    return found


def _turn(at: float | None = None, source: str | None = None, text: str = "words") -> MemoryDraft:
    return MemoryDraft(text, "turn", at=at, source=source)


def test_silence_ends_a_session() -> None:
    assert _sessions([_turn(0.0), _turn(60.0), _turn(61.0 + SESSION_GAP)]) == [1, 1, 3]


def test_another_source_ends_a_session() -> None:
    assert _sessions([_turn(source=name) for name in ("a", "a", "b", "b")]) == [1, 1, 3, 3]


@pytest.mark.parametrize("sources", [("D1:1", "D1:2", "D1:3"), ("x9#1", "x9#2", "x9#10")])
def test_sources_that_name_turns_do_not_end_a_session(sources: Sequence[str]) -> None:
    assert _sessions([_turn(source=source) for source in sources]) == [1, 1, 1]


def test_speakers_alone_make_a_talk() -> None:
    assert _sessions([_turn(text="Ann: hello"), _turn(text="Bo: hello")]) == [1, 1]


def test_a_bare_note_stands_for_itself() -> None:
    assert _sessions([MemoryDraft("oats", "note"), MemoryDraft("bread", "note")]) == [1, 2]


def test_what_a_run_wrote_is_no_talk() -> None:
    fact = MemoryDraft("x", "fact", source="https://a.example/", origin=Origin("r1"))
    assert _sessions([fact, fact]) == [1, 2]
