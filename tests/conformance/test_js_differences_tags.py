"""Tags, thoughts and results, where JavaScript and Python differ.

Expected values are derived manually from the reference engine's description.
"""

from __future__ import annotations

import json

import pytest

from tests.conformance.dialogue import observed, run, sent

# Tags and thoughts


async def test_several_tools_in_one_reply_answer_in_tag_order():
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


async def test_the_assistants_turn_keeps_its_tags_and_loses_its_thought():
    result = await run("<<THINK>> why <</THINK>> Let me see. <<TOOL:P: x >>", "ok", tools={"P": {}})
    assert sent(result)[1] == "Let me see. <<TOOL:P: x >>"
    assert result["tool_calls"] == [{"name": "P", "param": "x"}]
    assert result["thinks"] == ["why"]


@pytest.mark.parametrize("tag", ["<<TOOL: P:x>>", "<<tool:P:x>>", "<<TOOL:Pé:x>>", "<<TOOL:>>"])
async def test_what_is_no_tag_is_the_answer(tag):
    result = await run(tag, tools={"P": {}})
    assert (result["answer"], result["tool_calls"]) == (tag, [])


async def test_a_parameter_runs_over_lines_and_holds_json_with_brackets():
    param = '{"a":"x >> y","b":[1,{"c":">>"}],\n"d":"\\">>"}'
    result = await run(f"<<TOOL:P:{param}>> tail", "ok", tools={"P": {}})
    assert result["tool_calls"] == [{"name": "P", "param": param}]


async def test_a_reply_of_thoughts_alone_has_no_response():
    assert (await run("<<THINK>>hm<</THINK>>"))["answer"] == "No response."


async def test_the_edges_of_an_answer_are_those_of_javascript():
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
async def test_results_are_spelt_as_javascript_spells_them(data, said):
    result = await run("<<TOOL:P>>", "ok", tools={"P": data})
    assert observed(result) == f"[Tool result for P]: {said}"


@pytest.mark.parametrize("error", [[], {}, "no", 1])
async def test_what_javascript_takes_for_true_is_an_error(error):
    result = await run("<<TOOL:P>>", "ok", tools={"P": {"error": error}})
    assert observed(result).endswith("[HINT: Tool failed. Try a different approach.]")


@pytest.mark.parametrize("error", [None, False, 0, ""])
async def test_what_it_takes_for_false_is_none(error):
    result = await run("<<TOOL:P>>", "ok", tools={"P": {"error": error}})
    assert "HINT" not in observed(result)


async def test_lengths_are_counted_in_utf_16_units():
    # 1,600 characters and 3,200 units: over the cap of 3,000.
    result = await run("<<TOOL:P>>", "ok", tools={"P": {"t": "😀" * 1_600}})
    body = observed(result).removeprefix("[Tool result for P]: ")
    assert json.loads(body)["t"] == "😀" * 1_250 + "…[truncated]"
