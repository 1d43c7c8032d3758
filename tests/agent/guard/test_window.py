"""The context window: what is cut, when, and what never is."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest

from agent.evidence import Evidence
from agent.guard.window import IMAGE_TOKENS, Window, fit_opening, tokens
from agent.protocol.call_results import format_results
from agent.tools.context import ToolContext
from agent.tools.toolset import available_tools
from agent.types import Image, Message, Observation, ToolCall

TOOLS = {tool.name: tool for tool, _ in available_tools(ToolContext("", Evidence()))}


def observation(number, tool="READ", size=1_200):
    data = {"source": f"S{number}", "url": f"https://a.example/{number}"}
    text = f"S{number}¶1 {'words ' * size}"
    traits = TOOLS[tool].describe(ToolCall(tool))["traits"]
    seen = Observation(ToolCall(tool), data, web=text, label=f"S{number}", traits=traits)
    return Message("user", format_results([seen]), observations=(seen,))


def conversation(steps, tool="READ"):
    messages = [Message("user", "the question " + "q" * 400)]
    for number in range(1, steps + 1):
        messages += [Message("assistant", f"note {number}"), observation(number, tool)]
    return messages


def size(messages):
    return sum(tokens(message.content) for message in messages)


def test_messages_that_fit_are_unchanged():
    messages = conversation(2)
    assert Window().fit(messages, 0) == messages


def test_old_observations_are_reduced_to_one_line_each():
    messages = conversation(16)
    fitted = Window(high=20_000, low=16_000).fit(messages, 0)
    assert fitted[:5] == messages[:5], "question and first two steps"
    assert fitted[-10:] == messages[-10:], "last five steps"
    assert fitted[6].content.endswith("READ S3 ok")
    assert all(a == b for a, b in zip(messages, fitted, strict=True) if a.role == "assistant")


def shows_page(tool):
    """Return whether the tool's function shows the open page in its result."""
    function = inspect.getclosurevars(tool.run).nonlocals.get("function", tool.run)
    return not PAGE_FUNCTIONS.isdisjoint(function.__code__.co_names)


PAGE_FUNCTIONS = {"act_on_page", "look_on_page", "take_snapshot"}


def test_superseded_pages_are_trimmed_before_read_sources():
    showing = [name for name, tool in TOOLS.items() if shows_page(tool)]
    assert {"OPEN", "CLICK", "HOVER", "DRAG", "WAIT", "UPLOAD"} <= set(showing)
    for old, new in [*((name, "OPEN") for name in showing), *(("OPEN", name) for name in showing)]:
        messages = conversation(3)
        messages += [Message("assistant", "a"), observation(8, old)]
        messages += [Message("assistant", "b"), observation(9, new)]
        fitted = Window(high=8_000, low=7_600).fit(messages, 0)
        assert f"{old} S8 ok" in fitted[8].content, (old, new)
        assert fitted[:8] == messages[:8]
        assert fitted[-1] == messages[-1]


def test_question_and_newest_observation_are_never_trimmed():
    messages = conversation(4)
    fitted = Window(high=100, low=50).fit(messages, 0)
    assert (fitted[0], fitted[-1]) == (messages[0], messages[-1])


def test_most_of_the_prompt_prefix_is_reused_between_steps():
    window, before, reused, sent = Window(), [], 0, 0
    whole = conversation(60)
    for step in range(60):
        fitted = window.fit(whole[: 1 + 2 * step], 0)
        same = 0
        while same < len(before) and before[same] == fitted[same]:
            same += 1
        reused += size(fitted[:same])
        sent += size(fitted)
        assert size(fitted) < 28_000
        before = fitted
    assert reused / sent >= 0.8


def test_opening_trims_oldest_messages_to_200_units():
    history = [Message("user", "x" * 9_000) for _ in range(12)]
    fitted = fit_opening([*history, Message("user", "now")])
    trimmed = [m for m in fitted if m.content == "x" * 200 + "…[trimmed]"]
    assert len(trimmed) == 4
    assert [len(m.content) for m in fitted[4:]] == [9_000] * 8 + [3]


def test_non_latin_characters_count_as_one_token_each():
    assert tokens("灯" * 100) == 101


def seen(number):
    picture = Image("image/jpeg", b"picture %d" % number, f"{number:064x}")
    return replace(observation(number, "OPEN", 10), images=(picture,))


def test_only_newest_image_is_sent_and_older_ones_leave_a_note():
    messages = [Message("user", "q"), seen(1), Message("assistant", "a"), seen(2), observation(3)]
    fitted = Window().fit(messages, 0)
    assert [len(message.images) for message in fitted] == [0, 0, 0, 1, 0]
    assert fitted[1].content.endswith("a newer one is below.]")
    assert fitted[3] == messages[3]


@pytest.mark.parametrize("count", [1, 2])
def test_images_count_toward_window_size(count):
    messages = [*conversation(8), replace(seen(9), images=seen(9).images * count)]
    bare = [replace(message, images=()) for message in messages]
    room = size(bare) + IMAGE_TOKENS * count - 1
    assert Window(high=room).fit(bare, 0) == bare
    assert Window(high=room, low=room).fit(messages, 0) != messages


def test_larger_window_is_filled_before_trimming():
    messages = conversation(40)
    assert Window.from_tokens(200_000).fit(messages, 0) == messages
    assert size(Window.from_tokens(32_000).fit(messages, 0)) < size(
        Window.from_tokens(64_000).fit(messages, 0)
    )
    assert size(Window.from_tokens(64_000).fit(messages, 0)) <= 48_000
