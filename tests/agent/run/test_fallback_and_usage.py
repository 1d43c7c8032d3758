"""Fallback models, the usage ledger, feedback on a run, and previews."""

from __future__ import annotations

import re

from agent.config import load_options
from agent.journal.runs import Runs
from agent.journal.usage import total, usage
from agent.memory import Memory
from agent.memory.storage import load_storage
from agent.run.conversation_jobs import feedback
from agent.run.preview import preview


async def test_fallback_model_answers_when_first_is_unreachable(ask, script, site, events):
    answering = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "It was first lit on 1 November 1829. [S1]",
    )
    # A port that was never open: the connection is refused, again after each retry.
    report = await ask(model="gone", base_url="http://127.0.0.1:9/v1", fallback=[answering])
    assert report.status == "answered"
    notes = [event.data["text"] for event in events(report) if event.type == "note"]
    assert any("gone failed" in note for note in notes)


async def test_usage_is_summed_over_runs(ask, tmp_path):
    await ask()
    await ask()
    [line] = usage(Runs(tmp_path / "data"))
    assert line.model == "extractive"
    assert line.calls >= 4
    assert (total([line, line]).calls, total([]).usd) == (2 * line.calls, 0)


def test_feedback_changes_scores_of_given_skills_only():
    with Memory.open(":memory:") as memory:
        skills = [{"name": "a", "instruction": "x", "score": 60}, {"name": "b", "score": 60}]
        load_storage(memory, {"urchinSkills": skills})
        assert feedback(memory, ["a"], "up") == {"a": 72}
        assert feedback(memory, ["a"], "down") == {"a": 54}
        [first, second] = memory.skills()
        assert (first["feedbackCount"], second["score"]) == (2, 60)


def test_preview_shows_prompt_plan_and_cost():
    settings = load_options({"model": "openai/gpt-4o"})
    ahead = preview("Look at one and then at two and compare", settings, {})
    assert "\nmodel    openai/gpt-4o\nplan     asked for first\n" in ahead
    [offered] = [line for line in ahead.splitlines() if line.startswith("offered  ")]
    assert "WEB_SEARCH" in offered
    assert "<<TOOL" not in ahead
    [cost] = re.findall(r"^likely .* about \$(\S+)$", ahead, re.MULTILINE)
    assert 0 < float(cost) < 1


def test_preview_of_extractive_model_is_free():
    ahead = preview("When?", load_options({}), {})
    assert "\nmodel    extractive\nplan     none: a single loop\n" in ahead
    assert "free, or price unknown" in ahead
    prompt = ahead.partition("\nmodel ")[0]
    assert "WEB_SEARCH" in prompt
