"""The namespace `shared`: readable from everywhere, writable only when opened itself."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from agent.errors import UsageError
from agent.memory import Memory, Origin
from agent.memory.entries import SHARED
from agent.memory.layers import context_block

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def shared(place: str) -> Iterator[Memory]:
    with Memory.open(place, SHARED) as opened:
        yield opened
        opened.clear()


def test_shared_memories_are_found_from_every_namespace_and_marked(
    memory: Memory, shared: Memory
) -> None:
    shared.remember("house style", "We write dates as 4 March")
    memory.add("The style of the house is Gothic")
    found = memory.search("Which style has the house?")
    assert [(hit.text, hit.shared) for hit in found] == [
        ("We write dates as 4 March", True),
        ("The style of the house is Gothic", False),
    ]
    assert [hit.shared for hit in shared.search("house style")] == [False]


def test_shared_memories_are_labelled_in_run_context(memory: Memory, shared: Memory) -> None:
    shared.add("The ferry to Hesk sails at nine", kind="fact", origin=Origin(trusted=False))
    recalled = memory.layers("When does the ferry to Hesk sail?").recalled
    assert "[shared] [fact]" in context_block(recalled)
    assert '<web source="memory">' in context_block(recalled), "the web's words stay the web's"


def test_shared_memories_cannot_be_changed_from_other_namespaces(
    memory: Memory, shared: Memory
) -> None:
    kept = shared.remember("boat", "Kittiwake")
    own = memory.remember("boat", "Brackwater")
    memory.entries.links.reinforce([kept, own])
    assert memory.forget("boat")
    assert memory.delete([kept]) == 0
    memory.clear()
    assert shared.recall("boat") == "Kittiwake"
    assert shared.graph().links == ()
    found = memory.get(kept)
    assert found is not None
    assert found.shared


def test_memory_cannot_be_read_by_id_from_another_namespace(memory: Memory, place: str) -> None:
    secret = memory.add("The key lies under the mat")
    with Memory.open(place, uuid4().hex) as stranger:
        assert stranger.get(secret) is None
        assert stranger.search("Where is the key?") == []


@pytest.mark.parametrize("name", ["", "  "])
def test_invalid_namespace_name_is_refused(place: str, name: str) -> None:
    with pytest.raises(UsageError):
        Memory.open(place, name)
