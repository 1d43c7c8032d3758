from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agent.memory import Memory, ReservedKey, Turn
from agent.memory.sealed_log import SealedLog
from agent.memory.wiki_sync import sync_wiki

if TYPE_CHECKING:
    from pathlib import Path


def test_memories_are_listed_and_read_by_id(memory: Memory) -> None:
    ids = [memory.add(f"entry {number}") for number in range(4)]
    assert [hit.id for hit in memory.newest(limit=2)] == ids[2:]
    hit = memory.get(ids[0])
    assert hit is not None
    assert hit.text == "entry 0"
    assert memory.get(10**9) is None


def test_delete_by_id_keeps_other_memories(memory: Memory) -> None:
    one, other = memory.add("a gannet"), memory.add("a gannet too")
    assert memory.delete([one]) == 1
    assert [hit.id for hit in memory.search("gannet")] == [other]


def test_memory_ids_are_never_reused(memory: Memory) -> None:
    last = memory.add("gone")
    memory.delete([last])
    assert memory.add("new") > last


def test_clear_keeps_other_namespaces(place: str, memory: Memory) -> None:
    memory.remember("key", "marmalade")
    memory.conversation("talk").append(Turn("user", "hello"))
    with Memory.open(place, namespace="clear-other") as other:
        other.remember("key", "honey")
        assert memory.clear() == 2
        assert (memory.recall("key"), memory.latest_session()) == (None, None)
        assert memory.search("marmalade honey") == []
        assert other.recall("key") == "honey"
        other.clear()


def test_graph_contains_links_between_memories(memory: Memory) -> None:
    ids = [memory.add(word) for word in ("oak", "elm", "ash")]
    memory.entries.links.reinforce(ids[:2])
    graph = memory.graph()
    assert {hit.id for hit in graph.memories} == set(ids[:2])
    assert [(link.one, link.other, link.proven) for link in graph.links] == [(*ids[:2], True)]


def test_adding_kind_memory_sets_key_value(memory: Memory) -> None:
    for value in ("one", "two"):
        memory.add(value, kind="memory", key="count")
    assert memory.remembered() == {"count": "two"}
    with pytest.raises(ReservedKey):
        memory.add("x", kind="memory", key="_convCount")


def test_cleared_namespace_keeps_no_notes_or_seals(memory: Memory, tmp_path: Path) -> None:
    memory.remember("boat", "Kittiwake")
    SealedLog(memory).append("decision", "We sail")
    sync_wiki(memory, tmp_path / "wiki")
    memory.clear()
    assert SealedLog(memory).verify().entries == 0
    assert memory.entries.notes.read("wiki") is None


def test_cleared_namespace_leaves_no_text_in_files(tmp_path: Path) -> None:
    words = ("quixotrybark", "zephyrglint", "wombatology", "jacarandaful", "fjordmeister")
    with Memory.open(tmp_path, "gone") as memory, Memory.open(tmp_path, "kept") as other:
        other.remember("boat", "Kittiwake")
        memory.remember(words[0], f"it is {words[1]}")
        memory.remember(words[0], "something else")
        memory.conversation("talk").append(Turn("user", f"about {words[2]}"))
        SealedLog(memory).append("decision", words[3])
        memory.save("profile", {"street": words[4]})
        stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert all(word.encode() in stored for word in words)
        memory.clear()
        stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert [word for word in words if word.encode() in stored] == []
        assert other.recall("boat") == "Kittiwake"


def test_cleared_conversation_leaves_no_text_in_files(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.conversation("talk").append(Turn("user", "about wombatology"))
        memory.clear()
        stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"wombatology" not in stored
