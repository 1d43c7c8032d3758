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


def rephrase_reply(*queries: object) -> dict[str, str]:
    """A script line that gives these queries when asked for them."""
    expect = "Leuchtfeuer erstmals entzündet"
    return {"for": "rephrase", "reply": json.dumps({"queries": queries}), "expect": expect}


def successful_queries(report) -> list[str]:
    return list(dict.fromkeys(search.query for search in report.searches if search.results))


async def test_query_without_results_is_rephrased_by_model(ask, script, events):
    model = script(NOWHERE, rephrase_reply(HESK), "NOT_FOUND")
    report = await ask(QUESTION, model=model)
    assert successful_queries(report) == ["Hesk Light first lit"]
    assert report.usage.model_calls == 3
    [result] = [event.data for event in events(report) if event.type == "tool.result"]
    assert result["data"]["results"] > 0
    assert "hesk-light" in result["web"]


async def test_rephrase_request_is_recorded_under_place_of_call(ask, script, events):
    report = await ask(QUESTION, model=script(NOWHERE, rephrase_reply(HESK), "NOT_FOUND"))
    asked = [e for e in events(report) if e.type == "model.request" and "rephrase" in e.place]
    assert [event.place for event in asked] == ["rephrase/0/1/1"]
    assert [row["role"] for row in asked[0].data["messages"]] == ["user"]


async def test_run_with_rephrased_query_replays(ask, script, tmp_path):
    report = await ask(QUESTION, model=script(NOWHERE, rephrase_reply(HESK), "NOT_FOUND"))
    again = await replay(RunRecord.read(Runs(tmp_path / "data").find(report.run)))
    assert again.model_dump(exclude={"elapsed_s"}) == report.model_dump(exclude={"elapsed_s"})


WILLING = {"for": "rephrase", "reply": "NOT_FOUND"}
"""Would be consumed by a request for other words; without one, it is the answer."""


async def test_search_with_enough_results_is_not_rephrased(ask, script):
    report = await ask("Which lights?", model=script("<<TOOL:WEB_SEARCH:light>>", WILLING))
    assert (report.status, report.usage.model_calls) == ("not_found", 2)


async def test_small_corpus_with_one_match_is_not_rephrased(ask, script, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pump.md").write_text("# Pump\n\nIda repaired the pump in May.\n")
    model = script("<<TOOL:WEB_SEARCH:pump>>", WILLING)
    report = await ask("Who repaired the pump?", model=model, corpus=notes, search=["corpus"])
    assert (report.status, report.usage.model_calls) == ("not_found", 2)
    assert successful_queries(report) == ["pump"]


async def test_quick_run_does_not_rephrase(ask, script):
    report = await ask(QUESTION, model=script(NOWHERE, "NOT_FOUND"), depth="quick")
    assert report.usage.model_calls == 2


@pytest.mark.parametrize("said", ["I would rather not.", '{"queries": "Hesk"}', "{}"])
async def test_invalid_rephrase_reply_changes_nothing(ask, script, events, said):
    line = {"for": "rephrase", "reply": said}
    report = await ask(QUESTION, model=script(NOWHERE, line, "NOT_FOUND"))
    [result] = [event.data for event in events(report) if event.type == "tool.result"]
    assert result["data"]["results"] == 0
    assert report.status == "not_found"


async def test_failed_rephrase_is_noted_without_failing_run(ask, script, events):
    line = {"for": "rephrase", "reply": "{}", "expect": "never said"}
    report = await ask(QUESTION, model=script(NOWHERE, line, "NOT_FOUND"))
    assert report.status == "not_found"
    assert any("rephrase failed" in e.data["text"] for e in events(report) if e.type == "note")


async def test_deep_run_rephrases_even_with_enough_results(ask, script):
    said = "<<TOOL:WEB_SEARCH:Wann war das mit dem light und der ferry?>>"
    line = {"for": "rephrase", "reply": json.dumps({"queries": [HESK]})}
    model = script(said, line, "NOT_FOUND")
    report = await ask(QUESTION, model=model, depth="deep", corpus=None)
    assert "Hesk Light first lit" in successful_queries(report)


async def test_rephrased_query_with_secret_is_not_sent(ask, script, monkeypatch):
    monkeypatch.setenv("LIGHTHOUSE_API_KEY", "k9f-77213-aaxz-0042")
    leak = {"query": "Hesk k9f-77213-aaxz-0042"}
    report = await ask(QUESTION, model=script(NOWHERE, rephrase_reply(leak, HESK), "NOT_FOUND"))
    assert "Hesk Light first lit" in successful_queries(report)
    assert not any("k9f-77213" in search.query for search in report.searches)


def test_rephrased_queries_are_parsed_leniently():
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
