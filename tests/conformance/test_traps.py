"""Dialogues that no recording touches: where an engine in JavaScript and one in Python part ways.

What is expected is worked out by hand from the description of the reference engine.
"""

from __future__ import annotations

import json

import pytest

from tests.conformance.run_case import run_case

NOW = 1_700_000_000_000
DAY = 24 * 60 * 60 * 1000


async def run(*script, **case):
    return await run_case({"input": "q", "script": list(script), "tools": {}, **case})


def sent(result, call=-1):
    return [message["content"] for message in result["llm_calls"][call]["messages"]]


def kinds(result):
    return [call["kind"] for call in result["llm_calls"]]


def observed(result, call=-1):
    return sent(result, call)[-1]


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


# Layers


async def test_keys_like_numbers_come_first_and_are_the_oldest():
    memory = {f"m{n}": n for n in range(100)} | {"7": "seven"}
    result = await run("ok", storage={"urchinMemory": memory})
    kept = list(result["storage_after"]["urchinMemory"])
    assert "7" not in kept
    assert "m0" in kept


async def test_relevance_looks_through_the_whole_of_a_long_memory():
    memory = {f"m{n}": "nothing" for n in range(7)} | {"far": "x" * 600 + " lantern"}
    result = await run("ok", storage={"urchinMemory": memory}, input="lantern")
    assert "[Relevant memories (1/8 total):\n  far: " in observed(result)


async def test_keywords_need_more_than_two_fifths_of_the_words():
    memory = {f"m{n}": "nothing" for n in range(10)} | {"hit": "alpha beta"}
    storage = {"urchinMemory": memory}
    two_of_five = await run("ok", storage=storage, input="alpha beta gamma delta epsilon")
    assert "[Relevant" not in observed(two_of_five)
    two_of_four = await run("ok", storage=storage, input="alpha beta gamma delta of")
    assert "[Relevant memories (1/11 total):\n  hit: alpha beta]" in observed(two_of_four)


async def test_a_skill_is_given_above_fifteen_and_one_without_a_score_stands_at_fifty():
    skills = [
        {"name": "poor", "instruction": "a", "score": 15},
        {"name": "bare", "instruction": "b"},
        {"name": "fine", "instruction": "c", "score": 16},
    ]
    result = await run("ok", storage={"urchinSkills": skills}, input="go")
    assert observed(result).endswith(
        "[Learned skills (apply these):\n  • bare [score:50]: b\n  • fine [score:16]: c]"
    )
    assert [s.get("usageCount") for s in result["storage_after"]["urchinSkills"]] == [None, 1, 1]


async def test_history_is_the_last_thirty_and_whoever_is_no_user_is_the_assistant():
    history = [{"role": "user" if n % 2 else "bot", "text": f"t{n}"} for n in range(33)]
    result = await run("ok", "condensed", history=history)
    messages = result["llm_calls"][0]["messages"]
    assert [m["content"] for m in messages] == [f"t{n}" for n in range(3, 33)] + ["q"]
    assert messages[1]["role"] == "assistant"


async def test_the_page_is_cut_in_units_and_half_a_pair_is_no_character():
    page = {"url": "http://e.x/", "title": "T", "visibleText": "a" + "😀" * 1_600}
    result = await run("ok", pageContext=page)
    content = observed(result).split("[Page content: ")[1].split("]")[0]
    assert content == "a" + "😀" * 1_499


# Decomposition

TWO = {"decompose": True, "subtasks": [{"task": "one"}, {"task": "two", "dependsOn": [0]}]}
PHASES = "do one and then do two and compare"


async def test_a_plan_in_a_fence_with_words_around_it_counts():
    plan = f"Sure!\n```json\n{json.dumps(TWO)}\n```\nDone."
    result = await run(plan, "A", "B", "both", input=PHASES)
    assert kinds(result) == ["internal", "loop", "loop", "synthesis"]
    assert observed(result, 2) == "two\n\nContext from previous steps:\n[Step 1 result]: A"


async def test_subtasks_that_wait_for_each_other_or_themselves_wait_for_nobody():
    rows = [{"task": "one", "dependsOn": [1]}, {"task": "two", "dependsOn": [1, 5]}]
    plan = json.dumps({"decompose": True, "subtasks": rows})
    result = await run(plan, "A", "B", "both", input=PHASES)
    assert kinds(result) == ["internal", "loop", "loop", "synthesis"]
    assert "[Step" not in observed(result, 1) + observed(result, 2)


