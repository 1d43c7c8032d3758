"""Tool results also reach the model as data, and are recorded for resumed runs."""

from __future__ import annotations

import pytest

from agent.journal.runs import Runs
from agent.models.base import ModelReply
from agent.run.record import RunRecord


class RecordingModel:
    """Gives its replies in order, and stores the last messages it received."""

    name = "listening"

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)
        self.messages = ()

    async def reply(self, system, messages):
        self.messages = tuple(messages)
        return ModelReply(self._lines.pop(0))

    def takes(self, task):
        return False

    async def aclose(self):
        pass


async def test_each_call_yields_observation_with_its_content(ask, site, tmp_path):
    asked = f"Who cut the lens? See {site.url}/hesk-light and {site.url}/collection"
    note = tmp_path / "note.md"
    note.write_text("The lens was cut in Brask.", encoding="utf-8")
    model = RecordingModel(
        f'<<TOOL:WEB_SEARCH:Hesk Light>><<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
        "<<TOOL:READ:http://127.0.0.1:1/nothing>>",
        f"<<TOOL:OPEN:{site.url}/collection>>",
        "NOT_FOUND",
    )
    report = await ask(asked, model=model, file=[note])
    question, _, first, _, second = model.messages
    assert question.question == asked
    assert [p.text for p in question.observations[0].passages] == ["The lens was cut in Brask."]
    searched, read, failed = first.observations
    assert searched.results[0].url.endswith("/hesk-light")
    assert searched.results[0].snippet in first.content
    assert any("1 November 1829" in passage.text for passage in read.passages)
    assert all(f"{passage.id} " in first.content for passage in read.passages)
    assert failed.failed
    assert "searchbox" in second.observations[0].snapshot

    record = RunRecord.read(Runs(tmp_path / "data").find(report.run))
    (again,) = record.opening_at("0")
    assert (again.question, again.observations) == (question.question, question.observations)
    kept = [record.results[f"0/1/{n}"] for n in (1, 2, 3)]
    assert [result.passages for result in kept] == [o.passages for o in first.observations]
    assert [hit.url for hit in kept[0].results] == [hit.url for hit in searched.results]
    assert record.results["0/2/1"].snapshot == second.observations[0].snapshot


LONG = "x" * 10_000_000


async def _raise(_text):
    raise ValueError(LONG)


async def _long_error(_text):
    return {"error": LONG, "seen": [LONG, LONG], "number": 10**5_000}


@pytest.mark.parametrize(
    ("call", "tools"),
    [
        ("<<TOOL:PYTHON:raise ValueError('x' * 10**7)>>", {}),
        ("<<TOOL:PYTHON:'x' * 10**7 + 1>>", {}),
        ("<<TOOL:PYTHON:number('9' * 400)>>", {}),
        ("<<TOOL:PYTHON:9 ** 9 ** 5>>", {}),
        ("<<TOOL:BURST:now>>", {"BURST": _raise}),
        ("<<TOOL:BURST:now>>", {"BURST": _long_error}),
    ],
)
@pytest.mark.sample(2)
async def test_error_text_is_bounded_in_prompt_and_journal(ask, tmp_path, call, tools):
    model = RecordingModel(call, "NOT_FOUND")
    report = await ask(model=model, tools=tools)
    (failed,) = model.messages[-1].observations
    assert failed.failed
    assert len(model.messages[-1].content) < 10_000
    assert Runs(tmp_path / "data").find(report.run).journal.stat().st_size < 100_000
    assert report.status == "not_found"


async def test_recorded_crash_message_is_bounded(ask, tmp_path):
    class Crashing(RecordingModel):
        async def reply(self, system, messages):
            raise ZeroDivisionError(LONG)

    report = await ask(model=Crashing())
    assert report.status == "failed"
    assert len(report.error.message) < 3_000
    assert Runs(tmp_path / "data").find(report.run).journal.stat().st_size < 100_000
