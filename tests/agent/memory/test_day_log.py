"""Runs write a wiki's daily log if the user wants it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.memory import Memory
from agent.memory.wiki_sync import sync_wiki
from agent.wiki import Wiki


@pytest.fixture
def wiki(tmp_path):
    (tmp_path / "wiki").mkdir()
    return Wiki(tmp_path / "wiki", clock=lambda: datetime(2026, 5, 6, 7, 8, tzinfo=UTC))


def test_run_is_logged_once_and_web_text_is_inert(wiki):
    said = "answered: see [[index]] <script>\n# Heading"
    assert wiki.log_run("r1", "When?", said) == ["sessions/2026-05-06.md"]
    assert wiki.log_run("r1", "When?", said) == []
    text = wiki.read_file("sessions/2026-05-06.md")
    assert "- 07:08 When? (r1)\n  > answered: see [ [index]] &lt;script> # Heading\n" in text
    assert [f for f in wiki.lint() if f.path.startswith("sessions")] == []
    assert [f.path for f in wiki.search("heading", 5, "sessions")] == ["sessions/2026-05-06.md"]


def test_log_is_not_imported_as_user_text(wiki, tmp_path):
    wiki.log_run("r1", "When?", "answered: the moon is cheese")
    with Memory.open(":memory:") as memory:
        sync_wiki(memory, tmp_path / "wiki")
        assert memory.search("moon cheese") == []


@pytest.mark.parametrize("on", [True, False])
async def test_runs_write_day_log_only_when_enabled(ask, script, site, tmp_path, wiki, on):
    model = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "It was first lit on 1 November 1829. [S1]",
    )
    report = await ask(model=model, memory=True, wiki=tmp_path / "wiki", wiki_rules={"day_log": on})
    days = [f for f in wiki.list_files() if f.startswith("sessions/")]
    assert len(days) == on
    for day in days:
        text = wiki.read_file(day)
        line = f"({report.run})\n  > answered, not verified: It was first lit on 1 November 1829"
        assert line in text


async def test_unwritable_log_is_reported_without_failing_run(
    ask, script, site, tmp_path, wiki, events
):
    (tmp_path / "wiki" / "sessions").write_text("in the way")
    model = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "It was first lit on 1 November 1829. [S1]",
    )
    report = await ask(
        model=model, memory=True, wiki=tmp_path / "wiki", wiki_rules={"day_log": True}
    )
    assert report.status == "answered"
    kinds = [e.type for e in events(report)]
    assert kinds[-1] == "run.settled"
    assert any("daily log was not written" in e.data.get("text", "") for e in events(report))