@pytest.mark.parametrize("plan", ["{", "[" * 100_000, '{"decompose":1,"subtasks":[]}', "null"])
async def test_a_plan_that_cannot_be_read_leaves_one_loop(plan):
    result = await run(plan, "plain", input=PHASES)
    assert (kinds(result), result["answer"]) == (["internal", "loop"], "plain")


async def test_a_subtask_that_fails_is_told_to_the_next_one():
    result = await run(json.dumps(TWO), {"throw": "down"}, "B", "both", input=PHASES)
    assert "[Step 1 result]: Failed: down" in observed(result, 2)
    assert result["answer"] == "both"


async def test_a_synthesis_that_fails_leaves_the_question_to_one_loop():
    result = await run(json.dumps(TWO), "A", "B", {"throw": "down"}, "plain", input=PHASES)
    assert kinds(result) == ["internal", "loop", "loop", "synthesis", "loop"]
    assert result["answer"] == "plain"


async def test_a_subtask_has_eight_steps_whatever_the_others_take():
    looking = ["<<TOOL:P>>"] * 7
    result = await run(
        json.dumps(TWO), *looking, "A", *looking, "B", "both", input=PHASES, tools={"P": {}}
    )
    assert kinds(result).count("loop") == 16
    assert result["answer"] == "both"


@pytest.mark.parametrize(
    ("question", "planned"),
    [
        ("x" * 121, True),
        ("x" * 120, False),
        ("😀" * 61, True),
        ("What " + "x" * 200, False),
        ("Whatever and then and also", True),
        ("band and sandy thenar", False),
        ("one AND two After That three", True),
    ],
)
async def test_length_and_joining_words_ask_for_a_plan(question, planned):
    result = await run(*(["no plan"] if planned else []), "ok", input=question)
    assert (kinds(result), result["answer"]) == (["internal"] * planned + ["loop"], "ok")


# Afterwards

SKILL = {"name": "s", "instruction": "i", "score": 50}


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("thanks, that is perfect", 60),  # +10
        ("no, that is wrong", 32),  # -15 -3: the first turn, and no praise
        ("go on", 47),  # -3
        ("great, but try again", 45),  # +10 -15
        ("What's wrong with the pump?", 47),  # no complaint
        ("I know nothing about it", 47),
        ("the wrongful act", 47),
        ("STOP\ndoing that", 47),  # a dot ends at a line
    ],
)
async def test_a_turn_is_weighed_by_what_was_said(said, score):
    result = await run("ok", storage={"urchinSkills": [SKILL]}, input=said)
    [skill] = result["storage_after"]["urchinSkills"]
    assert (skill["score"], skill["signalCount"], skill["lastSignalAt"]) == (score, 1, NOW + 1)


async def test_long_conversations_add_five_and_scores_stay_within_a_hundred():
    history = [{"role": "user", "text": "x"}, {"role": "assistant", "text": "y"}] * 3
    best = {**SKILL, "score": 98}
    result = await run("ok", storage={"urchinSkills": [best]}, history=history, input="thanks")
    assert result["storage_after"]["urchinSkills"][0]["score"] == 100


async def test_skills_are_weighed_every_tenth_time_and_the_useless_go():
    old = {**SKILL, "name": "old", "score": 10, "evalCount": 1, "usageCount": 3}
    # Below the floor it is given to nobody, and stays: ten is reached, twice judged it was not.
    fresh = {**SKILL, "name": "fresh", "score": 61}
    unused = {**SKILL, "name": "unused", "score": 15, "learnedAt": NOW - 31 * DAY, "usageCount": 0}
    storage = {"urchinMemory": {"_convCount": "9"}, "urchinSkills": [old, fresh, unused]}
    history = [{"role": "user", "text": "x"}, {"role": "assistant", "text": "y"}] * 2
    replies = ["ok", "{}", '{"scores":{"fresh":81.2,"old":"x"}}']
    result = await run(*replies, storage=storage, history=history, input="go on")
    kept = {skill["name"]: skill for skill in result["storage_after"]["urchinSkills"]}
    assert list(kept) == ["old", "fresh"]
    # round(61 × 0.6 + 81.2 × 0.4) = round(69.08)
    assert (kept["fresh"]["score"], kept["fresh"]["evalCount"]) == (69, 1)


