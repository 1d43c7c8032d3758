"""Going in circles gets a note first, then an end; steps that yield something new are exempt."""

from __future__ import annotations

import pytest

from agent.guard.budget import LimitReached
from agent.loop.repetition import NOTES, RepetitionGuard
from agent.types import Observation, ToolCall, ToolTrait


def call_tool(guard, name, param="", data=None, traits=frozenset()):
    called = Observation(ToolCall(name, param), data or {"same": True}, traits=traits)
    circle = guard.check_calls([called])
    return circle and NOTES[circle]


def test_repeated_call_is_noted_at_third_time_then_ends_run():
    guard = RepetitionGuard()
    assert [call_tool(guard, "P", "1") for _ in range(2)] == [None, None]
    assert "you made this call before" in call_tool(guard, "P", "1")
    assert call_tool(guard, "P", "1") is None
    with pytest.raises(LimitReached, match="repetition"):
        call_tool(guard, "P", "1")


def test_paging_through_list_is_not_repetition():
    guard = RepetitionGuard()
    notes = [call_tool(guard, "CLICK", "e4", {"page": number}) for number in range(40)]
    assert notes == [None] * 40


def test_two_alternating_tools_are_noted():
    guard = RepetitionGuard()
    notes = [call_tool(guard, "AB"[n % 2], str(n)) for n in range(8)]
    assert notes[:7] == [None] * 7
    assert "you alternate between two tools" in notes[7]


def test_third_consecutive_tool_failure_is_noted():
    guard = RepetitionGuard()
    notes = [call_tool(guard, "READ", str(n), {"error": f"no {n}"}) for n in range(3)]
    assert notes[:2] == [None, None]
    assert "failed several times" in notes[2]


def test_isolated_failures_are_not_noted():
    guard = RepetitionGuard()
    for number in range(12):
        data = {"error": "x"} if number % 2 else {"n": number}
        assert call_tool(guard, "READ", str(number), data) is None


@pytest.mark.parametrize(("traits", "calls"), [((), 6), ({ToolTrait.READS}, 16)])
def test_read_only_tool_without_news_is_noted_later(traits, calls):
    guard = RepetitionGuard()
    notes = [call_tool(guard, "ANY", str(n), traits=frozenset(traits)) for n in range(calls)]
    assert [bool(note) for note in notes] == [False] * (calls - 1) + [True]


def test_equivalent_urls_count_as_same_page():
    guard = RepetitionGuard()
    call_tool(guard, "READ", '{"url":"https://a.example/x"}')
    call_tool(guard, "READ", "https://a.example/x/")
    assert "you have seen this page or query before" in call_tool(
        guard, "READ", '{"url": "HTTPS://a.example/x"}'
    )


def test_fifth_thought_only_turn_is_noted():
    guard = RepetitionGuard()
    notes = [guard.check_thought() for _ in range(5)]
    assert notes[:4] == [None] * 4
    assert notes[4] == "thinking"


def test_progress_resets_repetition_count():
    guard = RepetitionGuard()
    for _ in range(3):
        call_tool(guard, "P", "1")
    call_tool(guard, "Q", "", {"new": 1})
    assert [call_tool(guard, "P", "1") for _ in range(2)] == [None, NOTES["same call"]]
