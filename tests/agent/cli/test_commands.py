"""The other commands, each as a user runs it."""

from __future__ import annotations

import json

import pytest

from tests.agent.models.wire import OpenAIProvider, running

QUESTION = "When was Hesk Light first lit?"


@pytest.fixture
def finished_run(run, web, answering):
    """Make a finished run in the data folder; returns its id."""
    return json.loads(run("--json", QUESTION, "--model", answering, *web).stdout)["run"]


def test_help_lists_commands_and_question_options(run):
    text = run("--help").stdout
    assert "doctor" in text
    assert "--corpus" in text


def test_runs_are_listed_shown_exported_and_removed(run, finished_run, tmp_path):
    assert finished_run in run("runs").stdout
    assert finished_run in run("runs", "list", "-n", "1").stdout
    shown = run("show", finished_run, "--steps").stdout
    assert QUESTION in shown
    assert "1 November 1829" in shown
    assert 'READ returned {"source": "S1"' in shown
    target = tmp_path / "again.md"
    assert run("export", "last", str(target)).returncode == 0
    assert QUESTION in target.read_text()
    assert run("runs", "rm", finished_run).returncode == 0
    assert finished_run not in run("runs").stdout


def test_unknown_run_exits_2_with_hint(run):
    done = run("show", "nope")
    assert done.returncode == 2
    assert "research runs" in done.stderr


def test_memory_is_stored_listed_searched_and_forgotten(run):
    run("memory", "remember", "boat", "Kittiwake")
    run("memory", "remember", "boat", "Brackwater")
    assert run("memory", "list").stdout == "boat: Brackwater\n"
    assert "before: Kittiwake" in run("memory", "show", "boat").stdout
    assert "Brackwater" in run("memory", "search", "boat").stdout
    assert run("memory", "forget", "boat").returncode == 0
    assert run("memory", "list").stdout == ""
    assert run("memory", "show", "boat").returncode == 2


def test_reserved_memory_keys_are_refused(run):
    done = run("memory", "remember", "_convCount", "x")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_config_set_writes_valid_settings_and_refuses_others(run):
    assert run("config", "set", "max-steps", "20").returncode == 0
    assert run("config", "get", "max-steps").stdout == "20\n"
    assert run("config", "set", "max-steps", "none").returncode == 2
    assert run("config", "get", "max-steps").stdout == "20\n"
    assert run("config", "set", "nope", "1").returncode == 2


def test_doctor_lists_passing_checks_and_hints_for_failures(run, site):
    done = run("doctor", "--search", "searxng,serper", "--searxng-url", site.url)
    assert "ok    python" in done.stdout
    assert "ok    search searxng" in done.stdout
    assert "FAIL  search serper" in done.stdout
    assert "→" in done.stdout


def test_doctor_probes_endpoint_features_in_at_most_four_calls(run, site, tmp_path):
    with running(OpenAIProvider, "/v1") as provider:
        provider.fails(400, "m does not support tools")
        provider.says("ok.")
        flags = ("--search", "searxng", "--searxng-url", site.url, "--base-url", provider.url)
        done = run("doctor", "--model", "m", *flags)
        assert 2 <= len(provider.requests) <= 4
    rows = dict(
        line.split(maxsplit=2)[1:] for line in done.stdout.splitlines() if line[4:7] == "   "
    )
    assert rows["tools"].startswith("not supported")
    assert (rows["streaming"], rows["schemas"], rows["vision"]) == ("yes", "yes", "yes")


def test_chat_continues_same_conversation(run, script, site, tmp_path):
    model = script("NOT_FOUND")
    flags = ("--search", "searxng", "--searxng-url", site.url, "-q")
    done = run("chat", "--model", model, *flags, stdin="My boat is Kittiwake.\nAnd mine?\n")
    assert done.stdout.count("Not found.") == 2
    record = tmp_path / "record.jsonl"
    run("export", "last", str(record))
    assert "My boat is Kittiwake." in record.read_text()


def test_data_dir_is_accepted_before_or_after_subcommand(run, tmp_path):
    elsewhere = f"--data-dir={tmp_path / 'elsewhere'}"
    run("memory", "remember", "boat", "Kittiwake", elsewhere)
    assert run("memory", "list", elsewhere).stdout == "boat: Kittiwake\n"
    assert run("memory", "--data-dir", str(tmp_path / "elsewhere"), "list").stdout
    assert run("memory", "list").stdout == ""
    assert run("runs", "rm", "nope", "--data-dir", str(tmp_path / "elsewhere")).returncode == 2


def test_all_commands_use_data_dir_and_namespace_of_config_file(run, web, tmp_path):
    lines = [f'data-dir = "{tmp_path / "elsewhere"}"', 'namespace = "mine"', ""]
    (tmp_path / "config.toml").write_text("\n".join(lines))
    unset = {"RESEARCH_DATA_DIR": ""}
    run(QUESTION, *web, **unset)
    assert QUESTION in run("runs", **unset).stdout
    run("memory", "remember", "boat", "Kittiwake", **unset)
    (tmp_path / "config.toml").unlink()
    named = ("--data-dir", str(tmp_path / "elsewhere"), "--namespace", "mine")
    assert run("memory", "list", *named).stdout == "boat: Kittiwake\n"
    assert run("memory", "list").stdout == ""