async def test_conversations_are_condensed_past_forty_turns_and_not_before():
    history = [{"role": "user", "text": f"m{n}"} for n in range(38)]
    assert kinds(await run("ok", history=history)) == ["loop"]
    longer = [*history, {"role": "user", "text": "m38"}]
    result = await run("ok", "the story so far", history=longer)
    assert kinds(result) == ["loop", "internal"]
    assert result["storage_after"]["urchinCondensed"] == "the story so far"


async def test_a_condensation_that_fails_keeps_the_last_four_thousand_units():
    history = [{"role": "user", "text": "😀" * 150} for _ in range(60)]
    storage = {"urchinCondensed": "OLD"}
    result = await run("ok", {"throw": "down"}, history=history, storage=storage)
    kept = result["storage_after"]["urchinCondensed"]
    assert len(kept.encode("utf-16-le")) // 2 <= 4_000
    # Lines are cut at 200 units: a hundred of these characters.
    assert kept.endswith("\n[user] " + "😀" * 100)
    assert "OLD" not in kept


async def test_a_profile_takes_json_of_any_kind_and_nothing_else():
    storage = {"urchinMemory": {"_convCount": "4"}, "urchinProfile": {"a": 1}}
    history = [{"role": "user", "text": "x"}, {"role": "assistant", "text": "y"}]
    reply = 'Here: {"b":null,"c":[1,2],"a":2}'
    result = await run("ok", reply, storage=storage, history=history)
    assert result["storage_after"]["urchinProfile"] == {"a": 2, "b": None, "c": [1, 2]}
    nothing = await run("ok", "none found", storage=storage, history=history)
    assert nothing["storage_after"]["urchinProfile"] == {"a": 1}


# Tools of the memory


async def test_remembered_values_keep_their_type_and_keys_become_words():
    calls = (
        '<<TOOL:REMEMBER:{"key":5,"value":[1,null]}>><<TOOL:REMEMBER:{"key":"k","value":false}>>'
    )
    result = await run(calls, "<<TOOL:RECALL:5>><<TOOL:RECALL:k>>", "ok")
    assert observed(result, 1) == (
        '[Tool result for REMEMBER]: {"success":true,"message":"Remembered \\"5\\"."}\n'
        '[Tool result for REMEMBER]: {"success":true,"message":"Remembered \\"k\\"."}'
    )
    assert '"value":[1,null]}' in observed(result)
    assert '"value":false}' in observed(result)


async def test_goals_are_added_and_their_milestones_come_along():
    plan = {"project": "boat", "goal": "float", "milestones": ["hull", "mast"]}
    done = {"project": "boat", "milestone": "hull", "status": "done", "notes": "tarred"}
    more = {**done, "notes": "twice"}
    replies = [f"<<TOOL:SET_GOAL:{json.dumps(plan)}>>", f"<<TOOL:UPDATE_GOAL:{json.dumps(done)}>>"]
    result = await run(*replies, f"<<TOOL:UPDATE_GOAL:{json.dumps(more)}>>", "ok")
    project = result["storage_after"]["urchinProjects"]["boat"]
    assert project["goals"] == ["float"]
    assert project["createdAt"] == NOW + 1
    assert [(m["name"], m["status"], m["notes"]) for m in project["milestones"]] == [
        ("hull", "done", "tarred | twice"),
        ("mast", "pending", ""),
    ]


async def test_goals_are_no_layer_of_the_message():
    projects = {"boat": {"goals": ["float"], "milestones": [], "createdAt": 1, "updatedAt": 1}}
    assert "float" not in observed(await run("ok", storage={"urchinProjects": projects}))


async def test_past_ten_projects_the_first_one_goes():
    projects = {
        f"p{n}": {"goals": [], "milestones": [], "createdAt": n, "updatedAt": n} for n in range(10)
    }
    call = '<<TOOL:SET_GOAL:{"project":"new","goal":"g"}>>'
    result = await run(call, "ok", storage={"urchinProjects": projects})
    assert list(result["storage_after"]["urchinProjects"]) == [f"p{n}" for n in range(1, 10)] + [
        "new"
    ]
