"""A question that is not split follows a step plan if the model makes one."""

from __future__ import annotations

import json

import pytest

from agent.guard.budget import Budget
from agent.journal.runs import Runs
from agent.loop.orchestrator import Orchestrator
from agent.loop.plan import read_steps
from agent.run.record import RunRecord
from agent.run.replay import replay

QUESTION = "Find out when Hesk Light was lit and then how high it is and who built it"
STEPS = [{"do": "Read about the light", "else": "search for it"}, "Look for its builder"]


def plan(**more):
    return json.dumps({"decompose": False, "steps": STEPS, **more})


def test_steps_are_parsed_with_fallback_and_budget():
    made = read_steps(f"```json\n{plan(budget=4)}\n```", 12)
    assert made.steps == (("Read about the light", "search for it"), ("Look for its builder", ""))
    assert "1. Read about the light\n   ↳ else: search for it\n2. Look" in made.note()
    assert made.budget == 4


@pytest.mark.parametrize(
    ("named", "budget"), [(40, 6), (0, 1), (-3, 1), ("many", 2), (True, 2), (None, 2)]
)
def test_step_budget_is_capped_by_run_budget(named, budget):
    assert read_steps(plan(budget=named), 6).budget == budget


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "no",
        '{"decompose":false}',
        '{"decompose":false,"steps":"a"}',
        '{"decompose":false,"steps":["a"]}',
        '{"decompose":false,"steps":["a",{"no":1},7,null]}',
        '{"decompose":true,"steps":["a","b"]}',
    ],
)
def test_invalid_step_plan_is_none(reply):
    assert read_steps(reply, 12) is None


async def test_planned_run_is_recorded_and_replays(ask, script, site, tmp_path, events):
    model = script(
        {"reply": plan(budget=3), "for": "plan"},
        {
            "reply": f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
            "expect": "else: search for it",
        },
        "It was first lit on 1 November 1829. [S1]",
    )
    report = await ask(QUESTION, model=model)
    [made] = [e.data for e in events(report) if e.type == "plan"]
    assert (made["budget"], len(made["steps"])) == (3, 2)
    again = await replay(RunRecord.read(Runs(tmp_path / "data").find(report.run)))
    assert (again.answer, again.steps) == (report.answer, report.steps)


async def test_loop_exceeding_its_planned_rounds_is_notified_once(answering):
    from agent.types import Message, Observation

    class Calls:
        async def run(self, call, place):
            return lambda: Observation(call, {"ok": place})

    async def opening(question, place):
        return [Message("user", question)]

    model = answering({r"You decide whether": plan(budget=1), r".": "<<TOOL:READ:x>>"})
    noted = []
    work = Orchestrator(
        model, Calls(), Budget(6), "", lambda *at, **data: noted.append((*at, data)), opening
    )
    assert (await work.answer(QUESTION)).limit == "steps"
    told = [n for n, asked in enumerate(model.asked) if "the plan was for 1 rounds" in asked]
    assert told == [4], "asked for the plan, then three rounds"
