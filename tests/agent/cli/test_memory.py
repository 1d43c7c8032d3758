"""`research memory` and `research wiki`, as a user runs them."""

from __future__ import annotations

import json
import re
from uuid import uuid4
from xml.etree import ElementTree as ET

import pytest

from agent.cli.ask import consolidate_after_run
from agent.config import load_options
from agent.memory import Memory
from agent.memory.consolidation import is_due
from agent.memory.sealed_log import SealedLog
from agent.types import Report, ReportSource, Sentence, VerdictState
from tests.timestamping import NAME, authority

QUESTION = "Who built the tower clock?"
URL = "https://museum.example/clock"


@pytest.fixture
def store(tmp_path):
    """The memory that the commands open."""
    (tmp_path / "data").mkdir(mode=0o700)
    with Memory.open(tmp_path / "data" / "memory.db") as opened:
        yield opened


@pytest.fixture
def left(store):
    """What a run left in memory."""
    source = ReportSource(n=1, url=URL, fetched_at="2026-01-02T03:04:05Z", sha256="a", via="http")
    text = "Jan <Novak> built the tower clock in 1792. [1]"
    sentence = Sentence(text=text, citations=[1], verdict=VerdictState.SUPPORTED)
    report = Report(
        run="r1",
        question=QUESTION,
        status="answered",
        answer=text,
        sentences=[sentence],
        sources=[source],
    )
    return store.record_run(report, ("WEB_SEARCH tower clock", f"READ {URL}"))


def test_facts_from_runs_are_listed_shown_and_forgotten_by_id(run, left):
    listed = run("memory", "list", "--kind", "fact").stdout
    assert listed.split()[:2] == [str(left[0]), "[fact]"]
    assert URL in run("memory", "show", str(left[0])).stdout
    assert run("memory", "forget", str(left[0])).returncode == 0
    assert run("memory", "list", "--kind", "fact").stdout == ""


def test_preview_shows_memories_to_inject_and_why(run, left):
    told = run("memory", "preview", "When was the tower clock built?").stdout
    assert "Jan <Novak> built the tower clock in 1792." in told
    assert re.search(rf"\[fact\] {left[0]}: relevance \d\.\d\d; has tower, clock, built", told)
    assert (
        "no memory of earlier runs is relevant to the question"
        in run("memory", "preview", "Why do bees hum?").stdout
    )


def test_memory_export_can_be_imported(run, tmp_path):
    run("memory", "remember", "boat", "Kittiwake")
    file = tmp_path / "memory.json"
    assert run("memory", "export", str(file)).returncode == 0
    assert file.stat().st_mode & 0o077 == 0
    assert json.loads(file.read_text())["urchinMemory"] == {"boat": "Kittiwake"}
    assert run("memory", "--namespace", "other", "import", str(file)).returncode == 0
    assert run("memory", "--namespace", "other", "list").stdout == "boat: Kittiwake\n"


@pytest.mark.parametrize("content", ["[]", "{", '{"urchinMemory": 3}'])
def test_invalid_memory_import_exits_2_with_hint(run, content):
    done = run("memory", "import", "-", stdin=content)
    assert done.returncode == 2
    assert "hint:" in done.stderr


def test_graph_is_exported_as_graphml_and_mermaid(run, left, tmp_path):
    run("memory", "dream")
    file = tmp_path / "graph.graphml"
    assert run("memory", "graph", "--output", str(file)).returncode == 0
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    graph = ET.parse(file).getroot().find("g:graph", space)
    assert graph is not None
    nodes = {node.get("id") for node in graph.findall("g:node", space)}
    edges = graph.findall("g:edge", space)
    assert edges
    assert {edge.get(end) for edge in edges for end in ("source", "target")} <= nodes
    drawn = tmp_path / "graph.mmd"
    assert run("memory", "graph", "--output", str(drawn)).returncode == 0
    assert drawn.read_text().startswith("graph LR\n")
    assert "<Novak>" not in drawn.read_text(), "a viewer would take it for a tag"
    assert run("memory", "graph", "--output", str(tmp_path / "graph.html")).returncode == 2


def test_memory_add_stores_entry_under_its_kind(run):
    assert run("memory", "add", "Never quote the forum", "--kind", "Soul").returncode == 0
    assert (
        "[soul] Never quote the forum" in run("memory", "search", "forum", "--kind", "Soul").stdout
    )
    assert run("memory", "search", "forum", "--kind", "Heart").returncode == 3
    assert run("memory", "add", "Quote courts", "--kind", "skill").returncode == 2
    mistyped = run("memory", "add", "Quote courts", "--kind", "Sole")
    assert "Did you mean soul?" in mistyped.stderr


def test_verify_exits_8_if_head_is_not_in_log(run, store):
    head = SealedLog(store).append("decision", "We sail on Monday").hash
    assert head in run("memory", "verify").stdout
    assert run("memory", "verify", "--head", "0" * 63 + "1").returncode == 8


