"""Readable help: one screen, help for each command, a man page, shell completion."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from agent.cli.group import COMMANDS
from tests.conftest import COMMAND


def test_help_lists_each_command_once_with_examples(run):
    lines = run("--help").stdout.splitlines()
    assert len(lines) <= 92
    assert "RESEARCH_" not in "\n".join(lines)  # `ask --help` names the environment variables
    assert max(map(len, lines)) <= 80
    first_words = [line.split()[0] for line in lines if line.startswith("  ")]
    assert [name for name in COMMANDS if first_words.count(name) != 1] == []
    assert any("research --corpus notes/" in line for line in lines)


def test_full_help_groups_options_and_names_environment_variables(run):
    asked = run("ask", "--help", COLUMNS="200").stdout
    assert "RESEARCH_MAX_STEPS" in asked
    assert asked.index("Limits:") < asked.index("--max-steps") < asked.index("Output:")
    everything = run("--help-all").stdout
    assert all(f"Usage: research {name}" in everything for name in COMMANDS)


@pytest.mark.parametrize(("command", "others"), [("doctor", "--report"), ("check", "--headed")])
def test_command_help_shows_only_applicable_options(run, command, others):
    told = run(command, "--help").stdout
    assert "--model" in told
    assert others not in told


def test_check_accepts_flags_hidden_from_its_help(run, tmp_path):
    (tmp_path / "checks.yaml").write_text("checks: []\n")
    done = run("check", str(tmp_path / "checks.yaml"), "--headed")
    assert "No such option" not in done.stderr


@pytest.mark.parametrize(
    ("word", "said"), [("serv", "serve"), ("mpc", "mcp"), ("rnus", "runs"), ("batcj", "batch")]
)
def test_mistyped_single_word_command_suggests_command(run, word, said):
    done = run(word)
    assert done.returncode == 2
    assert f"'{said}'" in done.stderr


def test_bash_completes_commands_and_flags(run, tmp_path):
    script = run("completion", "bash").stdout
    (tmp_path / "script").write_text(script)
    asked = (
        'source "$1"; COMP_WORDS=(research $2); COMP_CWORD=1; _research_completion research; '
        'echo "${COMPREPLY[@]}"'
    )
    for typed, expected in (("memo", "memory"), ("--corp", "--corpus")):
        done = subprocess.run(
            ["bash", "-c", asked, "bash", str(tmp_path / "script"), typed],
            capture_output=True, text=True, check=False,
            env={"PATH": f"{COMMAND.parent}:/usr/bin:/bin", "HOME": str(tmp_path)},
        )  # fmt: skip
        assert done.stdout.split() == [expected], done.stderr


@pytest.mark.skipif(not shutil.which("man"), reason="reads the page with man")
def test_man_page_renders_without_warnings(run):
    page = run("--man").stdout
    shown = subprocess.run(
        ["man", "--warnings", "-l", "-"], input=page, capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "100"},
    )  # fmt: skip
    assert shown.stderr == ""
    assert "research runs rm" in shown.stdout
    assert "RESEARCH_MAX_STEPS" in shown.stdout
