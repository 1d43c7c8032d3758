"""The code's imports match pyproject.toml, so that a fresh install starts."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OWN = {"agent", "browser", "fixtures", "tests"}
# Part of Python 3.14; imported behind a check of the version.
NEWER_STDLIB = {"compression"}


def imported(folder: str) -> set[str]:
    """Return the top-level names that a folder's files import from third parties."""
    names: set[str] = set()
    for file in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.split(".")[0])
    return names - OWN - sys.stdlib_module_names - NEWER_STDLIB


installed = cache(packages_distributions)


def declared() -> set[str]:
    """Return the normalised names of the project's dependencies and its extras' dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for group in project["optional-dependencies"].values() for line in group]
    return {normal(re.split(r"[\[<>=;~! ]", line)[0]) for line in project["dependencies"] + extras}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("folder", ["agent", "browser", "fixtures"])
def test_every_import_is_a_declared_dependency(folder: str) -> None:
    providers = installed()
    asked = declared()
    missing = {
        name
        for name in imported(folder)
        # Packages that this Python version does not need are not installed: use the import name.
        if not any(normal(dist) in asked for dist in providers.get(name, [name]))
        and not any(wanted.startswith(f"{name}-") for wanted in asked)
    }
    assert missing == set()


def test_dependencies_page_describes_every_dependency_and_extra() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    words = {normal(word) for word in re.findall(r"[\w.-]+", page)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {normal(re.split(r"[\[<>=;~! ]", line)[0]) for line in project["dependencies"]}
    assert named | (project["optional-dependencies"].keys() - {"all"}) <= words


@pytest.mark.parametrize("folder", ["", "plugins"])
def test_every_package_has_a_readme(folder: str) -> None:
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
    assert "readme" in project.get("dynamic", []) or (ROOT / folder / project["readme"]).read_text()
