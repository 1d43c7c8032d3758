from __future__ import annotations

from typing import TYPE_CHECKING

from agent.memory import Turn

if TYPE_CHECKING:
    from agent.memory import Memory


def test_latest_turns_are_returned_oldest_first(memory: Memory) -> None:
    for number in range(40):
        memory.conversation("talk").append(
            Turn("user" if number % 2 == 0 else "assistant", f"turn {number}")
        )
    turns = memory.conversation("talk").turns(30)
    assert [turn.text for turn in turns] == [f"turn {n}" for n in range(10, 40)]
    assert turns[0].role == "user"


def test_an_unknown_conversation_has_no_turns(memory: Memory) -> None:
    assert memory.conversation("nowhere").turns() == []
    assert memory.latest_session() is None


def test_latest_session_is_the_most_recently_used(memory: Memory) -> None:
    memory.conversation("one").append(Turn("user", "What is a sextant?"))
    memory.conversation("two").append(Turn("user", "Who was Mercator?"))
    memory.conversation("one").append(Turn("assistant", "An instrument."))
    assert memory.latest_session() == "one"


def test_history_is_given_only_for_named_session(memory: Memory) -> None:
    memory.conversation("talk").append(Turn("user", "hello"))
    memory.remember("city", "Lisbon")
    assert memory.layers("hi").history == ()
    assert [turn.text for turn in memory.layers("hi", "talk").history] == ["hello"]
    assert memory.layers("hi").memories == {"city": "Lisbon"}
