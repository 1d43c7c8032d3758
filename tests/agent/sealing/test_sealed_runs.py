"""Run results are sealed automatically, by category."""

from __future__ import annotations

import hashlib

import pytest

from agent.memory import Memory
from agent.memory.sealed_log import SealedLog, category_of, seal_run
from agent.types import Report

LIT = "It was first lit on 1 November 1829. [S1]"


@pytest.mark.parametrize(
    ("limits", "sealed"), [({}, ["milestone"]), ({"sealed": "incident decision"}, [])]
)
async def test_run_is_sealed_by_configured_keywords(ask, script, site, tmp_path, limits, sealed):
    model = script(f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>', LIT)
    report = await ask(model=model, memory=True, limits=limits)
    with Memory.open(next(tmp_path.rglob("memory.db"))) as memory:
        entries = SealedLog(memory).entries()
        assert [entry.category for entry in entries] == sealed
        digest = hashlib.sha256(f"{report.question}\n{report.answer}".encode()).hexdigest()
        assert all(e.content == f"run {report.run} answered: sha256 {digest}" for e in entries)
        assert seal_run(memory, report) is None or not sealed
        assert not any("1829" in entry.content for entry in entries)


def test_keywords_match_whole_words_and_only_failures_are_incidents():
    def category(answer, status="answered"):
        return category_of(
            Report(run="r1", question="Is the lamp down?", status=status, answer=answer)
        )

    assert category("They deliver tokens.") is None
    assert category("The keeper switched it off.") == "decision"
    assert category("", "failed") == "incident"
