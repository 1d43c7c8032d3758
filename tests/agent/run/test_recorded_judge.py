"""The judge in a run: asked once about what code leaves open, recorded, and replayed."""

from __future__ import annotations

import pytest

from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.run.replay import replay

CLAIM = "The lighthouse that Gideon Thorsby planned has shone since 1829."


@pytest.fixture
def judged(ask, script, site):
    """Run a script whose judge gives this verdict."""

    async def run(verdict):
        model = script(
            f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
            f"{CLAIM} [S1]",
            {"reply": verdict, "for": "judge"},
        )
        return await ask(model=model)

    return run


@pytest.mark.parametrize("verdict", ["supported", "contradicted", "undecided"])
async def test_claim_left_open_by_code_is_decided_by_judge(judged, verdict):
    report = await judged(f'1: {verdict} "It was first lit on 1 November 1829."')
    [sentence] = report.sentences
    assert (sentence.verdict.value, sentence.decided_by) == (verdict, "judge")
    assert report.usage.model_calls == 3


async def test_a_judged_run_replays_to_the_same_report(judged, tmp_path):
    report = await judged('1: supported "It was first lit on 1 November 1829."')
    again = await replay(RunRecord.read(Runs(tmp_path / "data").find(report.run)))
    assert again.model_dump(exclude={"elapsed_s"}) == report.model_dump(exclude={"elapsed_s"})


async def test_failed_judge_leaves_sentence_undecided(ask, script, site, tmp_path):
    judge = tmp_path / "judge.jsonl"
    judge.write_text('{"reply": "x", "expect": "never said", "for": "judge"}\n')
    model = script(f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>', f"{CLAIM} [S1]")
    report = await ask(model=model, judge=f"scripted:{judge}")
    assert report.status == "answered"
    assert report.sentences[0].verdict.value == "undecided"
