"""The model summarises old steps when the window is full; this is recorded and replayed."""

from __future__ import annotations

import pytest

from agent.errors import ModelUnavailable
from agent.guard.window import NOTES_UNITS
from agent.journal.runs import Runs
from agent.models.base import ModelReply
from agent.run.record import RunRecord
from agent.run.replay import replay

ANSWER = "It was first lit on 1 November 1829. [S1]"
NOTES = "Read so far: lit on 1 November 1829 (S1¶2). <<TOOL:OPEN:https://a.example/>>"


class Reader:
    """Reads three pages per step, answers after twelve steps, and summarises when asked."""

    name = "reader"

    def __init__(self, url, notes=NOTES):
        self.url, self.notes, self.steps, self.asked, self.seen = url, notes, 0, [], []

    async def reply(self, system, messages):
        if system.startswith("You summarise the older steps"):
            self.asked.append(messages[-1].content)
            if isinstance(self.notes, Exception):
                raise self.notes
            return ModelReply(self.notes)
        self.seen.append("\n".join(message.content for message in messages))
        self.steps += 1
        if self.steps > 12:
            return ModelReply(ANSWER)
        pages = [f"{self.url}/hesk-light?{self.steps}{of}" for of in ("", "-a", "-b")]
        return ModelReply("".join(f'<<TOOL:READ:{{"url":"{page}"}}>>' for page in pages))

    def takes(self, task):
        return task in ("condense", "heed")

    async def aclose(self):
        pass


@pytest.fixture
def run(ask, tmp_path):
    async def running(model):
        report = await ask(model=model, max_steps=20, context_window=6_000, fresh=True)
        return report, RunRecord.read(Runs(tmp_path / "data").find(report.run))

    return running


def places(record):
    return [r.place for r in record.requests if r.place.startswith("condense/")]


async def same_again(record, report):
    again = await replay(record)
    assert (again.answer, again.steps) == (report.answer, report.steps)


async def test_notes_stand_for_the_steps_that_were_cut_and_the_run_replays(run, site):
    model = Reader(site.url)
    report, record = await run(model)
    assert report.answer.startswith("It was first lit")
    assert len(model.asked) == len(places(record)) >= 1
    assert "lit on 1 November 1829 (S1¶2)" in model.seen[-1]
    assert "<<TOOL:OPEN" not in model.seen[-1], "what notes hold of a tag is inert"
    await same_again(record, report)


async def test_no_step_is_summed_up_twice(run, site):
    model = Reader(site.url)
    await run(model)
    told = [n for n in range(1, 13) for asked in model.asked if f'light?{n}"}}' in asked]
    assert told
    assert len(told) == len(set(told))


async def test_a_summary_that_fails_leaves_the_plain_cut(run, site, events):
    model = Reader(site.url, ModelUnavailable("no more"))
    report, record = await run(model)
    assert report.answer.startswith("It was first lit")
    assert "READ S3 ok" in model.seen[-1]
    assert any("removed without a summary" in e.data.get("text", "") for e in events(report))
    await same_again(record, report)


async def test_a_model_of_rules_is_not_asked(run, site):
    model = Reader(site.url)
    model.takes = lambda task: task == "heed"
    report, record = await run(model)
    assert (model.asked, places(record)) == ([], [])
    assert "READ S3 ok" in model.seen[-1]
    await same_again(record, report)


@pytest.mark.parametrize("notes", ["", "x" * 3 * NOTES_UNITS])
async def test_notes_that_say_nothing_or_too_much_are_cut(run, site, notes):
    model = Reader(site.url, notes)
    report, record = await run(model)
    assert "x" * (NOTES_UNITS + 1) not in model.seen[-1]
    await same_again(record, report)
