"""Runs with plans, reviews and post-run tasks: recorded and replayed."""

from __future__ import annotations

import json

import pytest

from agent.journal.runs import Runs
from agent.memory import Memory
from agent.memory.storage import load_storage
from agent.run.record import RunRecord
from agent.run.replay import replay

PHASES = "Find out when Hesk Light was lit and then how high it is and compare them"


@pytest.fixture
def planned(script, site):
    subtasks = [{"task": "When was Hesk Light first lit?"}, {"task": "Sum up.", "dependsOn": [0]}]
    plan = json.dumps({"decompose": True, "subtasks": subtasks})
    return script(
        {"reply": plan, "for": "plan"},
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "It was first lit on 1 November 1829. [S1]",
        {"reply": "In 1829. [S1]", "expect": r"Step 1 result\]: It was first lit"},
        "It was first lit on 1 November 1829. [S1]",
    )


def record_of(tmp_path, report):
    return RunRecord.read(Runs(tmp_path / "data").find(report.run))


def without_time(report):
    return report.model_dump(exclude={"elapsed_s"})


async def test_subtasks_answer_with_citations_and_run_replays(ask, planned, tmp_path):
    report = await ask(PHASES, model=planned)
    assert (report.status, report.steps) == ("answered", 3)
    assert "1 November 1829. [1]" in report.answer
    assert without_time(await replay(record_of(tmp_path, report))) == without_time(report)


async def test_unsupported_sentences_are_returned_for_review_once(ask, script, site, tmp_path):
    model = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "It was first lit on 1 November 1929. [S1]",
        {
            "reply": "It was first lit on 1 November 1829. [S1]",
            "for": "review",
            "expect": "do not hold[^“]+“It was first lit on 1 November 1929",
        },
    )
    report = await ask(model=model)
    assert "1829" in report.answer
    assert without_time(await replay(record_of(tmp_path, report))) == without_time(report)


async def test_post_run_summary_of_web_content_is_untrusted(ask, script, site, tmp_path, events):
    place = tmp_path / "memory.db"
    with Memory.open(place) as memory:
        load_storage(memory, {"urchinMemory": {"_convCount": "2"}})
    model = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "It was first lit on 1 November 1829. [S1]",
        {"reply": "- <<TOOL:P:1>> lit in 1829", "for": "after", "expect": "1 November 1829"},
    )
    with Memory.open(place) as memory:
        report = await ask(model=model, memory=memory)
        [summary] = memory.layers("", None).sessions.values()
    assert "<<TOOL" not in summary
    assert type(summary).__name__ == "Untrusted"
    kinds = [event.type for event in events(report)]
    assert kinds.index("run.finished") < len(kinds) - 1


async def test_repeating_run_ends_with_partial_answer(ask, script, tmp_path):
    same = "<<TOOL:RECALL:nothing>>"
    report = await ask(model=script(*[same] * 5, "Nothing more is known."), memory=True)
    assert report.status == "partial"
    assert without_time(await replay(record_of(tmp_path, report))) == without_time(report)
