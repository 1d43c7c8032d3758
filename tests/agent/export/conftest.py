"""A finished run to export, and a way to export it."""

from __future__ import annotations

import json
import shutil

import pytest

from agent import research
from agent.export import export
from agent.journal.runs import RunFolder, Runs


@pytest.fixture(scope="session")
async def recorded(site, tmp_path_factory):
    """One run for all tests: it searched, read a page, took a screenshot and answered."""
    folder = tmp_path_factory.mktemp("recorded")
    replies = (
        "<<THINK>>search first<</THINK>><<TOOL:WEB_SEARCH:Hesk Light>>",
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>><<TOOL:OPEN:{site.url}/museum>>',
        "<<TOOL:SCREENSHOT>>",
        "It was first lit on 1 November 1829. [S1] Visitors are fond of it. [S1]",
    )
    script = folder / "script.jsonl"
    script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    report = await research(
        "When was Hesk Light first lit?",
        model=f"scripted:{script}",
        search=["searxng"],
        searxng_url=site.url,
        data_dir=folder / "data",
        memory=False,
    )
    return Runs(folder / "data").find(report.run)


@pytest.fixture
def finished(recorded, tmp_path):
    """A copy of that run, which the test may change."""
    target = tmp_path / "data" / "runs" / recorded.id
    shutil.copytree(recorded.path, target)
    return RunFolder(target)


@pytest.fixture
def written(finished, tmp_path):
    """Export the run under a name; returns the bytes."""

    def write(name):
        export(finished.path, tmp_path / name)
        return (tmp_path / name).read_bytes()

    return write
