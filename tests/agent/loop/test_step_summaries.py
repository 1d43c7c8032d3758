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


class SummarisingReader:
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


def summary_places(record):
    return [r.place for r in record.requests if r.place.startswith("condense/")]


async def assert_replays(record, report):
    again = await replay(record)
    assert (again.answer, again.steps) == (report.answer, report.steps)


async def test_notes_replace_removed_steps_and_run_replays(run, site):
    model = SummarisingReader(site.url)
    report, record = await run(model)
    assert report.answer.startswith("It was first lit")
    assert len(model.asked) == len(summary_places(record)) >= 1
    assert "lit on 1 November 1829 (S1¶2)" in model.seen[-1]
    assert "<<TOOL:OPEN" not in model.seen[-1], "what notes hold of a tag is inert"
    await assert_replays(record, report)


async def test_no_step_is_summarised_twice(run, site):
    model = SummarisingReader(site.url)
    await run(model)
    told = [n for n in range(1, 13) for asked in model.asked if f'light?{n}"}}' in asked]
    assert told
    assert len(told) == len(set(told))


async def test_failed_summary_falls_back_to_plain_truncation(run, site, events):
    model = SummarisingReader(site.url, ModelUnavailable("no more"))
    report, record = await run(model)
    assert report.answer.startswith("It was first lit")
    assert "READ S3 ok" in model.seen[-1]
    assert any("removed without a summary" in e.data.get("text", "") for e in events(report))
    await assert_replays(record, report)


async def test_model_without_summary_task_is_not_asked(run, site):
    model = SummarisingReader(site.url)
    model.takes = lambda task: task == "heed"
    report, record = await run(model)
    assert (model.asked, summary_places(record)) == ([], [])
    assert "READ S3 ok" in model.seen[-1]
    await assert_replays(record, report)


@pytest.mark.parametrize("notes", ["", "x" * 3 * NOTES_UNITS])
async def test_empty_or_overlong_notes_are_bounded(run, site, notes):
    model = SummarisingReader(site.url, notes)
    report, record = await run(model)
    assert "x" * (NOTES_UNITS + 1) not in model.seen[-1]
    await assert_replays(record, report)
