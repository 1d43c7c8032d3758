"""A run replays from its record alone to the same answer, byte for byte."""

from __future__ import annotations

import dataclasses
import json

import pytest

from agent.errors import ReplayDiverged
from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.run.resume import rerun_on_recorded_web


@pytest.fixture
def record_of(tmp_path):
    def read(report):
        return RunRecord.read(Runs(tmp_path / "data").find(report.run))

    return read


@pytest.fixture
def reading(script, site):
    """A script that searches, reads two pages and answers from them."""
    return script(
        "<<THINK>>search<</THINK>><<TOOL:WEB_SEARCH:Hesk Light>>",
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
        f'<<TOOL:READ:{{"url":"{site.url}/no-such-page"}}>>',
        "It was first lit on 1 November 1829. [S1]",
    )


def without_time(report):
    return report.model_dump(exclude={"elapsed_s"})


async def test_replay_rebuilds_same_report_without_web_or_model(ask, reading, record_of):
    report = await ask(model=reading)
    again = await replay(record_of(report))
    assert without_time(again) == without_time(report)


async def test_a_run_that_hit_its_limit_replays(ask, script, site, record_of):
    reading = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    answer = "It was first lit on 1 November 1829. [S1]"
    report = await ask(model=script(reading, answer), max_steps=1)
    assert without_time(await replay(record_of(report))) == without_time(report)


async def test_a_run_on_a_live_page_replays(ask, script, site, record_of):
    model = script(
        f"<<TOOL:OPEN:{site.url}/collection>>",
        '<<TOOL:TYPE:{"ref":"{{ref:Search the collection}}","text":"fog bell","submit":true}>>',
        "<<TOOL:SCREENSHOT>>",
        "NOT_FOUND",
    )
    report = await ask(model=model)
    record = record_of(report)
    assert without_time(await replay(record)) == without_time(report)
    # The syntax of the page tools is sent with the page, not before.
    given = [" ".join(m.content for m in record.messages(request)) for request in record.requests]
    assert ["`CLICK(" in said for said in (record.system, *given)][:4] == [
        *(False, False, True, False)
    ]


async def test_prompt_has_current_date_or_date_of_recorded_run(ask, reading, record_of):
    report = await ask(model=reading)
    record = record_of(report)
    assert record.system.endswith(f"Today is {record.day}.\n")
    record.events[0] = dataclasses.replace(record.events[0], at="2020-02-29T12:00:00Z")
    folder = record.folder.path.parent.parent
    again = record_of(await rerun_on_recorded_web(record, model=reading, data_dir=folder))
    assert again.system.endswith("Today is 2020-02-29.\n")
    assert (await replay(again)).answer == report.answer


async def test_the_extractive_model_replays(ask, record_of):
    report = await ask()
    assert without_time(await replay(record_of(report))) == without_time(report)


async def test_differing_request_stops_replay_with_diff(ask, reading, record_of):
    report = await ask(model=reading)
    record = record_of(report)
    result = next(made for made in record.results.values() if made.tool == "WEB_SEARCH")
    object.__setattr__(result, "data", {"results": 99})
    with pytest.raises(ReplayDiverged) as caught:
        await replay(record)
    told = str(caught.value)
    assert "at 0/2, message 3 of 3 (user):\n--- on record\n+++ now" in told
    assert '+[Tool result for WEB_SEARCH]: {"results":99}' in told


async def test_diff_shows_long_line_around_the_difference(ask, reading, record_of):
    record = record_of(await ask(model=reading))
    result = next(made for made in record.results.values() if made.tool == "READ")
    object.__setattr__(result, "web", result.web.replace("1 November 1829", "2 November 1829"))
    with pytest.raises(ReplayDiverged) as caught:
        await replay(record)
    lines = str(caught.value).splitlines()
    assert any(line.startswith("+") and "2 November 1829" in line for line in lines)
    assert max(map(len, lines)) < 300


async def test_call_missing_from_record_is_shown_in_diff(ask, reading, record_of):
    record = record_of(await ask(model=reading))
    del record.results["0/1/1"]
    with pytest.raises(ReplayDiverged, match="a different call at 0/1/1") as caught:
        await replay(record)
    assert "+WEB_SEARCH Hesk Light" in str(caught.value)


async def test_wrong_request_hash_in_record_is_reported(ask, reading, record_of):
    record = record_of(await ask(model=reading))
    record.requests[0].data["sha256"] = "0" * 64
    with pytest.raises(ReplayDiverged, match="at 0/1: its messages match the record"):
        await replay(record)


async def test_another_model_runs_on_recorded_web(ask, reading, script, record_of, site):
    report = await ask(model=reading)
    other = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>><<TOOL:READ:{site.url}/museum>>',
        "The tower is 34 metres high. [S1]",
    )
    folder = record_of(report).folder.path.parent.parent
    again = await rerun_on_recorded_web(record_of(report), model=other, data_dir=folder)
    assert again.status == "answered"
    assert again.run != report.run
    journal = Runs(folder).find(again.run).journal.read_text()
    assert "not in the record" in journal
    assert without_time(await replay(record_of(again))) == without_time(again)


async def test_other_query_form_finds_recorded_page_or_search(
    ask, reading, script, record_of, site
):
    report = await ask(model=reading)
    other = script(
        '<<TOOL:WEB_SEARCH:{"query":"hesk  LIGHT"}>>',
        {
            "reply": f'<<TOOL:READ:{{"url":"{site.url}/hesk-light#bell","query":"fog bell"}}>>'
            f"<<TOOL:FETCH_URL:{site.url}/hesk-light>>",
            "expect": '"results":[1-9]',
        },
        {"reply": "The bell was replaced by a siren in 1909. [S1]", "expect": "siren in 1909"},
    )
    folder = record_of(report).folder.path.parent.parent
    again = await rerun_on_recorded_web(record_of(report), model=other, data_dir=folder)
    assert again.status == "answered", again.error
    assert [source.n for source in again.sources] == [1]
    assert "not in the record" not in Runs(folder).find(again.run).journal.read_text()


async def test_unrecorded_page_is_read_only_with_live(ask, reading, script, record_of, site):
    report = await ask(model=reading)
    other = script(f"<<TOOL:READ:{site.url}/museum>>", "The curator is Saskia Penhale. [S3]")
    folder = record_of(report).folder.path.parent.parent
    for live, status in ((False, "not_found"), (True, "answered")):
        again = await rerun_on_recorded_web(
            record_of(report), model=other, data_dir=folder, live=live
        )
        assert again.status == status, again.answer


def test_replay_assert_exits_8_when_answer_differs(ask, run, web, answering, tmp_path):
    first = json.loads(run("--json", "When?", "--model", answering, *web).stdout)["run"]
    assert run("replay", first, "--assert").returncode == 0
    folder = tmp_path / "data" / "runs" / first
    text = (folder / "journal.jsonl").read_text()
    (folder / "journal.jsonl").write_text(text.replace('"answer":"Hesk', '"answer":"Another'))
    assert run("replay", first, "--assert").returncode == 8
