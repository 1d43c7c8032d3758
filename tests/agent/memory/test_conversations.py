from __future__ import annotations

from typing import TYPE_CHECKING

from agent.memory import Turn

if TYPE_CHECKING:
    from agent.memory import Memory


def test_turns_come_back_oldest_first_and_only_the_last(memory: Memory) -> None:
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


def test_the_latest_session_is_the_one_last_spoken_in(memory: Memory) -> None:
    memory.conversation("one").append(Turn("user", "What is a sextant?"))
    memory.conversation("two").append(Turn("user", "Who was Mercator?"))
    memory.conversation("one").append(Turn("assistant", "An instrument."))
    assert memory.latest_session() == "one"


def test_layers_have_history_only_for_a_named_session(memory: Memory) -> None:
    memory.conversation("talk").append(Turn("user", "hello"))
    memory.remember("city", "Lisbon")
    assert memory.layers("hi").history == ()
    assert [turn.text for turn in memory.layers("hi", "talk").history] == ["hello"]
    assert memory.layers("hi").memories == {"city": "Lisbon"}
