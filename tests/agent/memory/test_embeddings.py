from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from agent.memory import Memory, build_messages
from agent.memory.embeddings import Vectors, cosine
from agent.memory.errors import EmbeddingFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

TOPICS = (("boat", "ferry", "ship"), ("bread", "oven", "flour"))


class TopicEmbedder:
    """Embeds a text by how many words of each topic it has."""

    name = "topics"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [[sum(w in t.lower() for w in topic) + 0.01 for topic in TOPICS] for t in texts]


class Unreachable:
    name = "unreachable"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise EmbeddingFailed("no network")


@pytest.fixture
def embedder() -> TopicEmbedder:
    return TopicEmbedder()


def test_vectors_reorder_what_words_find(place: str, embedder: TopicEmbedder) -> None:
    with Memory.open(place, uuid4().hex, embedder=embedder) as memory:
        memory.add("The old thing was sold: an oven")
        ship = memory.add("The old thing was sold: a ship")
        assert memory.search("Which old ferry was sold?")[0].id == ship


def test_a_text_is_embedded_once_and_again_when_it_changes(
    place: str, embedder: TopicEmbedder
) -> None:
    with Memory.open(place, uuid4().hex, embedder=embedder) as memory:
        words = uuid4().hex
        memory.remember("a", f"boat {words}")
        memory.remember("b", f"oven {words}")
        for _ in range(3):
            memory.search(words)
        assert len(embedder.asked) == 3
        memory.remember("a", f"flour {words}")
        memory.search(words)
        assert embedder.asked[3:] == [f"flour {words}"]


def test_without_the_model_words_decide_alone(place: str) -> None:
    with Memory.open(place, uuid4().hex, embedder=Unreachable()) as memory:
        memory.add("a quiet harbour")
        wanted = memory.add("a quiet harbour at night")
        assert memory.search("quiet harbour night")[0].id == wanted


def test_similarity_decides_which_memories_a_run_is_given(
    memory: Memory, embedder: TopicEmbedder
) -> None:
    memories = {f"k{n}": TOPICS[n % 2][n % 3] for n in range(8)}
    texts = [f"{key}: {value}" for key, value in memories.items()]
    near = Vectors(memory._store, embedder).similarity("the boat", texts)
    messages, _ = build_messages("the boat", memories=memories, similarity=near)
    assert "[Relevant memories (4/8 total):" in messages[-1].content
    assert "oven" not in messages[-1].content


def test_cosine_of_unlike_lengths_or_nothing_is_zero() -> None:
    assert cosine([1.0], [1.0, 0.0]) == 0.0
    assert cosine([0.0, 0.0], [1.0, 0.0]) == 0.0
    assert cosine([2.0, 0.0], [1.0, 0.0]) == 1.0
