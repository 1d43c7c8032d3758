"""Failures that were once silent or misleading say what happened and what to do."""

from __future__ import annotations

import json

import pytest

QUESTION = "When was Hesk Light first lit?"


def test_run_without_answer_is_listed_without_confidence(run, failed):
    [line] = run("runs").stdout.splitlines()
    assert line.startswith(failed)
    assert "0.00" not in line


def test_run_and_show_name_the_limit_that_ended_the_run(run, web, script, site):
    model = script(f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>', "It was lit in 1829. [S1]")
    done = run(QUESTION, "-q", "--max-steps", "1", "--model", model, *web)
    assert done.returncode == 5
    assert "step limit (--max-steps" in done.stdout
    assert "step limit (--max-steps" in run("show").stdout


def test_rules_that_exclude_all_search_providers_are_named(run, script, site):
    model = script("<<TOOL:WEB_SEARCH:x>>", "NOT_FOUND")
    done = run(QUESTION, "-q", "--model", model, "--search", "duckduckgo,brave", "--no-memory",
               "--allow", "example.org")  # fmt: skip
    assert done.returncode == 6
    assert "all 2 search providers are refusing requests" in done.stderr
    assert "--allow" in done.stderr


@pytest.fixture
def failed(run):
    """The id of a run that failed."""
    done = run(QUESTION, "--json", "--model", "groq/any", "--no-memory")
    return json.loads(done.stdout)["run"]


def test_show_and_export_report_why_a_run_failed(run, failed, tmp_path):
    assert "GROQ_API_KEY is not set" in run("show", failed).stderr
    done = run("export", failed, str(tmp_path / "a.bib"), str(tmp_path / "a.md"))
    assert done.returncode == 3
    assert "a.bib was not written: the run failed: groq" in done.stderr
    assert not (tmp_path / "a.bib").exists()
    assert done.stdout == f"wrote {tmp_path / 'a.md'}\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([QUESTION, "--storage-state", "nowhere.json"], "does not exist"),
        ([QUESTION, "--allow-private", "http://127.0.0.1:80/x"], "must be a host such as"),
        ([QUESTION, "--allow", "10.0.0.0/8"], "must be a host such as"),
        ([QUESTION, "--json", "--events"], "Use only one"),
        ([QUESTION, "--export", "nowhere/a.md"], "the folder nowhere does not exist"),
        (["config", "set", "model", "nope"], "unknown model"),
        (["runs", "-n", "-3"], "range"),
        (["serve", "--port", "99999"], "0<=x<=65535"),
        (["mcp", "serve", "--http", "--port", "-1"], "0<=x<=65535"),
        (["chrome", "--port", "99999"], "0<=x<=65535"),
        (["runs", "-n", "9" * 20], "range"),
        (["runs", "rm", "--keep", "1000000000000"], "range"),
        ([QUESTION, "--keep-days", "1000000000000"], "keep-days"),
        (["memory", "dream", "--seconds", "nan"], "not a number"),
        (["serve", "--at-once", "0"], "range"),
        ([QUESTION, "--mcp-config", "nowhere.json"], "does not exist"),
        ([QUESTION, "--wiki", __file__], "is a file"),
        ([QUESTION, "--file", "/dev/null"], "cannot read the file"),
        (["batch", __file__, "--out", f"{__file__}/below"], "Not a directory"),
    ],
)
def test_invalid_arguments_exit_2_with_reason(run, args, said):
    done = run(*args)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert done.stdout == ""
