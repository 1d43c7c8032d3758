"""Tasks, reminders and monitors that a model creates if the user allows it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from agent.channels.channel_runner import channel_senders
from agent.jobs.jobs import Jobs
from agent.jobs.monitors import Monitors
from agent.jobs.schedules import Schedules, fire_due
from agent.jobs.task_tools import task_tools
from agent.memory import Memory, Origin
from agent.types import VerdictState
from tests.agent.channels.conftest import served
from tests.agent.channels.test_telegram import ANN, ENV, BotApi

TASK_CALLS = (
    '<<TOOL:SCHEDULE_TASK:{"task":"What is new on Hesk Light?","when":"every monday at 8"}>>'
    '<<TOOL:REMIND_ME:{"text":"Book the ferry","when":"in 20 minutes"}>>'
    "<<TOOL:SET_TIMER:90>>"
    '<<TOOL:MONITOR:{"target":"Who keeps Hesk Light?"}>>'
)


@pytest.fixture
def run_with_tasks(ask, script, tmp_path, monkeypatch):
    """Ask a model that gives these replies, in a run that may create tasks."""
    monkeypatch.setenv("RESEARCH_CONFIG", str(tmp_path / "config.toml"))
    data = tmp_path / "data"

    async def asking(*replies, question="Remind me of Hesk Light.", **flags):
        results, offered = [], []

        def hear(event):
            if event.type == "tool.result":
                results.append(event.data)
            elif event.type == "tools.offered":
                offered.extend(event.data["on"]["system"])

        settings = {"allow_tasks": [f"feed:{tmp_path}/told.xml"], **flags}
        report = await ask(
            question,
            model=script(*replies, "NOT_FOUND"),
            tasks=partial(task_tools, open_jobs=partial(Jobs.open, None, data)),
            on_event=hear,
            **settings,
        )
        with Jobs.open(None, data) as jobs:
            return report, results, offered, Schedules(jobs).all(), Monitors(jobs).all()

    return asking


async def test_model_creates_lists_and_stops_tasks(run_with_tasks):
    report, results, _, found, watched = await run_with_tasks(
        TASK_CALLS, "<<TOOL:STOP:book-the-ferry>><<TOOL:STOP:none>>", "<<TOOL:LIST>>"
    )
    assert (report.error, report.status) == (None, "answered")
    assert {one.verdict for one in report.sentences} == {VerdictState.DONE}
    assert {one.reason for one in report.sentences} == {"a tool reported that it was done"}
    assert (report.standing, report.doubt) == ("supported", None)
    assert "Created the reminder “Book the ferry” (book-the-ferry): 20" in report.answer
    assert report.answer.endswith("book-the-ferry is stopped.")
    kinds = {one.kind: one for one in found}
    assert [one.kind for one in found].count("remind") == 1  # the timer; the other was stopped
    assert kinds["ask"].options["model"].startswith("scripted:")
    assert not {"allow_tasks", "data_dir"} & kinds["ask"].options.keys()
    assert kinds["ask"].notify == kinds["remind"].notify != ()
    assert kinds["remind"].at - kinds["remind"].since == timedelta(minutes=90)
    assert watched[0].every == "every 15 minutes"
    assert 0 < (watched[0].until - watched[0].created).total_seconds() - 360 * 60 <= 30
    assert len(results[6]["data"]["tasks"]) == 3
    assert "research worker" in results[0]["data"]["note"]
    assert "no schedule none" in results[5]["data"]["error"]


async def test_task_tools_are_not_offered_without_permission(run_with_tasks):
    _, results, offered, found, _ = await run_with_tasks(TASK_CALLS, allow_tasks=None)
    assert not {"SCHEDULE_TASK", "REMIND_ME", "SET_TIMER", "MONITOR", "LIST", "STOP"} & {*offered}
    assert found == []
    assert all("error" in result["data"] for result in results)


@pytest.mark.parametrize("says", [None, True])
async def test_creating_task_after_reading_page_requires_approval(run_with_tasks, site, says):
    asked = []

    async def approve(effect):
        asked.append(effect)
        return says

    report, _, _, found, _ = await run_with_tasks(
        f"<<TOOL:READ:{site.url}/hesk-light>>",
        '<<TOOL:REMIND_ME:{"text":"Buy a press","when":"tomorrow at 9:30"}>>',
        question=f"What is told at {site.url}/hesk-light ?",
        approve=approve if says else None,
    )
    assert len(found) == len(asked) == bool(says)
    if says:
        assert "Buy a press" in asked[0]
    else:
        assert report.error.type == "NeedsUser"


async def test_recalled_web_memory_allows_reminder_but_not_scheduled_run(run_with_tasks, tmp_path):
    with Memory.open(tmp_path / "memory.db") as memory:
        web = Origin(url="https://hesk.example/", trusted=False)
        memory.add("Hesk Light is closed on Mondays.", "fact", origin=web)
        _, results, _, found, _ = await run_with_tasks(
            '<<TOOL:REMIND_ME:{"text":"Visit Hesk Light","when":"tomorrow at 9:30"}>>'
            '<<TOOL:SET_GOAL:{"project":"Hesk","goals":["visit"]}>>'
            '<<TOOL:SCHEDULE_TASK:{"task":"Is Hesk Light open?","when":"every day"}>>',
            memory=memory,
        )
        assert list(memory.values("project")) == ["Hesk"]
    assert [one.kind for one in found] == ["remind"]
    assert ["error" in result["data"] for result in results] == [False, False, True]


async def test_private_content_cannot_become_scheduled_question(run_with_tasks, tmp_path):
    (tmp_path / "diary.txt").write_text("The password of the boathouse is quillwort-77.")
    _, results, _, found, _ = await run_with_tasks(
        '<<TOOL:SCHEDULE_TASK:{"task":"What is quillwort-77?","when":"every day"}>>',
        '<<TOOL:MONITOR:{"target":"https://away.example/?q=quillwort-77"}>>',
        file=[str(tmp_path / "diary.txt")],
        approve=None,
    )
    assert found == []
    assert all("was not run" in result["data"]["error"] for result in results)


async def test_reminder_is_delivered_to_feed_and_channel(harness, tmp_path, monkeypatch):
    api = BotApi()
    async with served(api.app) as url:
        row = f'[channels.telegram]\nurl = "{url}"\nallow = ["{ANN}"]\n'
        await asyncio.to_thread((tmp_path / "config.toml").write_text, row)
        feed = tmp_path / "told.xml"
        job = harness.jobs.add(
            "Book the ferry", kind="remind", notify=[f"feed:{feed}", f"telegram:{ANN}"]
        )
        for name, value in ENV.items():
            monkeypatch.setenv(name, value)
        async with harness.working(senders=channel_senders):
            [done] = await harness.ended(job)
    assert (done.state, done.undelivered) == ("done", ())
    assert api.texts() == ["Book the ferry"]
    assert "Book the ferry" in await asyncio.to_thread(feed.read_text)


def test_monitor_with_end_time_stops_and_can_be_removed(harness):
    ends = datetime.now(UTC) + timedelta(hours=6, seconds=30)
    made = Monitors(harness.jobs).add("Who keeps the light?", until=ends)
    [schedule] = Monitors(harness.jobs).schedules.all()
    assert len(list(schedule.times(schedule.since))) == 24
    fire_due(harness.jobs, ends + timedelta(minutes=1))
    assert Monitors(harness.jobs).schedules.all() == []
    Monitors(harness.jobs).remove(made.name)
    assert Monitors(harness.jobs).all() == []
