"""Commands work with an archive on a machine that never saw the run."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def elsewhere(run, web, answering, tmp_path):
    """Make a run, pack it, and run commands on a machine that has only the archive."""
    run("When?", "--model", answering, "--export", str(tmp_path / "a.zip"), *web)

    def running(*args):
        return run(*args, RESEARCH_DATA_DIR=str(tmp_path / "elsewhere"))

    return running


def test_archive_is_shown_and_exported_on_another_machine(elsewhere, tmp_path):
    archive = str(tmp_path / "a.zip")
    assert "first lit on 1 November 1829" in elsewhere("show", archive).stdout
    assert "READ" in elsewhere("show", archive, "--steps").stdout
    report = json.loads(elsewhere("show", archive, "--json").stdout)
    files = [str(tmp_path / f"out{end}") for end in (".md", ".html", ".bib", ".warc.gz", ".zip")]
    assert elsewhere("export", archive, *files).returncode == 0
    assert report["sources"][0]["url"] in (tmp_path / "out.md").read_text()
    assert (tmp_path / "out.zip").read_bytes() == (tmp_path / "a.zip").read_bytes()


def test_archive_is_verified_replayed_and_diffed_on_another_machine(elsewhere, tmp_path):
    archive = str(tmp_path / "a.zip")
    assert elsewhere("verify", archive).returncode == 0
    assert elsewhere("replay", archive, "--assert").returncode == 0
    assert elsewhere("diff", archive, archive).returncode == 0


def test_missing_archive_exits_2(run):
    done = run("show", "none.zip")
    assert done.returncode == 2
    assert "cannot read none.zip" in done.stderr
