from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from agent.config import load_options
from agent.errors import UsageError
from agent.memory import Memory, Origin
from agent.memory.wiki_sync import sync_wiki
from agent.wiki import Relation, Wiki, read_relations

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    made = Wiki(tmp_path / "wiki", clock=lambda: datetime(2026, 5, 6, 7, 8, tzinfo=UTC))
    made.ensure()
    return made


def test_support_files_are_created_once(wiki: Wiki) -> None:
    assert wiki.ensure() == []
    assert [f.message for f in wiki.lint()] == []


def test_a_missing_support_file_is_critical(tmp_path: Path) -> None:
    findings = Wiki(tmp_path).lint()
    assert {f.severity for f in findings} == {"critical"}
    assert len(findings) == 5


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("see [[nowhere]]", ["nowhere"]),
        ("see [[Tides|the tides]] and [[tides#spring]] and [[sea/tides.md]]", []),
        ("[[#here]] stays", []),
        ("```\n[[in code]]\n```\n`[[inline]]`", []),
        ("```\nopen fence [[x]]", []),
        ("~~~ text\n[[x]]\n~~~\n[[y]]", ["y"]),
    ],
)
def test_broken_links_are_warnings(wiki: Wiki, text: str, broken: list[str]) -> None:
    wiki.write_file("sea/tides.md", "# Tides\n")
    wiki.write_file("page.md", text)
    findings = [f for f in wiki.lint() if f.path == "page.md"]
    assert [f.message for f in findings] == [
        f"[[{name}]] links to a page that does not exist" for name in broken
    ]
    assert {f.severity for f in findings} <= {"warning"}


def test_relationships_are_recorded_once_and_linted(wiki: Wiki) -> None:
    for name in ("a", "b"):
        wiki.write_file(f"{name}.md", f"# {name}\n")
    good = Relation("a", "b", "supports", evidence="a.md:1", date="2026-01-02")
    assert wiki.record_relations([good, good, Relation("a", "gone", "likes")]) == [
        good,
        Relation("a", "gone", "likes", date="2026-05-06"),
    ]
    assert wiki.record_relations([good]) == []
    text = wiki.read_file("graph/relationships.jsonl") or ""
    wiki.write_file("graph/relationships.jsonl", text + "\n{broken\n" + '["x"]\n')
    findings = [(f.severity, f.line) for f in wiki.lint()]
    assert findings == [("critical", 4), ("critical", 5), ("warning", 2), ("warning", 2)]
    text = wiki.read_file("graph/relationships.jsonl") or ""
    assert read_relations(text)[0][0] == (1, good)


def test_types_categories_and_required_files_are_configurable(tmp_path: Path) -> None:
    told = {"types": ["likes"], "required": ["charter.md"], "categories": {"*/t*.md": "Water"}}
    rules = load_options({"wiki_rules": told}).wiki_rules
    wiki = Wiki(tmp_path, rules)
    wiki.ensure()
    for name in ("sea/tides", "sea/sand"):
        wiki.write_file(f"{name}.md", f"# {name}\n")
    ends = ("sea/tides.md", "sea/sand.md")
    wiki.record_relations([Relation(*ends, "likes"), Relation(*ends, "supports")])
    found = [(f.path, f.message) for f in wiki.lint()]
    types = ("graph/relationships.jsonl", "unknown type 'supports'")
    assert found == [("charter.md", "is missing"), types]
    wiki.update_index()
    index = wiki.read_file("index.md") or ""
    assert "## Water\n- [[sea/tides]]" in index
    assert "## sea\n- [[sea/sand]]" in index


def test_log_has_one_heading_per_day(wiki: Wiki) -> None:
    wiki.append_log("first")
    wiki.append_log("second\nline")
    assert (wiki.read_file("log.md") or "").endswith(
        "## 2026-05-06\n- 07:08 first\n- 07:08 second line\n"
    )


def test_index_brief_and_gaps_are_generated_from_pages(wiki: Wiki) -> None:
    wiki.write_file("sea/tides.md", "# Tides\n\nTwice a day. See [[moon]].\n")
    assert set(wiki.sync(log="read a page")) == {
        "log.md",
        "index.md",
        "graph/context-brief.md",
        "graph/open-gaps.md",
    }
    assert "## sea\n- [[sea/tides]] — Twice a day. See [[moon]]." in (
        wiki.read_file("index.md") or ""
    )
    assert "- moon, linked from [[sea/tides]]" in (wiki.read_file("graph/open-gaps.md") or "")
    assert wiki.sync() == []


