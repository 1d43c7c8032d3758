"""Where sources disagree, and what the confidence is made of, in what people read."""

from __future__ import annotations

import pytest

from agent import research
from agent.cli.render import print_report
from agent.export import export
from agent.journal.runs import Runs

FIRST = "# Quell Light\n\nQuell Light was completed on 1 November 1829. It is 31 metres high."
SECOND = "# Quell Light\n\nQuell Light was completed on 4 March 1831. It stands on Quell Head."


@pytest.fixture
async def disputed(tmp_path):
    """A keyless run over two files that give two dates."""
    web = tmp_path / "web"
    web.mkdir()
    (web / "first.md").write_text(FIRST)
    (web / "second.md").write_text(SECOND)
    report = await research(
        "When was Quell Light completed?",
        model="extractive",
        corpus=str(web),
        search=["corpus"],
        data_dir=tmp_path / "data",
        memory=False,
    )
    return report, Runs(tmp_path / "data").find(report.run)


async def test_the_report_names_the_source_that_says_otherwise(disputed):
    report, _ = disputed
    [conflict] = report.conflicts
    said = {quote for source in report.sources for quote in source.quotes}
    assert conflict.quote in said
    assert conflict.source not in conflict.citations
    assert report.confidence_parts.agreement < 1


@pytest.mark.parametrize("name", ["run.md", "run.html", "run.json"])
async def test_exports_show_where_sources_disagree(disputed, tmp_path, name):
    report, folder = disputed
    export(folder.path, tmp_path / name)
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert "disagree" in text or name.endswith("json")
    assert report.conflicts[0].quote in text
    assert "sources agree by" in text or name.endswith("json")


async def test_the_terminal_shows_where_sources_disagree(disputed, capsys):
    report, _ = disputed
    print_report(report)
    shown = capsys.readouterr().out
    assert "Sources disagree:" in shown
    assert report.conflicts[0].quote in shown
    assert "one site, sources agree by" in shown
