"""`research verify`, as a user runs it."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def finished_run(run, web, answering, tmp_path):
    """Make a finished run in the data folder; returns its id."""
    done = run("--json", "When was Hesk Light first lit?", "--model", answering, *web)
    return json.loads(done.stdout)["run"]


def test_verify_accepts_run_and_archive_and_detects_changed_report(run, finished_run, tmp_path):
    assert "is verified:" in run("verify", finished_run).stdout
    target = tmp_path / "run.zip"
    run("export", finished_run, str(target))
    done = run("verify", str(target), RESEARCH_DATA_DIR=str(tmp_path / "elsewhere"))
    assert (done.returncode, "is verified:" in done.stdout) == (0, True)

    report = tmp_path / "data" / "runs" / finished_run / "report.json"
    report.write_text(report.read_text().replace("1829", "1830", 1))
    done = run("verify", finished_run)
    assert done.returncode == 8
    assert "report.json:" in done.stdout
    assert "1 error" in done.stderr


def test_head_is_printed_and_checked_with_against(run, finished_run):
    head = run("verify", finished_run, "--head").stdout.strip()
    assert len(head) == 64
    assert run("verify", finished_run, "--against", head).returncode == 0
    assert run("verify", finished_run, "--against", "0" * 64).returncode == 8


def test_verification_errors_are_printed_as_json(run, finished_run, tmp_path):
    (tmp_path / "data" / "runs" / finished_run / "report.json").write_text("{}")
    done = run("verify", finished_run, "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["ok"]) == (8, False)
    assert found["flaws"][0]["where"] == "report.json:1"


def test_invalid_archive_exits_8_and_missing_one_exits_2(run, tmp_path):
    (tmp_path / "a.zip").write_text("no archive")
    done = run("verify", str(tmp_path / "a.zip"))
    assert (done.returncode, "Traceback" in done.stderr) == (8, False)
    assert run("verify", str(tmp_path / "b.zip")).returncode == 2
