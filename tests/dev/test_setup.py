"""The set-up does nothing twice, and says what is missing if it cannot continue."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What the scripts may call on any POSIX system; no Python and no package manager among it.
TOOLS = "sh cat cksum dirname id rm tail tr uname".split()

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the scripts are for a POSIX sh")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files that the set-up reads, in a separate folder."""
    shutil.copytree(ROOT / "dev", tmp_path / "clone" / "dev")
    (tmp_path / "clone" / "plugins").mkdir()
    for name in ("pyproject.toml", "Makefile", "plugins/pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / "clone" / name)
    return tmp_path / "clone"


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A PATH folder with only standard tools."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    return folder


def run(
    *command: str, clone: Path, path: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **more, **({"PATH": str(path)} if path else {})}
    shell = shutil.which("sh") or "sh"
    return subprocess.run(
        [shell, *command], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )


def test_missing_python_error_says_what_to_install(clone: Path, bare_path: Path) -> None:
    ended = run("dev/setup.sh", clone=clone, path=bare_path)
    assert ended.returncode == 1
    assert "no Python 3.11 or newer was found" in ended.stderr
    assert "python.org" in ended.stderr


def test_too_old_python_is_rejected(clone: Path, bare_path: Path) -> None:
    old = bare_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = -c ] && exit 1\necho "Python 3.9.2"\n', encoding="utf-8")
    old.chmod(0o755)
    assert run("dev/setup.sh", clone=clone, path=bare_path).returncode == 1


def test_finished_setup_is_not_repeated(clone: Path, bare_path: Path) -> None:
    make_ready(clone)
    ended = run("dev/setup.sh", clone=clone, path=bare_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_core_setup_does_not_require_development_tools(clone: Path, bare_path: Path) -> None:
    make_ready(clone)
    (mark,) = (clone / ".venv").glob(".ready-*")
    mark.rename(mark.with_name(mark.name.replace("ready", "core")))
    assert run("dev/setup.sh", "core", clone=clone, path=bare_path).returncode == 0
    assert run("dev/setup.sh", clone=clone, path=bare_path).returncode == 1


def test_changed_dependencies_require_setup_again(clone: Path, bare_path: Path) -> None:
    make_ready(clone)
    with (clone / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("# another dependency\n")
    assert run("dev/setup.sh", clone=clone, path=bare_path).returncode == 1


def test_research_without_question_is_a_usage_error(clone: Path) -> None:
    make_ready(clone)
    ended = run("dev/task.sh", "research", clone=clone, Q="")
    assert ended.returncode == 2
    assert 'make research Q="' in ended.stderr


def test_unknown_task_error_lists_available_tasks(clone: Path) -> None:
    make_ready(clone)
    ended = run("dev/task.sh", "deploy", clone=clone)
    assert ended.returncode == 2
    assert all(task in ended.stderr for task in ("demo", "research", "test", "check", "bench"))


def make_ready(clone: Path) -> None:
    """Leave the mark of a finished set-up, by its own rule."""
    script = (clone / "dev" / "setup.sh").read_text(encoding="utf-8")
    rule = next(line for line in script.splitlines() if line.startswith("ready="))
    (clone / ".venv").mkdir()
    made = run("-c", f'venv=.venv; {rule}; : >"$ready"', clone=clone)
    assert made.returncode == 0, made.stderr
