"""The examples on the page about continuous integration are files that work."""

from __future__ import annotations

import re
from pathlib import Path

from ruamel.yaml import YAML

from agent.config import options
from agent.run.expectations import read_suite

PAGE = Path(__file__).parents[3] / "docs" / "ci.md"
CHECKS, WORKFLOW = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_file_of_checks_is_read(tmp_path):
    (tmp_path / "checks.yaml").write_text(CHECKS)
    suite = read_suite(tmp_path / "checks.yaml")
    assert [bool(check.run) for check in suite.checks] == [False, False, True]
    assert options(suite.options).max_steps == 8


def test_the_workflow_calls_the_command_as_it_is(tmp_path):
    from agent.cli.check import check

    steps = YAML(typ="safe", pure=True).load(WORKFLOW)["jobs"]["check"]["steps"]
    (command,) = [step["run"] for step in steps if "research check" in step.get("run", "")]
    known = {name for option in check.params for name in option.opts}
    assert set(re.findall(r"--[\w-]+", command)) <= known
