"""Parallel loops: names never depend on which loop was faster."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from agent.guard.budget import Budget, RunClock
from agent.journal.runs import Runs
from agent.loop.orchestrator import Orchestrator
from agent.models.base import ModelReply
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.types import Message

PHASES = "Look at the first light and then at the second one and compare them"
PLAN = json.dumps({"decompose": True, "subtasks": [{"task": "one"}, {"task": "two"}]})


class TwoLoopModel:
    """Reads a page in each of two loops; the slower one starts when the other is done."""

    name = "racing"

    def __init__(self, site: str, slower: str) -> None:
        self._site, self._slower = site, slower
        self._done = asyncio.Event()

    async def reply(self, system, messages):
        said = messages[-1].content
        if said.startswith("Request:"):
            return ModelReply(PLAN)
        if said in ("one", "two"):
            if said == self._slower:
                async with asyncio.timeout(10):
                    await self._done.wait()
            pages = ["hesk-light", "museum"] if said == "one" else ["hesk-light", "post-office"]
            reads = [f'<<TOOL:READ:{{"url":"{self._site}/{page}"}}>>' for page in pages]
            return ModelReply("".join(reads))
        if said.startswith("[Tool result"):
            self._done.set()
            return ModelReply("It was first lit on 1 November 1829. [S1001]")
        return ModelReply(
            "It was first lit on 1 November 1829. [S1001] It was first lit in 1829. [S2001]"
        )

    def takes(self, task):
        return task == "plan"

    async def aclose(self):
        pass


@pytest.mark.parametrize("slower", ["one", "two"])
async def test_source_numbers_are_independent_of_loop_speed(ask, site, events, slower):
    report = await ask(PHASES, model=TwoLoopModel(site.url, slower))
    added = [event.data for event in events(report) if event.type == "source.added"]
    numbers = {(row["n"], row["url"].rpartition("/")[2]) for row in added}
    assert numbers == {
        (1001, "hesk-light"),
        (1002, "museum"),
        (2001, "hesk-light"),
        (2002, "post-office"),
    }


async def test_page_read_by_two_loops_is_one_source(ask, site):
    report = await ask(PHASES, model=TwoLoopModel(site.url, "one"))
    assert [source.url.rpartition("/")[2] for source in report.sources] == ["hesk-light"]
    assert [sentence.citations for sentence in report.sentences] == [[1], [1]]


class CitesOwnSourceIds(TwoLoopModel):
    """Each loop cites the page by the id under which it read it."""

    async def reply(self, system, messages):
        said = messages[-1].content
        if said.startswith("[Tool result"):
            self._done.set()
            [source, _] = re.findall(r'"source":"(S\d+)"', said)
            return ModelReply(f"It was first lit on 1 November 1829. [{source}¶2]")
        if said.startswith("[All steps"):
            self.put_together = said
        return await super().reply(system, messages)

    def takes(self, task):
        return task in ("plan", "heed")  # replay assumes that every model heeds notes


@pytest.mark.parametrize("slower", ["one", "two"])
async def test_synthesis_cites_shared_page_by_one_id(ask, site, tmp_path, slower):
    model = CitesOwnSourceIds(site.url, slower)
    report = await ask(PHASES, model=model)
    assert model.put_together.count("[S1001¶2]") == 2
    assert "S2001" not in model.put_together
    again = await replay(RunRecord.read(Runs(tmp_path / "data").find(report.run)))
    assert again.answer == report.answer


class TimeConsumingModel:
    """Uses all the time available for the parts."""

    name = "time-flies"
    now = 0.0

    async def reply(self, system, messages):
        said = messages[-1].content
        await asyncio.sleep(0)
        if said.startswith("Request:"):
            return ModelReply(PLAN)
        self.now += 42.0
        return ModelReply("both" if said.startswith("[All steps") else "A")

    def takes(self, task):
        return task == "plan"

    async def aclose(self):
        pass


async def test_time_is_reserved_for_synthesis():
    async def opening(question, place):
        return [Message("user", question)]

    model = TimeConsumingModel()
    budget = Budget(max_seconds=100, clock=RunClock(lambda: model.now))
    work = Orchestrator(model, None, budget, "", lambda *_, **__: None, opening)
    assert (await work.answer(PHASES)).text == "both"
