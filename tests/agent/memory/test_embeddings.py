from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar
from uuid import uuid4

import pytest
import sqlalchemy as sa

from agent.errors import UsageError
from agent.memory import Memory, build_messages
from agent.memory.embedders import embedder_of
from agent.memory.embeddings import Vectors, cosine, digest
from agent.memory.endpoint import EndpointEmbedder
from agent.memory.errors import EmbeddingFailed
from agent.memory.minilm import PACKAGE, MiniLm
from agent.memory.schema import embeddings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


class _Endpoint(BaseHTTPRequestHandler):
    """Gives each text its length as a vector, in another order than asked."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(self.path)
        rows = [{"index": n, "embedding": [len(t), 1]} for n, t in enumerate(body["input"])]
        good = self.headers["Authorization"] == "Bearer k"
        self.send_response(200 if good else 401)
        self.end_headers()
        self.wfile.write(json.dumps({"data": rows[::-1]}).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        _Endpoint.asked.clear()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def test_an_endpoint_gives_vectors_in_the_order_of_the_texts(endpoint: str) -> None:
    embedder = embedder_of("nomic-embed", endpoint, {"OPENAI_API_KEY": "k"})
    assert embedder is not None
    assert embedder.embed(["abc", "a"]) == [[3.0, 1.0], [1.0, 1.0]]


def test_an_endpoint_that_failed_is_not_asked_again(endpoint: str) -> None:
    embedder = EndpointEmbedder("m", endpoint, "wrong")
    for _ in range(2):
        with pytest.raises(EmbeddingFailed):
            embedder.embed(["a"])
    assert _Endpoint.asked == ["/v1/embeddings"]


def test_an_unknown_embedder_is_a_usage_error() -> None:
    assert embedder_of(None, None, {}) is None
    with pytest.raises(UsageError):
        embedder_of("nobody/x", None, {})


@pytest.mark.skipif(find_spec(PACKAGE) is None, reason="needs the extra `embeddings`")
def test_the_local_model_tells_what_means_the_same() -> None:
    one, same, other = MiniLm().embed(
        ["A cat sits outside", "A feline is outdoors", "Someone plays the guitar"]
    )
    assert cosine(one, one) == pytest.approx(1.0, abs=1e-5)
    assert cosine(one, same) > 0.5 > 0.2 > cosine(one, other)


def test_what_is_forgotten_leaves_no_vector(place: str, embedder: TopicEmbedder) -> None:
    with Memory.open(place, uuid4().hex, embedder=embedder) as memory:
        word = uuid4().hex
        for number in range(2):
            memory.remember(f"k{number}", f"{word} {number}")
        memory.search(word)
        for key in memory.remembered():
            memory.forget(key)
        with memory._store.read() as connection:
            left = set(connection.scalars(sa.select(embeddings.c.digest)))
        assert not left & {digest(f"{word} {number}") for number in range(2)}
