"""Multi-step questions: what counts as a plan, and what a failed step leaves.

Expected values are derived manually from the reference engine's description.
"""

from __future__ import annotations

import json

import pytest

from tests.conformance.dialogue import kinds, observed, run

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
