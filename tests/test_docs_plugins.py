"""docs/plugins.md works as described: each example is found, and works when installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agent.memory import Memory
from agent.memory.embedders import make_embedder
from browser.extract.platforms import lookup, parse_platform
from browser.plugins import IN_EXTRAS, PLUGIN_KINDS, extras_hint, plugins
from browser.solvers import Settings, make_solver
from browser.types import Challenge
from tests.loopback import Handler, serving

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The page's package as installed by pip, and a broken one beside it."""
    [project] = [tomllib.loads(body)["project"] for kind, body in BLOCKS if kind == "toml"]
    folder = tmp_path / "installed"
    (folder / "harbour_plugins").mkdir(parents=True)
    for kind, body in BLOCKS:
        if kind == "python":
            (folder / body.splitlines()[0].removeprefix("# ")).write_text(body, encoding="utf-8")
    groups = {
        group: "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in project["entry-points"].items()
    }
    _package(folder, project["name"], groups)
    _package(folder, "wreck", {"urchin.search": "wreck = sunk.ship:Wreck\n"})
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def research(installed, tmp_path):
    """Run the command in a separate Python: installed packages are detected at startup."""

    def running(*args):
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(installed),
            "RESEARCH_DATA_DIR": str(tmp_path / "data"),
            "RESEARCH_CONFIG": str(tmp_path / "config.toml"),
            "PYTHON_KEYRING_BACKEND": os.environ["PYTHON_KEYRING_BACKEND"],
        }
        command = [str(Path(sys.executable).parent / "research"), *args]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    return running


def _package(folder, name, groups):
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = (f"[{group}]\n{entries}" for group, entries in groups.items())
    (info / "entry_points.txt").write_text("\n".join(lines))


class _Search(Handler):
    def get(self):
        light = f"{self.server.site}/hesk-light"
        row = {"link": light, "name": "Hesk Light", "about": "First lit on 1 November 1829."}
        found = [row] if self.path.startswith("/api?q=") else []
        self.send(200, "application/json", json.dumps({"found": found}).encode())


def test_example_package_covers_every_plugin_kind(installed):
    for kind in PLUGIN_KINDS:
        assert [p.package for p in plugins(kind) if p.package == "harbour-plugins"], kind


def test_plugin_list_shows_versions_and_broken_plugins(research):
    done = research("plugins", "--json")
    rows = {(row["kind"], row["name"]): row for row in json.loads(done.stdout)}
    assert rows["tools", "tides"]["package"] == "harbour-plugins"
    assert rows["tools", "tides"]["version"] == "1.0"
    assert rows["tools", "tides"]["broken"] == ""
    assert "No module named 'sunk'" in rows["search", "wreck"]["broken"]
    assert "skipped: the search plug-in 'wreck'" in research("plugins").stdout


def test_plugin_model_tool_and_export_complete_a_run(research, tmp_path):
    flags = ("--model", "parrot/grey", "--tool", "tides", "--no-memory", "--search", "wikipedia")
    out = tmp_path / "answer.words"
    done = research("When?", *flags, "--export", str(out), "--json")
    report = json.loads(done.stdout)
    assert (report["answer"], report["usage"]["model"]) == (
        "High water at Skarholm is at 4:10.",
        "parrot/grey",
    )
    assert out.read_text() == "7"
    unknown = research("When?", *flags, "--tool", "ebb")
    assert (unknown.returncode, "no tool named 'ebb'" in unknown.stderr) == (2, True)


def test_search_plugin_is_used_and_broken_one_reported(research):
    with serving(_Search, str) as site:
        flags = ("--search-url", f"harbour={site}/api", "--no-memory")
        done = research(
            "When was Hesk Light first lit?",
            "--search",
            "harbour",
            *flags,
            "--json",
        )
        assert {
            line["provider"]: line["outcome"] for line in json.loads(done.stdout)["searches"]
        } == {"harbour": "ok"}
        done = research("Hesk Light?", "--search", "harbour,wreck", *flags)
    assert (done.returncode, "sunk.ship:Wreck" in done.stderr) == (2, True)


async def test_judge_plugin_decides_open_claims(ask, script, site, installed):
    page = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    model = script(page, "On 1 November 1829 it was lit first. The light is liked. [S1]")
    report = await ask(model=model, judge="strict")
    states = {s.text: (s.verdict.value, s.decided_by, s.reason) for s in report.sentences}
    assert states["The light is liked."][1:] == ("judge", "some of its words do not appear there")


async def test_embedder_parser_and_solver_plugins_work(tmp_path, installed, monkeypatch):
    embedder = make_embedder("letters", None, {})
    assert embedder.name == "letters-1"
    with Memory.open(tmp_path / "memory.db", embeddings=embedder) as memory:
        memory.add("The boat leaks at the seacock.", kind="note")
        assert memory.search("boat")
    lookup.all_platforms.cache_clear()
    html = '<h1 class="topic">Leak</h1><div class="post"><p class="said">Yes</p></div>'
    assert parse_platform("https://talk.harbour.example/t/1", html).title == "Leak"
    lookup.all_platforms.cache_clear()
    solved = await make_solver("friend", Settings()).solve(
        Challenge("turnstile", "k", "https://a.b")
    )
    assert solved == "token of turnstile"


def test_extras_named_in_hints_match_plugin_entry_points():
    project = tomllib.loads((ROOT / "plugins" / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {
        kind.removeprefix("urchin."): set(rows) for kind, rows in project["entry-points"].items()
    }
    assert {kind: set(names) for kind, names in IN_EXTRAS.items()} == declared
    for kind in declared:
        assert project["name"] in extras_hint(kind)
