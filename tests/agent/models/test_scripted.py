"""The scripted model: a model's behaviour in tests, read from a file."""

from __future__ import annotations

import pytest

from agent.errors import ModelUnavailable, UsageError
from agent.models.scripted import ScriptedModel
from agent.types import Message


async def replies(path, *seen):
    model = ScriptedModel.from_file(path)
    return [(await model.reply("", [Message("user", text)])).text for text in seen]


async def test_each_line_is_one_reply(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text('"one"\n{"reply": "two"}\n')
    assert await replies(path, "a", "b") == ["one", "two"]


async def test_plain_text_is_split_at_dashed_lines(tmp_path):
    path = tmp_path / "s.txt"
    path.write_text("<<TOOL:A>>\n---\nthe answer\n")
    assert await replies(path, "a", "b") == ["<<TOOL:A>>", "the answer"]


async def test_placeholders_are_filled_from_last_message(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text('"Lit. [{{2}}]"\n"<<TOOL:CLICK:{{ref:Search}}>>"\n')
    seen = ("S1¶4 first\nS1¶9 second", "[e3: Islands]\n[e13 button: Search]")
    assert await replies(path, *seen) == ["Lit. [S1¶9]", "<<TOOL:CLICK:e13>>"]


async def test_unexpected_message_fails_with_expectation_and_text(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text('{"reply": "x", "expect": "harbour"}\n')
    with pytest.raises(ModelUnavailable, match=r"expects /harbour/.*lighthouse"):
        await replies(path, "lighthouse")


async def test_exhausted_script_is_an_error(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text('"one"\n')
    with pytest.raises(ModelUnavailable, match="no reply 2"):
        await replies(path, "a", "b")


@pytest.mark.parametrize("text", ['{"no": "reply"}\n', '"open\n'])
def test_invalid_script_line_is_named(tmp_path, text):
    path = tmp_path / "s.jsonl"
    path.write_text('"fine"\n' + text)
    with pytest.raises(UsageError, match=":2 is not a reply"):
        ScriptedModel.from_file(path)


def test_missing_script_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        ScriptedModel.from_file(tmp_path / "none.jsonl")
