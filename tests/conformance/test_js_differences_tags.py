"""Tags, thoughts and results, where JavaScript and Python differ.

Expected values are derived manually from the reference engine's description.
"""

from __future__ import annotations

import json

import pytest

from tests.conformance.dialogue import observed, run, sent

# Tags and thoughts


async def test_multiple_tool_results_keep_tag_order():
    tools = {"A": {"n": 1}, "B": {"__throw": "broke"}, "C": [1.0, None, True]}
    result = await run("go <<TOOL:C>> <<TOOL:A:x>><<TOOL:B:y>>", "ok", tools=tools)
    assert observed(result) == (
        "[Tool result for C]: [1,null,true]\n"
        '[Tool result for A]: {"n":1}\n'
        '[Tool result for B]: {"error":"broke"}\n\n'
        "[HINT: Tool failed. Try a different approach.]"
    )
    assert [message["role"] for message in result["llm_calls"][1]["messages"]] == [
        *("user", "assistant", "user")
    ]


async def test_assistant_message_keeps_tool_tags_without_thoughts():
    result = await run("<<THINK>> why <</THINK>> Let me see. <<TOOL:P: x >>", "ok", tools={"P": {}})
    assert sent(result)[1] == "Let me see. <<TOOL:P: x >>"
    assert result["tool_calls"] == [{"name": "P", "param": "x"}]
    assert result["thinks"] == ["why"]


@pytest.mark.parametrize("tag", ["<<TOOL: P:x>>", "<<tool:P:x>>", "<<TOOL:Pé:x>>", "<<TOOL:>>"])
async def test_malformed_tag_is_the_answer(tag):
    result = await run(tag, tools={"P": {}})
    assert (result["answer"], result["tool_calls"]) == (tag, [])


async def test_parameter_spans_lines_and_json_with_brackets():
    param = '{"a":"x >> y","b":[1,{"c":">>"}],\n"d":"\\">>"}'
    result = await run(f"<<TOOL:P:{param}>> tail", "ok", tools={"P": {}})
    assert result["tool_calls"] == [{"name": "P", "param": param}]


async def test_reply_with_only_thoughts_gives_no_response():
    assert (await run("<<THINK>>hm<</THINK>>"))["answer"] == "No response."


async def test_answer_is_trimmed_like_javascript():
    result = await run("\ufeff\u00a0\u2028 one \u0085\u001f\n")
    assert result["answer"] == "one \u0085\u001f"


# Results as JSON


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"b": 1, "7": 2, "a": 3, "0": 4}, '{"0":4,"7":2,"b":1,"a":3}'),
        ({"x": 1e-7, "y": 1e21, "z": 1.50}, '{"x":1e-7,"y":1e+21,"z":1.5}'),
        ({"s": "é 灯 \ud83d \u2028"}, '{"s":"é 灯 \\ud83d \u2028"}'),
        ("plain", '"plain"'),
        (0, "0"),
        ([], "[]"),
    ],
)
async def test_results_are_serialized_like_javascript(data, said):
    result = await run("<<TOOL:P>>", "ok", tools={"P": data})
    assert observed(result) == f"[Tool result for P]: {said}"


@pytest.mark.parametrize("error", [[], {}, "no", 1])
async def test_truthy_javascript_error_field_is_a_failure(error):
    result = await run("<<TOOL:P>>", "ok", tools={"P": {"error": error}})
    assert observed(result).endswith("[HINT: Tool failed. Try a different approach.]")


@pytest.mark.parametrize("error", [None, False, 0, ""])
async def test_falsy_javascript_error_field_is_not_a_failure(error):
    result = await run("<<TOOL:P>>", "ok", tools={"P": {"error": error}})
    assert "HINT" not in observed(result)


async def test_lengths_are_counted_in_utf16_units():
    # 1,600 characters and 3,200 units: over the cap of 3,000.
    result = await run("<<TOOL:P>>", "ok", tools={"P": {"t": "😀" * 1_600}})
    body = observed(result).removeprefix("[Tool result for P]: ")
    assert json.loads(body)["t"] == "😀" * 1_250 + "…[truncated]"
