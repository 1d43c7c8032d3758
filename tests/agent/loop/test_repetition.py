"""Going in circles gets a note first, then an end; steps that yield something new are exempt."""

from __future__ import annotations

import pytest

from agent.guard.budget import LimitReached
from agent.loop.repetition import NOTES, RepetitionGuard
from agent.types import Observation, ToolCall, ToolTrait


def step(guard, name, param="", data=None, traits=frozenset()):
    called = Observation(ToolCall(name, param), data or {"same": True}, traits=traits)
    circle = guard.check_calls([called])
    return circle and NOTES[circle]


def test_the_same_call_with_the_same_result_is_noted_at_the_third_time_then_ends():
    guard = RepetitionGuard()
    assert [step(guard, "P", "1") for _ in range(2)] == [None, None]
    assert "you made this call before" in step(guard, "P", "1")
    assert step(guard, "P", "1") is None
    with pytest.raises(LimitReached, match="repetition"):
        step(guard, "P", "1")


def test_a_paged_list_is_free():
    guard = RepetitionGuard()
    notes = [step(guard, "CLICK", "e4", {"page": number}) for number in range(40)]
    assert notes == [None] * 40


def test_two_tools_that_take_turns_are_noted():
    guard = RepetitionGuard()
    notes = [step(guard, "AB"[n % 2], str(n)) for n in range(8)]
    assert notes[:7] == [None] * 7
    assert "you alternate between two tools" in notes[7]


def test_a_tool_that_fails_three_times_in_a_row_is_noted():
    guard = RepetitionGuard()
    notes = [step(guard, "READ", str(n), {"error": f"no {n}"}) for n in range(3)]
    assert notes[:2] == [None, None]
    assert "failed several times" in notes[2]


def test_one_failure_between_successes_is_nothing():
    guard = RepetitionGuard()
    for number in range(12):
        data = {"error": "x"} if number % 2 else {"n": number}
        assert step(guard, "READ", str(number), data) is None


@pytest.mark.parametrize(("traits", "calls"), [((), 6), ({ToolTrait.READS}, 16)])
def test_one_tool_without_anything_new_is_noted_later_where_it_only_reads(traits, calls):
    guard = RepetitionGuard()
    notes = [step(guard, "ANY", str(n), traits=frozenset(traits)) for n in range(calls)]
    assert [bool(note) for note in notes] == [False] * (calls - 1) + [True]


def test_the_same_page_spelt_otherwise_is_the_same_page():
    guard = RepetitionGuard()
    step(guard, "READ", '{"url":"https://a.example/x"}')
    step(guard, "READ", "https://a.example/x/")
    assert "you have seen this page or query before" in step(
        guard, "READ", '{"url": "HTTPS://a.example/x"}'
    )


def test_turns_that_only_think_are_noted_at_the_fifth():
    guard = RepetitionGuard()
    notes = [guard.check_thought() for _ in range(5)]
    assert notes[:4] == [None] * 4
    assert notes[4] == "thinking"


def test_progress_makes_good_what_was_noted():
    guard = RepetitionGuard()
    for _ in range(3):
        step(guard, "P", "1")
    step(guard, "Q", "", {"new": 1})
    assert [step(guard, "P", "1") for _ in range(2)] == [None, NOTES["same call"]]
