"""What a Python developer imports, and how it is typed."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import agent
import urchin
from agent.config import Flags
from agent.options import SETTINGS

ROOT = Path(__file__).parent.parent


def test_urchin_gives_the_public_names_of_agent():
    assert set(urchin.__all__) == set(agent.__all__)
    assert all(getattr(urchin, name) is getattr(agent, name) for name in urchin.__all__)


def test_the_keyword_arguments_are_the_settings_there_are():
    of_their_own = {"model", "memory"}  # arguments that take objects too
    settings = set(SETTINGS)
    assert set(Flags.__annotations__) == settings - of_their_own


def test_a_folder_that_hides_a_package_is_named(tmp_path):
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "__init__.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({str(ROOT)!r}); import urchin"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"{tmp_path / 'agent' / '__init__.py'} hides" in done.stderr


def test_every_part_says_that_it_is_typed():
    assert all((ROOT / part / "py.typed").is_file() for part in ("agent", "browser", "urchin"))


def test_the_command_has_the_name_of_the_package_too():
    commands = entry_points(group="console_scripts")
    assert commands["urchin-research"].load() is commands["research"].load()
