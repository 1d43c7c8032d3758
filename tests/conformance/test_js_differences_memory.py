"""What memory adds to a message and stores, where JavaScript and Python differ.

Expected values are derived manually from the reference engine's description.
"""

from __future__ import annotations

import json

from tests.conformance.dialogue import NOW, observed, run

# Layers


async def test_numeric_keys_sort_first_and_are_evicted_first():
    memory = {f"m{n}": n for n in range(100)} | {"7": "seven"}
    result = await run("ok", storage={"urchinMemory": memory})
    kept = list(result["storage_after"]["urchinMemory"])
    assert "7" not in kept
    assert "m0" in kept


async def test_relevance_searches_full_length_of_memories():
    memory = {f"m{n}": "nothing" for n in range(7)} | {"far": "x" * 600 + " lantern"}
    result = await run("ok", storage={"urchinMemory": memory}, input="lantern")
    assert "[Relevant memories (1/8 total):\n  far: " in observed(result)


async def test_keyword_match_requires_more_than_two_fifths_of_words():
    memory = {f"m{n}": "nothing" for n in range(10)} | {"hit": "alpha beta"}
    storage = {"urchinMemory": memory}
    two_of_five = await run("ok", storage=storage, input="alpha beta gamma delta epsilon")
    assert "[Relevant" not in observed(two_of_five)
    two_of_four = await run("ok", storage=storage, input="alpha beta gamma delta of")
    assert "[Relevant memories (1/11 total):\n  hit: alpha beta]" in observed(two_of_four)


async def test_skills_above_score_fifteen_are_included_with_default_fifty():
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


async def test_history_keeps_last_thirty_and_maps_unknown_roles_to_assistant():
    history = [{"role": "user" if n % 2 else "bot", "text": f"t{n}"} for n in range(33)]
    result = await run("ok", "condensed", history=history)
    messages = result["llm_calls"][0]["messages"]
    assert [m["content"] for m in messages] == [f"t{n}" for n in range(3, 33)] + ["q"]
    assert messages[1]["role"] == "assistant"


async def test_page_text_is_cut_in_utf16_units_without_half_surrogates():
    page = {"url": "http://e.x/", "title": "T", "visibleText": "a" + "😀" * 1_600}
    result = await run("ok", pageContext=page)
    content = observed(result).split("[Page content: ")[1].split("]")[0]
    assert content == "a" + "😀" * 1_499


# Tools of the memory


async def test_remembered_values_keep_type_and_keys_become_strings():
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


async def test_goals_accumulate_with_their_milestones():
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


async def test_goals_are_not_included_in_the_prompt():
    projects = {"boat": {"goals": ["float"], "milestones": [], "createdAt": 1, "updatedAt": 1}}
    assert "float" not in observed(await run("ok", storage={"urchinProjects": projects}))


async def test_eleventh_project_evicts_the_first():
    projects = {
        f"p{n}": {"goals": [], "milestones": [], "createdAt": n, "updatedAt": n} for n in range(10)
    }
    call = '<<TOOL:SET_GOAL:{"project":"new","goal":"g"}>>'
    result = await run(call, "ok", storage={"urchinProjects": projects})
    assert list(result["storage_after"]["urchinProjects"]) == [f"p{n}" for n in range(1, 10)] + [
        "new"
    ]