def test_search_ranks_title_above_content_and_breaks_ties_by_path(wiki: Wiki) -> None:
    wiki.write_file("b.md", "# Other\nspring tide\n")
    wiki.write_file("a.md", "# Other\nspring tide\n")
    wiki.write_file("c.md", "# Spring tide\n")
    found = wiki.search("spring tide")
    assert [f.path for f in found] == ["c.md", "a.md", "b.md"]
    assert all(0 < f.score < 1 for f in found)
    assert wiki.search("  ") == []
    assert wiki.search("spring", part="raw") == []


def test_read_lines_is_bounded(wiki: Wiki) -> None:
    wiki.write_file("long.md", "".join(f"line {n}\n" for n in range(1, 1_001)))
    window = wiki.read_lines("long.md", start=-3, lines=2)
    assert window is not None
    assert (window.content, window.start, window.end, window.total) == (
        "line 1\nline 2\n",
        1,
        2,
        1000,
    )
    past = wiki.read_lines("long.md", start=5_000)
    assert past is not None
    assert past.content == ""
    assert wiki.read_lines("unknown.md") is None


@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", "a/../../x", "C:/x", "", "..\\x"])
def test_path_outside_wiki_is_refused(wiki: Wiki, path: str) -> None:
    with pytest.raises(UsageError):
        wiki.read_file(path)
    with pytest.raises(UsageError):
        wiki.write_file(path, "x")


def test_symlink_out_of_wiki_is_not_followed(wiki: Wiki, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "wiki" / "link.md").symlink_to(tmp_path / "secret.md")
    assert "link.md" not in wiki.list_files()
    assert wiki.read_file("link.md") is None


def test_sync_publishes_memories_and_imports_manual_edits(memory: Memory, tmp_path: Path) -> None:
    memory.remember("boat", "the Amber Gull")
    memory.remember("berth", "# 4\nstarboard")
    memory.add(
        "The quay is [[old]] <b>stone</b>",
        kind="fact",
        origin=Origin("r1", "https://port.example/quay", trusted=False),
    )
    sync_wiki(memory, tmp_path)
    page = tmp_path / "memories.md"
    assert "## boat\nthe Amber Gull" in page.read_text()
    assert "> The quay is [ [old]] &lt;b>stone&lt;/b> (https://port.example/quay)" in (
        (tmp_path / "facts" / "port.example.md").read_text()
    )
    assert sync_wiki(memory, tmp_path) == []
    page.write_text(page.read_text().replace("Amber", "Silver") + "\n## crew\nthree\n")
    (tmp_path / "knots.md").write_text("# Knots\nThe bowline holds.\n")
    memory.remember("berth", "5")
    sync_wiki(memory, tmp_path)
    assert memory.remembered() == {"boat": "the Silver Gull", "berth": "5", "crew": "three"}
    assert memory.former_values("boat") == ["the Amber Gull"]
    assert memory.search("bowline")[0].kind == "page"
    assert memory.search("quay stone", kinds=["page", "memory"]) == []


def test_manually_deleted_memory_is_forgotten(memory: Memory, tmp_path: Path) -> None:
    memory.remember("boat", "the Amber Gull")
    memory.remember("berth", "4")
    memory.remember("crew", "three")
    for odd in (" spaced ", "two\nlines"):
        memory.remember(odd, "no heading can hold this key")
    (tmp_path / "knots.md").write_text("# Knots\nThe bowline holds.\n")
    sync_wiki(memory, tmp_path)
    page = tmp_path / "memories.md"
    page.write_text("# Memories\n\n## crew\nthree\n")
    memory.remember("berth", "5")
    (tmp_path / "knots.md").unlink()
    sync_wiki(memory, tmp_path)
    assert list(memory.remembered()) == ["berth", "crew", " spaced ", "two\nlines"]
    assert memory.recall("berth") == "5", "it is news to the person"
    assert memory.search("bowline") == []
    assert "boat" in (tmp_path / "log.md").read_text()


@pytest.mark.parametrize("text", [None, "", "\n"])
def test_missing_or_empty_file_deletes_nothing(
    memory: Memory, tmp_path: Path, text: str | None
) -> None:
    memory.remember("boat", "the Amber Gull")
    sync_wiki(memory, tmp_path)
    (tmp_path / "memories.md").unlink()
    if text is not None:
        (tmp_path / "memories.md").write_text(text)
    sync_wiki(memory, tmp_path)
    assert memory.recall("boat") == "the Amber Gull"
