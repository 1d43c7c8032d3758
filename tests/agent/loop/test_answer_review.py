"""What the answer review sends back, what it does not, and what remains of the first answer."""

from __future__ import annotations

import pytest

from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.run.replay import replay

LIT = "It was first lit on 1 November 1829."
TOWER = "The granite tower is 34 metres high and has 166 steps."
FREE = "The lighthouse that Gideon Thorsby planned has shone since 1829."


@pytest.fixture
def answered(ask, script, site):
    """Run a script that reads the page and then gives these replies."""

    async def run(*replies):
        return await ask(model=script(f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>', *replies))

    return run


def said(events, report):
    return [event.data["said"] for event in events(report) if event.type == "review"]


async def test_wrong_value_is_returned_with_page_wording(answered, events):
    wrong = LIT.replace("1829", "1929")
    report = await answered(f"{wrong} [S1]", {"reply": f"{LIT} [S1]", "for": "review"})
    [told] = said(events, report)
    assert wrong in told
    assert "the page says “1829” instead" in told
    assert LIT in told
    assert report.answer == f"{LIT} [1]"


@pytest.mark.parametrize(
    "answer",
    [
        f"{FREE} [S1]",
        f"{LIT} [S1] I found no figure for its height.",
        "A light that nobody doubts. [S1]",
    ],
)
async def test_undecided_sentence_is_not_returned_for_review(answered, events, answer):
    report = await answered(answer, {"reply": "never asked", "for": "review", "expect": "never"})
    assert said(events, report) == []
    assert report.status == "answered"


async def test_sentence_refuted_by_judge_is_returned_for_review(answered, events):
    report = await answered(
        f"{FREE} [S1]",
        {
            "reply": '1: contradicted "It was first lit on 1 November 1829."\nanswer: fully',
            "for": "judge",
        },
        {"reply": f"{LIT} [S1]", "for": "review"},
        {"reply": "answer: fully", "for": "judge"},
    )
    [told] = said(events, report)
    assert "the passages say otherwise: “It was first lit on 1 November 1829.”" in told


async def test_nonexistent_citation_is_returned_for_review(answered, events):
    report = await answered(
        "It is loved by all gulls. [S7¶3]", {"reply": f"{LIT} [S1]", "for": "review"}
    )
    assert "S7¶3" in said(events, report)[0]


@pytest.mark.parametrize("second", [f"{LIT} [S1]", "NOT_FOUND nothing remains"])
async def test_supported_sentence_survives_failed_revision(answered, tmp_path, second):
    wrong = LIT.replace("1829", "1929")
    report = await answered(f"{TOWER} [S1] {wrong} [S1]", {"reply": second, "for": "review"})
    assert report.status == "answered"
    assert TOWER in [sentence.text for sentence in report.sentences]
    again = await replay(RunRecord.read(Runs(tmp_path / "data").find(report.run)))
    assert again.model_dump(exclude={"elapsed_s"}) == report.model_dump(exclude={"elapsed_s"})


async def test_judge_rating_of_answer_sets_confidence(answered):
    verdict = '1: supported "It was first lit on 1 November 1829."\nanswer: {}'
    fully, no = [
        await answered(f"{FREE} [S1]", {"reply": verdict.format(word), "for": "judge"})
        for word in ("fully", "no")
    ]
    assert fully.confidence > 0.6 > 0.4 > no.confidence
    assert fully.confidence_parts.answers == "fully"
