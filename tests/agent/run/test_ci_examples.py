"""The examples on the continuous integration page are working files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from agent.config import load_options
from agent.run.expectations import read_suite

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "ci.md"
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
CHECKS, WORKFLOW = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def yaml(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def test_checks_file_is_parsed(tmp_path):
    (tmp_path / "checks.yaml").write_text(CHECKS)
    suite = read_suite(tmp_path / "checks.yaml")
    assert [bool(check.run) for check in suite.checks] == [False, False, True]
    assert load_options(suite.options).max_steps == 8


def test_workflow_uses_declared_action_inputs_and_outputs():
    steps = yaml(WORKFLOW)["jobs"]["check"]["steps"]
    (step,) = [step for step in steps if "urchin" in step.get("uses", "")]
    action = yaml(ACTION)
    assert set(step["with"]) <= set(action["inputs"])
    used = set(re.findall(r"steps\.research\.outputs\.(\w+)", WORKFLOW))
    assert used == set(action["outputs"])


@pytest.mark.parametrize(("answer", "code"), [("184 metres", 0), ("1 May 1900", 8)])
def test_action_runs_checks_and_shows_summary(answer, code, tmp_path, site):
    (tmp_path / "my checks.yaml").write_text(
        "checks:\n  - name: pier\n    question: How long is Sunnock Pier?\n"
        f"    expect: {{answer: {answer}}}\n"
    )
    (step,) = [step for step in yaml(ACTION)["runs"]["steps"] if step.get("name") == "Check"]
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "RESEARCH_SEARXNG_URL": site.url,
            "RESEARCH_DATA_DIR": str(tmp_path / "data"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "page.md"),
            "FILE": "my checks.yaml",
            "OPTIONS": f"--search searxng --allow-private {site.url.removeprefix('http://')}",
            "JUNIT": "junit.xml",
            "SUMMARY": "summary.md",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "pier" in (tmp_path / "page.md").read_text()
    assert (tmp_path / "junit.xml").is_file()
    assert ("answer: " in done.stdout) is (code == 8)


def test_action_audits_draft(tmp_path, site):
    (tmp_path / "draft.md").write_text(
        f"It was first lit on 1 November 1831 ([Hesk Light]({site.url}/hesk-light)).\n"
    )
    (step,) = [step for step in yaml(ACTION)["runs"]["steps"] if step.get("name") == "Check"]
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "RESEARCH_DATA_DIR": str(tmp_path / "data"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "page.md"),
            "FILE": "",
            "DRAFT": "draft.md",
            "OPTIONS": f"--allow-private {site.url.removeprefix('http://')}",
            "JUNIT": "junit.xml",
            "SUMMARY": "summary.md",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 8, done.stderr
    assert "1831" in (tmp_path / "page.md").read_text()
    assert (tmp_path / "junit-audit.xml").is_file()
