"""From question to report: scripted models on the bundled web."""

from __future__ import annotations

import asyncio

import pytest

from agent import Report, research_sync
from agent.errors import UsageError
from agent.journal.runs import Runs
from agent.run.outcome import exit_code

LIT = "Hesk Light was first lit on 1 November 1829."


@pytest.fixture
def read_light(script, site):
    """A script that reads one page and cites it."""
    return script(
        "<<THINK>>search<</THINK>><<TOOL:WEB_SEARCH:Hesk Light first lit>>",
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        f"{LIT} [S1]",
    )


def model_messages(events):
    return [
        message["content"]
        for event in events
        if event.type == "model.request"
        for message in event.data["messages"]
    ]


async def code_of(run):
    """Return the exit code, whether the settings were refused before or during the run."""
    try:
        return exit_code(await run)
    except UsageError as error:
        return error.exit_code


async def test_cited_answer_quotes_saved_page(ask, read_light, events, tmp_path):
    report = await ask(model=read_light)
    assert (report.status, exit_code(report), report.steps) == ("answered", 0, 3)
    assert report.answer.rstrip().endswith("[1]")
    kept = next(event for event in events(report) if event.type == "source.added")
    text = Runs(tmp_path / "data").find(report.run).blob(kept.data["text"]).decode()
    assert report.sources[0].quotes
    assert all(quote in text for quote in report.sources[0].quotes)
    assert report.searches[0].outcome == "ok"


async def test_sources_are_numbered_in_tag_order(ask, script, site, events):
    slow_first = [f'<<TOOL:READ:{{"url":"{site.url}/{page}"}}>>' for page in ("slow", "hesk-light")]
    report = await ask(model=script("".join(slow_first), "NOT_FOUND"))
    added = [event.data["url"] for event in events(report) if event.type == "source.added"]
    assert [url.rsplit("/", 1)[1] for url in added] == ["slow", "hesk-light"]


async def test_unknown_and_failing_tools_return_hints(ask, script, events):
    report = await ask(model=script("<<TOOL:NOPE:1>><<TOOL:CLICK:e1>>", "NOT_FOUND nothing."))
    observation = model_messages(events(report))[-1]
    assert '[Tool result for NOPE]: {"error":"Unknown tool: NOPE"}' in observation
    assert "[HINT: OPEN a page first.]" in observation
    assert report.status == "not_found"
    # The model's own text is marked as such and shown together with what was recorded.
    assert report.answer.startswith("In the model's own words: nothing.\n\n")
    assert "Failed: NOPE: Unknown tool: NOPE" in report.answer


async def test_exhausted_steps_give_partial_answer_without_tools(ask, script, site):
    reading = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    report = await ask(model=script(reading, f"{LIT} [S1]"), max_steps=1)
    assert (report.status, exit_code(report)) == ("partial", 5)
    assert LIT in report.answer


async def test_uncited_answer_is_not_found(ask, script):
    report = await ask(model=script("It was lit in 1700, as everybody knows."))
    assert (report.status, exit_code(report), report.sources) == ("not_found", 3, [])
    assert [s.verdict.value for s in report.sentences] == ["uncited"]


async def test_custom_tool_receives_raw_parameter(ask, script, events):
    async def tide(param):
        return {"port": param, "metres": 2.0}

    report = await ask(model=script("<<TOOL:TIDE:Hesk>>", "NOT_FOUND"), tools={"TIDE": tide})
    assert (
        '[Tool result for TIDE]: {"port":"Hesk","metres":2}' in model_messages(events(report))[-1]
    )


async def test_exception_in_custom_tool_becomes_an_error_result(ask, script, events):
    async def boom(_):
        raise RuntimeError("kaput")

    report = await ask(model=script("<<TOOL:BOOM:1>>", "NOT_FOUND"), tools={"BOOM": boom})
    assert '{"error":"kaput"}' in model_messages(events(report))[-1]
    assert report.status == "not_found"


async def test_failure_of_every_search_provider_fails_run(ask, script):
    report = await ask(
        model=script("<<TOOL:WEB_SEARCH:x>>", "NOT_FOUND"),
        searxng_url="http://127.0.0.1:9",
    )
    assert (report.status, exit_code(report)) == ("failed", 6)
    assert "searxng: unreachable" in report.error.message


