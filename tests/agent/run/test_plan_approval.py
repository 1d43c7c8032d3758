"""`--plan`: the user edits and approves searches or sections before anything is searched."""

from __future__ import annotations

import json
import re
import time

import pytest

from agent.errors import UsageError
from agent.journal.runs import Runs
from agent.loop.plan_approval import ResearchPlan
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.run.resume import research_section_again
from tests.agent.loop.conftest import Answering

QUESTION = "When was the light lit?"
ANSWER = "It was first lit on 1 November 1829. [S1]"


def proposal(**fields):
    return {"reply": json.dumps(fields), "for": "plan"}


def approving(edit=lambda text: text):
    """Approve plans after an edit; `shown` contains them as displayed."""

    async def approve(text):
        approve.shown.append(text)
        return edit(text)

    approve.shown = []
    return approve


def record_of(tmp_path, report):
    return RunRecord.read(Runs(tmp_path / "data").find(report.run))


def without_time(report):
    return report.model_dump(exclude={"elapsed_s"})


async def test_edited_plan_with_clarification_directs_searches_and_replays(
    ask, script, site, tmp_path, events, monkeypatch
):
    model = script(
        proposal(ask="Which light?", searches=["lights"]),
        {
            **proposal(ask="Which one really?", searches=["Hesk Light first lit", "old lights"]),
            "expect": "Asked “Which light.”, the user answered: Hesk Light",
        },
        {
            "reply": f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
            "expect": r"(?s)Hesk Light.*approved these.*- Hesk Light first lit\n- its keeper]$",
        },
        {"reply": ANSWER},
    )
    asked = []

    monotonic, waited = time.monotonic, []
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + sum(waited))

    async def clarify(question):
        asked.append(question)
        waited.append(3_600)  # the user takes an hour
        return "Hesk Light"

    def change(text):
        waited.append(3_600)
        return text.replace("- old lights", "* its keeper")

    edit = approving(change)
    flags = {"ask": clarify, "edit_plan": edit, "timeout": 300}
    report = await ask(QUESTION, model=model, plan=True, **flags)
    assert (report.error, report.status) == (None, "answered")
    assert report.elapsed_s < 3_600  # the time limit excludes these hours
    assert asked == ["Which light?"]  # one question, however often the model asks
    assert edit.shown == ["- Hesk Light first lit\n- old lights\n"]
    kinds = [event.type for event in events(report)]
    assert kinds.index("plan.approved") < kinds.index("tool.call")
    again = await replay(record_of(tmp_path, report))  # it needs nobody
    assert without_time(again) == without_time(report)


async def test_extractive_model_runs_approved_searches_first(ask, events):
    edit = approving(lambda _: "Hesk Light tower height\n")
    report = await ask("How high is the tower of Hesk Light?", plan=True, edit_plan=edit)
    assert edit.shown == ["- How high is the tower of Hesk Light?\n- high tower Hesk Light\n"]
    searches = [line.query for line in report.searches]
    assert searches[0] == "Hesk Light tower height"
    assert "high tower Hesk Light" not in searches


async def test_refused_plan_searches_nothing_and_missing_user_is_usage_error(ask, script, tmp_path):
    report = await ask(QUESTION, plan=True, edit_plan=approving(lambda _: None))
    assert (report.status, report.error.type, report.searches) == ("failed", "PlanRefused", [])
    again = await replay(record_of(tmp_path, report))
    assert again.error == report.error
    with pytest.raises(UsageError, match="there is no user to ask"):
        await ask(QUESTION, plan=True)
    assert len(list((tmp_path / "data" / "runs").iterdir())) == 1


async def test_simple_question_requests_are_identical_without_plan(ask, script, site, events):
    """The requests contain nothing of the plan, so their cost is unchanged."""
    replies = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>', ANSWER
    plain = events(await ask(QUESTION, model=script(*replies)))
    planned = await ask(QUESTION, model=script(*replies), plan=True, edit_plan=approving())
    first, second = (
        [event.data for event in one if event.type == "model.request"]
        for one in (plain, events(planned))
    )
    assert first[0]["messages"] == [{"role": "user", "content": QUESTION}]
    assert "approv" not in json.dumps(first).replace("approval", "")
    assert [one["system"] for one in first] == [one["system"] for one in second]
    assert second[0]["messages"][0]["content"].startswith(f"{QUESTION}\n\n[The user approved")


PLAN = """## Hesk Light
When was Hesk Light first lit?
- Hesk Light first lit

## Marrow Point Light
When was Marrow Point Light first lit?
"""
CLOSING = "## Summary\nIt was first lit on 1 November 1829. [S1001]"


@pytest.fixture
def writer(site):
    def read(page):
        return f'<<TOOL:READ:{{"url":"{site.url}/{page}"}}>>'

    sections = [
        {"heading": "Hesk Light", "task": "When lit?", "searches": ["Hesk Light"]},
        {"heading": "Old lights", "task": "Which are there?"},
    ]
    replies = {
        r"You propose a plan": json.dumps({"sections": sections}),
        r"You decide whether an answer": "answer: fully",
        r"You check claims": "",
        r"answered by these sections": CLOSING,
        r"source\":\"S1001\"": "It was first lit on 1 November 1829. [S1001]",
        r"source\":\"S20\d\d\"": "It was lit in 1851. [S2001]",
        r"section “Hesk Light”": read("hesk-light"),
        r"section “Marrow Point Light”": read("marrow-point-light"),
    }
    return Answering(replies)


async def test_approved_sections_are_written_and_one_can_be_redone(ask, writer, tmp_path):
    edit = approving(lambda _: PLAN)
    report = await ask(QUESTION, model=writer, report=True, plan=True, edit_plan=edit)
    assert report.error is None, report.error
    assert edit.shown == [
        "## Hesk Light\nWhen lit?\n- Hesk Light\n\n## Old lights\nWhich are there?\n"
    ]
    assert re.findall("^## .*", report.answer, re.MULTILINE) == [
        *("## Summary", "## Hesk Light", "## Marrow Point Light")
    ]
    assert any(
        "section “Hesk Light”" in one and "- Hesk Light first" in one for one in writer.asked
    )

    writer.asked.clear()
    folder = Runs(tmp_path / "data").find(report.run)
    with pytest.raises(UsageError, match="no section 'Old lights'"):
        await research_section_again(folder, "Old lights", data_dir=tmp_path / "data")
    data = tmp_path / "data"
    again = await research_section_again(
        folder, "marrow point light", data_dir=data, model=writer, memory=False
    )
    assert again.run != report.run
    assert again.answer == report.answer
    assert [source.url for source in again.sources] == [source.url for source in report.sources]
    assert not any("section “Hesk Light”" in one and "[This is" in one for one in writer.asked)
    replayed = await replay(record_of(tmp_path, again))
    assert without_time(replayed) == without_time(again)


@pytest.mark.parametrize(
    ("text", "searches", "headings"),
    [
        ("- one\n\n2. two\nthree", ("one", "two", "three"), []),
        ("- early\n# A\nFind it.\nAll of it.\n* a\n## B", (), ["A", "B"]),
        ("  \n", (), []),
    ],
)
def test_edited_text_is_parsed_as_plan(text, searches, headings):
    plan = ResearchPlan.from_text(text)
    assert (plan.searches, [one.heading for one in plan.sections]) == (searches, headings)
    assert ResearchPlan.from_text(plan.to_text()) == plan
    if headings:
        assert plan.sections[0].task == "Find it. All of it."
        assert plan.sections[0].searches == ("early", "a")
