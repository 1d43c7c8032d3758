"""The commands in the README and guides work as described, on the bundled web."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agent.evidence.verify import RULES
from tests.conftest import COMMAND, own_environment

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
COMMANDS = [line for kind, body in BLOCKS if kind == "sh" for line in body.splitlines()]
GUIDES = ("README.md", "docs/index.md", "docs/tutorial.md", "docs/corpus.md", "docs/memory.md")
EXIT_CODES = {'research "Who was the first person on Mars?"': 3}


def commands_of(guide: str) -> list[str]:
    """Return a page's commands that can be run unchanged: blocks marked `sh`, not `shell`."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / guide).read_text(), re.DOTALL)
    lines = [line for body in blocks for line in body.splitlines()]
    return [line for line in lines if line.startswith("research ") or "| research " in line]


@pytest.fixture
def newcomer(tmp_path, site):
    """A folder with a note in it, and an environment that knows only the bundled web."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "pump.md").write_text("# Pump\n\nIda repaired the pump on 3 May 2024.\n")
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "RESEARCH_SEARCH": "searxng",
        "RESEARCH_SEARXNG_URL": site.url,
        "RESEARCH_DATA_DIR": str(tmp_path / "data"),
    }


@pytest.fixture
def typed(newcomer, tmp_path, commands, monkeypatch):
    """Run a command as a shell would, with pipes and redirection."""
    monkeypatch.chdir(tmp_path)

    def typing(line):
        before, _, own = line.rpartition(" | ")
        words = shlex.split(own, comments=True)
        piped = (
            subprocess.run(shlex.split(before), capture_output=True, text=True, check=True).stdout
            if before
            else ""
        )
        into = words.pop() if words[-2] == ">" else None
        asked = [word for word in words[1:] if word != ">"]
        done = commands.run(str(COMMAND), *asked, env=newcomer, stdin=piped)
        if into:
            Path(into).write_text(done.stdout)
        return done

    return typing


@pytest.mark.parametrize("guide", GUIDES)
def test_documented_research_commands_run_in_sequence(guide, typed, tmp_path):
    commands = commands_of(guide)
    assert commands
    for command in commands:
        done = typed(command)
        expected = EXIT_CODES.get(command, 0)
        assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
    if guide == "README.md":
        assert "184 metres" in (tmp_path / "report.md").read_text()
        assert "<mark" in (tmp_path / "report.html").read_text()
        assert "184 metres" in json.loads((tmp_path / "report.json").read_text())["answer"]


@own_environment
def test_make_research_passes_the_question(newcomer, tmp_path):
    done = subprocess.run(
        ["sh", "dev/task.sh", "research"],
        env=newcomer | {"Q": "How long is Sunnock Pier?"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "184 metres" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_documented_python_example_runs(page, newcomer, tmp_path):
    example, *others = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    for other in others:
        compile(other, page, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    done = subprocess.run(
        [sys.executable, "-c", example],
        env=newcomer,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "3 May 2024" in done.stdout, done.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/cli.md", "docs/verification.md"])
def test_documented_flags_exist(page, run):
    known = run("--help-all").stdout
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", (ROOT / page).read_text()))
    assert sorted(flag for flag in named if flag not in known) == []


def test_readme_links_point_to_existing_files():
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    own = [target for target in targets if not target.startswith("http")]
    assert [target for target in own if not (ROOT / target).exists()] == []


def test_package_index_readme_has_no_broken_links():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    hook = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    [fragment] = hook["fragments"]
    shown, _, _ = (ROOT / fragment["path"]).read_text().partition(fragment["end-before"])
    for one in hook["substitutions"]:
        shown = re.sub(one["pattern"], one["replacement"], shown)
    targets = re.findall(r"\]\(([^)#]+)\)", shown)
    assert [target for target in targets if not target.startswith("http")] == []
    assert "![" not in shown
    assert "steps that led to it.\n" in shown


def test_documented_commands_are_valid_shell():
    assert all(shlex.split(command) for command in COMMANDS)


def test_every_verdict_rule_is_documented():
    page = (ROOT / "docs" / "verification.md").read_text("utf-8")
    layers = re.findall(
        r"^\| (\w+) \| ", page.partition("| layer |")[2].partition("\n\n")[0], re.MULTILINE
    )
    assert layers == [*RULES, "judge"], "describe the rules of agent/evidence/verify.py"
