"""`research verify`, as a user runs it."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def kept(run, web, answering, tmp_path):
    """Make a finished run in the data folder; returns its id."""
    done = run("--json", "When was Hesk Light first lit?", "--model", answering, *web)
    return json.loads(done.stdout)["run"]


def test_a_run_and_its_archive_hold_and_one_changed_character_does_not(run, kept, tmp_path):
    assert "is verified:" in run("verify", kept).stdout
    target = tmp_path / "run.zip"
    run("export", kept, str(target))
    done = run("verify", str(target), RESEARCH_DATA_DIR=str(tmp_path / "elsewhere"))
    assert (done.returncode, "is verified:" in done.stdout) == (0, True)

    report = tmp_path / "data" / "runs" / kept / "report.json"
    report.write_text(report.read_text().replace("1829", "1830", 1))
    done = run("verify", kept)
    assert done.returncode == 8
    assert "report.json:" in done.stdout
    assert "1 error" in done.stderr


def test_the_head_is_printed_and_checked_against(run, kept):
    head = run("verify", kept, "--head").stdout.strip()
    assert len(head) == 64
    assert run("verify", kept, "--against", head).returncode == 0
    assert run("verify", kept, "--against", "0" * 64).returncode == 8


def test_what_is_wrong_comes_as_json(run, kept, tmp_path):
    (tmp_path / "data" / "runs" / kept / "report.json").write_text("{}")
    done = run("verify", kept, "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["ok"]) == (8, False)
    assert found["flaws"][0]["where"] == "report.json:1"


def test_a_file_that_is_no_archive_exits_8_and_one_that_is_not_there_2(run, tmp_path):
    (tmp_path / "a.zip").write_text("no archive")
    done = run("verify", str(tmp_path / "a.zip"))
    assert (done.returncode, "Traceback" in done.stderr) == (8, False)
    assert run("verify", str(tmp_path / "b.zip")).returncode == 2
