"""`research diff` and `research replay FILE.zip`, as a user runs them."""

from __future__ import annotations

import json

import pytest

QUESTION = "When was Hesk Light first lit?"


@pytest.fixture
def scripted_run(run, web, script):
    """Run a script of replies; returns the run's id."""

    def running(*replies):
        return json.loads(run("--json", QUESTION, "--model", script(*replies), *web).stdout)["run"]

    return running


def test_different_answers_are_shown_side_by_side(scripted_run, run, site):
    light = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    museum = f'<<TOOL:READ:{{"url":"{site.url}/museum"}}>>'
    first = scripted_run(light, "It was first lit on 1 November 1829. [S1]")
    second = scripted_run(light, museum, "It was first lit in 1829. [S1]")
    done = run("diff", first, second, COLUMNS="160")
    assert done.returncode == 8
    rows = done.stdout.splitlines()
    assert any("1 November" in row and "≠" in row and "in 1829" in row for row in rows)
    assert any("hesk-light" in row and " = " in row for row in rows)
    assert any("/museum" in row and " > " in row for row in rows)

    found = json.loads(run("diff", first, second, "--json").stdout)
    assert found["same_answer"] is False
    assert [pair[0] is None for pair in found["steps"]] == [False, True]


def test_same_answers_exit_0_even_from_an_archive(scripted_run, run, site, tmp_path):
    light = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    first, second = (
        scripted_run(light, "It was first lit on 1 November 1829. [S1]") for _ in range(2)
    )
    archive = str(tmp_path / "first.zip")
    run("export", first, archive)
    run("runs", "rm", first)
    done = run("diff", archive, second)
    assert (done.returncode, done.stderr) == (0, "")


def test_archive_replays_on_another_machine(scripted_run, run, site, tmp_path):
    light = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    first = scripted_run(light, "It was first lit on 1 November 1829. [S1]")
    archive = str(tmp_path / "first.zip")
    run("export", first, archive)
    elsewhere = str(tmp_path / "elsewhere")
    done = run("replay", archive, "--assert", "--json", RESEARCH_DATA_DIR=elsewhere)
    assert done.returncode == 0
    assert json.loads(done.stdout)["run"] == first
    (tmp_path / "bad.zip").write_bytes(b"PK")
    assert run("replay", str(tmp_path / "bad.zip")).returncode == 8