async def test_exhausted_script_fails_as_model_unavailable(ask, script):
    report = await ask(model=script("<<TOOL:WEB_SEARCH:x>>"))
    assert (report.status, exit_code(report)) == ("failed", 7)
    assert report.error.type == "ModelUnavailable"


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "nonsense"},
        {"max_steps": 0},
        {"no_such_flag": 1},
        {"search_url": ["broken"]},
        {"search": ["gogle"]},
        {"corpus": "/no/such/folder"},
    ],
)
async def test_invalid_options_are_usage_errors(ask, wrong):
    assert await code_of(ask(**wrong)) == 2


async def test_private_addresses_are_refused_unless_allowed(ask, script, events):
    model = script("<<TOOL:READ:http://127.0.0.1:8080/admin>>", "NOT_FOUND")
    report = await ask(model=model)
    assert "--allow-private" in model_messages(events(report))[-1]


async def test_cancelled_run_keeps_its_record_and_partial_answer(
    ask, script, site, events, tmp_path
):
    async def wait_for_ever(_):
        await asyncio.Event().wait()

    reached = asyncio.Event()
    model = script(f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>', "<<TOOL:WAITING:1>>")
    run = asyncio.create_task(
        ask(
            model=model,
            tools={"WAITING": wait_for_ever},
            on_event=lambda e: reached.set() if e.data.get("name") == "WAITING" else None,
        )
    )
    await reached.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    folder = Runs(tmp_path / "data").find("last")
    report = Report.model_validate_json(folder.report.read_bytes())
    assert report.status == "partial"
    assert "1 November 1829" in report.answer
    assert b"run.interrupted" in folder.journal.read_bytes()


async def test_research_sync_works_inside_a_running_loop(site, script, tmp_path):
    report = research_sync(
        "x", model=script("NOT_FOUND"), data_dir=tmp_path / "d", memory=False, searxng_url=site.url
    )
    assert report.status == "not_found"


async def test_remembered_facts_and_turns_are_reused(ask, script, events):
    first = script('<<TOOL:REMEMBER:{"key":"boat","value":"Kittiwake"}>>', "NOT_FOUND noted.")
    await ask("My boat is called Kittiwake.", model=first, memory=True, session="s")
    report = await ask("Which boat do I have?", model=script("NOT_FOUND"), memory=True, session="s")
    messages = model_messages(events(report))
    assert messages[0] == "My boat is called Kittiwake."
    assert "boat: Kittiwake" in messages[-1]


async def test_run_without_session_starts_new_conversation(ask, script, events):
    await ask("My boat is called Kittiwake.", model=script("NOT_FOUND"), memory=True)
    report = await ask("And mine?", model=script("NOT_FOUND"), memory=True)
    assert model_messages(events(report)) == ["And mine?"]


async def test_continue_resumes_last_conversation(ask, script, events):
    await ask("My boat is called Kittiwake.", model=script("NOT_FOUND"), memory=True)
    report = await ask("And mine?", model=script("NOT_FOUND"), memory=True, continue_run="")
    assert model_messages(events(report))[0] == "My boat is called Kittiwake."


async def test_context_file_can_be_cited(ask, script, tmp_path):
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n\nThe pump was repaired on 3 May 2024 by Ida.\n")
    answer = "The pump was repaired on 3 May 2024 by Ida. [S1¶2]"
    report = await ask("Who repaired the pump?", model=script(answer), file=[notes])
    assert report.status == "answered"
    assert report.sources[0].via == "file"


async def test_corpus_is_searched_first(ask, script, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "pump.md").write_text("# Pump\n\nThe pump was repaired on 3 May 2024 by Ida.\n")
    model = script(
        "<<TOOL:WEB_SEARCH:pump repaired>>",
        f"<<TOOL:READ:{(corpus / 'pump.md').as_uri()}>>",
        "The pump was repaired on 3 May 2024 by Ida. [S1¶2]",
    )
    report = await ask("Who repaired the pump?", model=model, corpus=corpus)
    assert report.status == "answered"
    assert report.searches[0].provider == "corpus"


async def test_earlier_runs_do_not_mislead_extractive_model(ask):
    question = "How long is Sunnock Pier?"
    first = await ask(question, memory=True)
    again = await ask(question, memory=True)
    assert "184 metres" in first.answer
    assert "184 metres" in again.answer
    assert [line.query for line in again.searches] == [line.query for line in first.searches]
