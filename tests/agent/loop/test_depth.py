"""Depths: how far a run goes, what a draft leaves open, and the limits of its parts."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent.config import load_options
from agent.guard.budget import Budget
from agent.journal.runs import Runs
from agent.limits import DEPTH_LIMITS
from agent.loop.orchestrator import Orchestrator
from agent.loop.plan import read_points
from agent.models.base import ModelReply
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.types import Message, Observation


async def test_deep_run_researches_open_points_of_draft(ask, script, site, tmp_path):
    model = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "It was first lit on 1 November 1829. [S1]",
        {"reply": '{"open":["How high is it?"]}', "for": "missing", "expect": "Draft:\nIt was"},
        {"reply": '<<TOOL:FIND:{"text":"metres high"}>>', "expect": "- How high is it\\?"},
        "It was first lit on 1 November 1829. [S1] "
        "The granite tower is 34 metres high and has 166 steps. [S1]",
        {"reply": '{"open":[]}', "for": "missing", "expect": "166 steps"},
    )
    report = await ask(model=model, depth="deep")
    assert "166 steps" in report.answer
    record = RunRecord.read(Runs(tmp_path / "data").find(report.run))
    again = await replay(record)
    assert again.model_dump(exclude={"elapsed_s"}) == report.model_dump(exclude={"elapsed_s"})


async def test_standard_depth_does_not_ask_for_open_points(ask, script, site):
    model = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "It was first lit on 1 November 1829. [S1]",
        {"reply": '{"open":["How high is it?"]}', "for": "missing"},
    )
    assert (await ask(model=model)).status == "answered"


async def test_extractive_model_reads_more_sources_at_higher_depth(ask, events):
    reads = []
    for depth in ("quick", "standard"):
        report = await ask("Which lighthouses stand on the isles?", depth=depth)
        added = [event for event in events(report) if event.type == "source.added"]
        reads.append(len(added))
    assert reads[0] < reads[1]


@pytest.mark.parametrize("reply", ["", "no", '{"open":"x"}', '{"open":[1,null,""]}', "[]"])
def test_invalid_list_of_points_is_empty(reply):
    assert read_points(reply, 3) == []


def test_points_are_deduplicated_and_limited():
    assert read_points(json.dumps({"open": ["a", "a", "b ", "c", "d"]}), 3) == ["a", "b", "c"]


def test_each_depth_raises_every_limit():
    quick, standard, deep = (DEPTH_LIMITS[name] for name in ("quick", "standard", "deep"))
    for name in ("steps", "sources", "first_reads", "searches", "sections", "parts_steps"):
        assert getattr(quick, name) < getattr(standard, name) < getattr(deep, name)
    assert load_options({"depth": "deep"}).depth_limits is deep


class EndlessCaller:
    """Calls a tool in every step, in any number of loops, ignoring how many steps are left."""

    name = "endless"
    plan = json.dumps({"decompose": True, "subtasks": [{"task": f"t{n}"} for n in range(4)]})

    async def reply(self, system, messages):
        said = messages[-1].content
        await asyncio.sleep(0)
        return ModelReply(self.plan if said.startswith("Request:") else "<<TOOL:NONE>> known")

    async def aclose(self):
        pass


class NoTools:
    async def run(self, call, place):

        return lambda: Observation(call, {"at": place})


@pytest.mark.parametrize("most", [8, 10, 23])
async def test_subtasks_share_the_step_limit(most):
    async def opening(question, place):
        return [Message("user", question)]

    budget = Budget(most)
    work = Orchestrator(
        EndlessCaller(), NoTools(), budget, "", lambda *_, **__: None, opening, guarded=False
    )
    result = await work.answer("do one and then two and then three and then four")
    assert result.limit == "steps"
    assert 4 <= budget.steps + budget.subtask_steps <= most


async def test_too_few_steps_for_subtasks_use_a_single_loop():
    async def opening(question, place):
        return [Message("user", question)]

    places = []
    budget = Budget(7)
    work = Orchestrator(
        EndlessCaller(),
        NoTools(),
        budget,
        "",
        lambda kind, place="", **_: places.append(place),
        opening,
        guarded=False,
    )
    await work.answer("do one and then two and then three and then four")
    assert {place.partition("/")[0] for place in places} == {"plan", "0"}
