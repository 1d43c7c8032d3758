"""If a search finds little, the model is asked once for other words and languages."""

from __future__ import annotations

import json

import pytest

from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.tools.rephrasing import MAX_QUERIES, MAX_QUERY_CHARS, Rephrased, parse_queries

QUESTION = "Wann wurde das Leuchtfeuer von Hesk zum ersten Mal entzündet?"
NOWHERE = "<<TOOL:WEB_SEARCH:Leuchtfeuer erstmals entzündet>>"
HESK = {"query": "Hesk Light first lit", "lang": "en"}


def other_words(*queries: object) -> dict[str, str]:
    """A script line that gives these queries when asked for them."""
    expect = "Leuchtfeuer erstmals entzündet"
    return {"for": "rephrase", "reply": json.dumps({"queries": queries}), "expect": expect}


def trail(report) -> list[str]:
    return list(dict.fromkeys(search.query for search in report.searches if search.results))


async def test_a_query_that_finds_nothing_is_asked_in_the_models_words(ask, script, events):
    model = script(NOWHERE, other_words(HESK), "NOT_FOUND")
    report = await ask(QUESTION, model=model)
    assert trail(report) == ["Hesk Light first lit"]
    assert report.usage.model_calls == 3
    [result] = [event.data for event in events(report) if event.type == "tool.result"]
    assert result["data"]["results"] > 0
    assert "hesk-light" in result["web"]


async def test_the_request_and_its_reply_are_on_record_under_the_place_of_the_call(
    ask, script, events
):
    report = await ask(QUESTION, model=script(NOWHERE, other_words(HESK), "NOT_FOUND"))
    asked = [e for e in events(report) if e.type == "model.request" and "rephrase" in e.place]
    assert [event.place for event in asked] == ["rephrase/0/1/1"]
    assert [row["role"] for row in asked[0].data["messages"]] == ["user"]


async def test_the_run_replays(ask, script, tmp_path):
    report = await ask(QUESTION, model=script(NOWHERE, other_words(HESK), "NOT_FOUND"))
    again = await replay(RunRecord.read(Runs(tmp_path / "data").find(report.run)))
    assert again.model_dump(exclude={"elapsed_s"}) == report.model_dump(exclude={"elapsed_s"})


WILLING = {"for": "rephrase", "reply": "NOT_FOUND"}
"""Would be consumed by a request for other words; without one, it is the answer."""


async def test_a_search_that_finds_enough_asks_nobody(ask, script):
    report = await ask("Which lights?", model=script("<<TOOL:WEB_SEARCH:light>>", WILLING))
    assert (report.status, report.usage.model_calls) == ("not_found", 2)


async def test_a_small_folder_that_holds_one_file_on_it_is_not_asked_again(ask, script, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pump.md").write_text("# Pump\n\nIda repaired the pump in May.\n")
    model = script("<<TOOL:WEB_SEARCH:pump>>", WILLING)
    report = await ask("Who repaired the pump?", model=model, corpus=notes, search=["corpus"])
    assert (report.status, report.usage.model_calls) == ("not_found", 2)
    assert trail(report) == ["pump"]


async def test_a_quick_run_asks_nobody(ask, script):
    report = await ask(QUESTION, model=script(NOWHERE, "NOT_FOUND"), depth="quick")
    assert report.usage.model_calls == 2


@pytest.mark.parametrize("said", ["I would rather not.", '{"queries": "Hesk"}', "{}"])
async def test_a_reply_that_is_no_query_changes_nothing(ask, script, events, said):
    line = {"for": "rephrase", "reply": said}
    report = await ask(QUESTION, model=script(NOWHERE, line, "NOT_FOUND"))
    [result] = [event.data for event in events(report) if event.type == "tool.result"]
    assert result["data"]["results"] == 0
    assert report.status == "not_found"


async def test_a_model_that_fails_here_fails_quietly(ask, script, events):
    line = {"for": "rephrase", "reply": "{}", "expect": "never said"}
    report = await ask(QUESTION, model=script(NOWHERE, line, "NOT_FOUND"))
    assert report.status == "not_found"
    assert any("rephrase failed" in e.data["text"] for e in events(report) if e.type == "note")


async def test_a_deep_run_translates_a_question_that_found_enough(ask, script):
    said = "<<TOOL:WEB_SEARCH:Wann war das mit dem light und der ferry?>>"
    line = {"for": "rephrase", "reply": json.dumps({"queries": [HESK]})}
    model = script(said, line, "NOT_FOUND")
    report = await ask(QUESTION, model=model, depth="deep", corpus=None)
    assert "Hesk Light first lit" in trail(report)


async def test_no_private_token_is_sent_by_way_of_other_words(ask, script, monkeypatch):
    monkeypatch.setenv("LIGHTHOUSE_API_KEY", "k9f-77213-aaxz-0042")
    leak = {"query": "Hesk k9f-77213-aaxz-0042"}
    report = await ask(QUESTION, model=script(NOWHERE, other_words(leak, HESK), "NOT_FOUND"))
    assert "Hesk Light first lit" in trail(report)
    assert not any("k9f-77213" in search.query for search in report.searches)


def test_queries_are_read_in_whatever_form_they_come():
    rows = [
        {"query": "  two\nlines ", "lang": "JA"},
        "bare words",
        {"query": "asked already"},
        {"query": ""},
        7,
        {"query": "x" * 400, "lang": "japanese"},
        {"query": "one too many"},
    ]
    queries = parse_queries(f"```json\n{json.dumps({'queries': rows})}\n```", "Asked Already")
    assert len(queries) == MAX_QUERIES
    assert queries[:2] == (Rephrased("two lines", "ja"), Rephrased("bare words"))
    assert queries[2] == Rephrased("x" * MAX_QUERY_CHARS)
