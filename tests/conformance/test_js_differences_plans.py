"""Multi-step questions: what counts as a plan, and what a failed step leaves.

Expected values are derived manually from the reference engine's description.
"""

from __future__ import annotations

import json

import pytest

from tests.conformance.dialogue import kinds, observed, run

TWO = {"decompose": True, "subtasks": [{"task": "one"}, {"task": "two", "dependsOn": [0]}]}
PHASES = "do one and then do two and compare"


async def test_fenced_plan_with_surrounding_text_is_accepted():
    plan = f"Sure!\n```json\n{json.dumps(TWO)}\n```\nDone."
    result = await run(plan, "A", "B", "both", input=PHASES)
    assert kinds(result) == ["internal", "loop", "loop", "synthesis"]
    assert observed(result, 2) == "two\n\nContext from previous steps:\n[Step 1 result]: A"


async def test_cyclic_subtask_dependencies_are_ignored():
    rows = [{"task": "one", "dependsOn": [1]}, {"task": "two", "dependsOn": [1, 5]}]
    plan = json.dumps({"decompose": True, "subtasks": rows})
    result = await run(plan, "A", "B", "both", input=PHASES)
    assert kinds(result) == ["internal", "loop", "loop", "synthesis"]
    assert "[Step" not in observed(result, 1) + observed(result, 2)


@pytest.mark.parametrize("plan", ["{", "[" * 100_000, '{"decompose":1,"subtasks":[]}', "null"])
async def test_unparsable_plan_falls_back_to_one_loop(plan):
    result = await run(plan, "plain", input=PHASES)
    assert (kinds(result), result["answer"]) == (["internal", "loop"], "plain")


async def test_failed_subtask_is_reported_to_dependent_subtask():
    result = await run(json.dumps(TWO), {"throw": "down"}, "B", "both", input=PHASES)
    assert "[Step 1 result]: Failed: down" in observed(result, 2)
    assert result["answer"] == "both"


async def test_failed_synthesis_falls_back_to_one_loop():
    result = await run(json.dumps(TWO), "A", "B", {"throw": "down"}, "plain", input=PHASES)
    assert kinds(result) == ["internal", "loop", "loop", "synthesis", "loop"]
    assert result["answer"] == "plain"


async def test_each_subtask_has_its_own_eight_steps():
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
async def test_long_multipart_question_triggers_planning(question, planned):
    result = await run(*(["no plan"] if planned else []), "ok", input=question)
    assert (kinds(result), result["answer"]) == (["internal"] * planned + ["loop"], "ok")
