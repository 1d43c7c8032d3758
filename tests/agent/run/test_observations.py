"""What tools bring reaches the model as data too, and stands on record for a run that goes on."""

from __future__ import annotations

from agent.journal.runs import Runs
from agent.models.base import ModelReply
from agent.run.record import RunRecord


class Listening:
    """Says its lines in order, and keeps the messages that it was last asked with."""

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


async def test_each_call_gives_an_observation_with_what_it_showed(ask, site, tmp_path):
    asked = f"Who cut the lens? See {site.url}/hesk-light and {site.url}/collection"
    note = tmp_path / "note.md"
    note.write_text("The lens was cut in Brask.", encoding="utf-8")
    model = Listening(
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
