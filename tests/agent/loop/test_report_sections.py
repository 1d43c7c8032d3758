"""Reports: an outline, parallel sections, and the text around them."""

from __future__ import annotations

import json

import pytest

from agent.errors import ReplayDiverged
from agent.journal.runs import Runs
from agent.loop.report_sections import Section, put_together, read_outline
from agent.models.base import ModelReply
from agent.run.record import RunRecord
from agent.run.replay import replay

QUESTION = "Tell me about the two lights."
OUTLINE = json.dumps(
    {
        "sections": [
            {"heading": "Hesk Light", "task": "When was Hesk Light first lit?"},
            {"heading": "Marrow Point Light", "task": "When was Marrow Point Light first lit?"},
            {"heading": "The third", "task": "Where is the third light?"},
        ]
    }
)
CLOSING = """## Summary
It was first lit on 1 November 1829. [S1001]

## What is contested
None.

## What is not known
- Who paid for them."""


@pytest.fixture
def writer(answering, site):
    """A model that writes a report of two sections, and finds nothing for the third."""

    def read(page: str) -> str:
        return f'<<TOOL:READ:{{"url":"{site.url}/{page}"}}>>'

    return answering(
        {
            r"You plan a research report": OUTLINE,
            r"You decide whether an answer": "answer: fully",
            r"You check claims.*1929": '1: contradicted "first lit on 1 November 1829"',
            r"answered by these sections": CLOSING,
            r"do not hold": "It was first lit on 1 November 1829. [S1001]",
            r"source\":\"S1001\"": "It was first lit on 1 November 1929. [S1001]",
            r"source\":\"S2001\"": "It was lit in 1851. [S2001]",
            r"section “Hesk Light”": read("hesk-light"),
            r"section “Marrow Point Light”": read("marrow-point-light"),
            r"section “The third”": "NOT_FOUND Nothing was tried.",
        }
    )


async def test_sections_keep_citations_and_follow_outline_order(ask, writer):
    report = await ask(QUESTION, model=writer, report=True)
    headings = [line for line in report.answer.splitlines() if line.startswith("#")]
    assert headings == [
        *("## Summary", "## Hesk Light", "## Marrow Point Light", "## What is not known")
    ]
    assert report.status == "answered"
    assert {s.verdict.value for s in report.sentences} == {"supported"}
    assert [source.url.rpartition("/")[2] for source in report.sources] == [
        *("hesk-light", "marrow-point-light")
    ]


async def test_wrong_section_is_fixed_before_report_is_assembled(ask, writer):
    report = await ask(QUESTION, model=writer, report=True)
    assert "1829" in report.answer
    assert "1929" not in report.answer


async def test_judge_gets_all_sections_in_one_request_without_repeated_passages(
    ask, answering, site, events
):
    read = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    model = answering(
        {
            r"You plan a research report": OUTLINE,
            r"answered by these sections": "NOT_FOUND",
            r"You check claims": '1: supported "1829"\n2: supported "1829"',
            r"source\":\"S1001\"": "The light was first lit in that year. [S1001¶2]",
            r"source\":\"S2001\"": "It has been lit since then. [S2001¶2]",
            r"section “Hesk Light”": read,
            r"section “Marrow Point Light”": read,
            r"section “The third”": "NOT_FOUND Nothing was tried.",
        }
    )
    report = await ask(QUESTION, model=model, report=True)
    asked = [e for e in events(report) if e.type == "model.request" and "judge" in e.place]
    sections = [e for e in asked if e.place.startswith("judge/1-2")]
    assert len(sections) == 1
    request = sections[0].data["messages"][0]["content"]
    assert request.count("Claim ") == 2
    assert request.count("\nS1001¶2 ") == 1
    assert "S2001" not in request


async def test_unknowns_are_listed_and_are_not_claims(ask, writer):
    report = await ask(QUESTION, model=writer, report=True)
    unknown = report.answer.partition("## What is not known")[2]
    assert "Who paid for them." in unknown
    assert "The third: nothing was found." in unknown
    assert not any("paid" in sentence.text for sentence in report.sentences)


async def test_a_report_replays_byte_for_byte(ask, writer, tmp_path):
    report = await ask(QUESTION, model=writer, report=True)
    record = RunRecord.read(Runs(tmp_path / "data").find(report.run))
    again = await replay(record)
    assert again.model_dump(exclude={"elapsed_s"}) == report.model_dump(exclude={"elapsed_s"})


async def test_replay_fails_when_summary_request_differs(ask, writer, tmp_path):
    report = await ask(QUESTION, model=writer, report=True)
    record = RunRecord.read(Runs(tmp_path / "data").find(report.run))
    record.replies["1/2"] = ModelReply("It was first lit on 1 November 1828. [S1001]")
    with pytest.raises(ReplayDiverged):
        await replay(record)


async def test_extractive_model_declines_to_write_report(ask):
    report = await ask("Hesk Light and Marrow Point Light", report=True)
    assert report.status == "not_found"
    assert "report" in report.answer


async def test_unreadable_outline_falls_back_to_plain_answer(ask, answering, site):
    model = answering(
        {
            r"You plan a research report": "I would rather not.",
            r"You decide whether an answer": "answer: fully",
            r"source\":\"S1\"": "It was first lit on 1 November 1829. [S1]",
            r"Tell me": f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        }
    )
    report = await ask(QUESTION, model=model, report=True)
    assert report.answer == "It was first lit on 1 November 1829. [1]"


def test_outline_needs_two_sections_and_drops_duplicate_headings():
    def row(heading: str) -> dict[str, str]:
        return {"heading": heading, "task": "t"}

    assert read_outline(json.dumps({"sections": [row("a")]}), 4) == []
    rows = [row("a"), row("A"), {"heading": "x"}, row("b"), row("c")]
    assert [s.heading for s in read_outline(json.dumps({"sections": rows}), 2)] == ["a", "b"]


def test_frame_without_headings_becomes_summary_and_none_is_dropped():
    text = put_together([Section("A", text="## own\nx")], "In short.")
    assert text == "## Summary\n\nIn short.\n\n## A\n\n### own\nx"
    framed = put_together([Section("A", text="x")], "## What is contested\nNone.")
    assert framed == "## A\n\nx"


def test_report_without_any_section_is_not_found():
    assert put_together([Section("A", text="NOT_FOUND no")], "").startswith("NOT_FOUND")
