"""Skills, goals and memories as tools, on a real store."""

from __future__ import annotations

import pytest

from agent.evidence import Evidence
from agent.limits import LimitSettings
from agent.memory import Memory
from agent.tools.context import ToolContext
from agent.tools.policy import Policy
from agent.tools.registry import Registry
from agent.tools.toolset import available_tools
from agent.types import ToolCall


@pytest.fixture
def call():
    with Memory.open(":memory:") as memory:
        context = ToolContext("q", Evidence(), LimitSettings(), lambda *_, **__: None, str)
        context.memory = memory
        policy = Policy(
            Registry(tool for tool, why in available_tools(context) if not why), context
        )

        async def calling(name, param=""):
            return (await policy.run(ToolCall(name, param), "0/1/1"))().data

        yield calling
        context.close()


async def test_skill_can_be_learned_listed_and_forgotten(call):
    await call("LEARN_SKILL", '{"name":"short","instruction":"be brief"}')
    await call("LEARN_SKILL", '{"name":"short","instruction":"be briefer"}')
    assert (await call("LIST_SKILLS"))["skills"] == [
        {"name": "short", "instruction": "be briefer", "score": 60}
    ]
    assert (await call("FORGET_SKILL", "short"))["success"]
    assert "no skill named" in (await call("FORGET_SKILL", "short"))["error"]


async def test_plan_keeps_goals_milestones_and_notes(call):
    assert (await call("GET_GOALS")) == {
        "success": True,
        "projects": [],
        "message": "No projects yet. SET_GOAL creates one.",
    }
    assert (await call("SET_GOAL", '{"goals":["x"]}'))["error"] == '"project" is missing.'
    book = '"project":"book","goals":["finish it"],"milestones":[{"name":"draft"},"print"]'
    told = await call("SET_GOAL", f"{{{book}}}")
    assert told == {"success": True, "message": 'Project "book" saved with 2 milestones.'}
    step = '"project":"book","milestone":"draft"'
    half = await call("UPDATE_GOAL", f'{{{step},"status":"in_progress","notes":"half"}}')
    assert half["message"] == '"draft" → in_progress. 0/2 done.'
    await call("UPDATE_GOAL", f'{{{step},"status":"done","notes":"x"}}')
    unknown = await call("UPDATE_GOAL", '{"project":"book","milestone":"sell","status":"done"}')
    assert unknown["error"] == 'No milestone "sell".'
    assert (await call("GET_GOALS", "book"))["projects"] == [
        {
            "name": "book",
            "goals": ["finish it"],
            "milestones": [
                {"name": "draft", "status": "done", "tasks": [], "notes": "half | x"},
                {"name": "print", "status": "pending", "tasks": [], "notes": ""},
            ],
            "progress": "1/2",
        }
    ]


async def test_oldest_project_is_dropped_above_ten(call):
    for number in range(11):
        await call("SET_GOAL", f'{{"project":"p{number}","goal":"g"}}')
    left = [project["name"] for project in (await call("GET_GOALS"))["projects"]]
    assert left == [f"p{n}" for n in range(1, 11)]


async def test_memories_are_found_by_keywords(call):
    await call("REMEMBER", '{"key":"boat","value":["blue",1.0,null]}')
    found = await call("SEARCH_MEMORY", "the blue boat")
    assert found["matches"][0]["key"] == "boat"
    assert found["method"] == "keyword"
    assert (await call("RECALL", "boat"))["value"] == ["blue", 1, None]


@pytest.mark.parametrize("param", ["no json", '{"value":1}', "[1]", '{"key":"","value":1}'])
async def test_invalid_memory_is_refused_with_error(call, param):
    assert "error" in await call("REMEMBER", param)