def test_namespace_deletion_asks_first_and_keeps_others(run):
    run("memory", "remember", "boat", "Kittiwake")
    run("memory", "--namespace", "work", "remember", "plan", "secret")
    assert run("memory", "delete", "--namespace", "work", stdin="n\n").returncode == 130
    assert run("memory", "delete", "--namespace", "work", "--yes").returncode == 0
    assert run("memory", "--namespace", "work", "list").stdout == ""
    assert run("memory", "list").stdout == "boat: Kittiwake\n"


def test_wiki_is_synced_linted_searched_and_shown(run):
    assert run("wiki").returncode == 2
    run("memory", "remember", "boat", "Kittiwake")
    assert "wrote memories.md" in run("wiki", "sync").stdout
    assert run("wiki", "lint").returncode == 0
    assert "memories.md" in run("wiki", "search", "kittiwake").stdout
    assert "Kittiwake" in run("wiki", "show", "memories.md").stdout
    assert run("wiki", "show", "../memory.db").returncode == 2


def test_wiki_folder_comes_from_config_file(run, tmp_path):
    (tmp_path / "config.toml").write_text(f'wiki = "{tmp_path / "vault"}"\n')
    run("memory", "remember", "boat", "Kittiwake")
    assert run("wiki", "sync").returncode == 0
    assert "Kittiwake" in (tmp_path / "vault" / "memories.md").read_text()


def test_wiki_lint_exits_8_on_critical_problem(run, tmp_path):
    (tmp_path / "wiki").mkdir()
    done = run("wiki", "--wiki", str(tmp_path / "wiki"), "lint")
    assert done.returncode == 8
    assert "critical: index.md is missing" in done.stdout


@pytest.mark.parametrize(
    ("ci", "quiet", "dreams"),
    [("", False, True), ("1", False, False), ("", True, False)],
)
def test_memory_is_consolidated_after_answer_unless_quiet_or_ci(
    store, left, tmp_path, monkeypatch, ci, quiet, dreams
):
    monkeypatch.setenv("CI", ci)
    consolidate_after_run(0, load_options({"data_dir": tmp_path / "data"}), quiet=quiet)
    assert is_due(store.entries) is not dreams


def test_sealed_entry_is_timestamped_and_verified(run, tmp_path):
    sealed = run("memory", "seal", "decision", "We sail")
    assert sealed.returncode == 0, sealed.stderr
    with authority(tmp_path) as stamping:
        assert run("memory", "stamp", stamping.url).returncode == 0
    checked = run("memory", "verify", "--roots", str(stamping.roots))
    assert checked.returncode == 0, checked.stderr
    assert (
        f"entry 1 existed at {stamping.says:%Y-%m-%d %H:%M:%S} UTC, according to {NAME}"
        in checked.stdout
    )
    unknown = run("memory", "verify")
    assert unknown.returncode == 8
    assert "--roots" in unknown.stdout
    assert run("memory", "stamp", "http://127.0.0.1:9/").returncode == 6


def test_dream_needs_language_model_for_insights(run, tmp_path):
    refused = run("memory", "dream", "--model", "extractive")
    assert refused.returncode == 2
    assert "cannot write insights" in refused.stderr
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"for": "after", "reply": "{}"}))
    done = run("memory", "dream", "--model", f"scripted:{script}")
    assert done.returncode == 0, done.stderr
    assert "written by the model: 0" in done.stdout


def test_memory_url_shares_memory_between_machines(run, postgres):
    name = uuid4().hex
    here = {"RESEARCH_MEMORY_URL": postgres}
    assert run("memory", "--namespace", name, "remember", "boat", "Kittiwake", **here).stderr == ""
    assert run("memory", "--namespace", name, "list", **here).stdout == "boat: Kittiwake\n"
    assert run("memory", "--namespace", name, "list").stdout == ""


def test_unreachable_memory_url_exits_2_without_leaking_password(run):
    url = "postgresql://me:hunter2@127.0.0.1:9/none"
    done = run("memory", "list", RESEARCH_MEMORY_URL=url)
    assert done.returncode == 2
    assert "Is the server running" in done.stderr
    assert "hunter2" not in done.stderr


async def test_run_uses_memory_url_and_does_not_record_it(ask, script, events, postgres, site):
    name = uuid4().hex
    model = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "It was first lit on 1 November 1829. [S1]",
    )
    report = await ask(QUESTION, model=model, memory=True, memory_url=postgres, namespace=name)
    with Memory.open(postgres, name) as shared:
        assert shared.newest(["outcome"]), "what the run left"
    assert postgres not in "".join(str(event.data) for event in events(report))


def test_missing_question_file_leaves_no_memory(run, store):
    done = run(QUESTION, "--file", "nofile.txt", "--model", "extractive")
    assert done.returncode == 2
    assert "nofile.txt" in done.stderr
    assert store.entries.all() == []
