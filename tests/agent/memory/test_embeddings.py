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
from agent.memory import Layers, Memory, build_messages
from agent.memory.database import embeddings
from agent.memory.embedders import PACKAGE, EndpointEmbedder, MiniLm, make_embedder
from agent.memory.memory_types import EmbeddingFailed
from agent.memory.vectors import cosine, digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TOPICS = (("boat", "ferry", "ship"), ("bread", "oven", "flour"))


class TopicEmbedder:
    """Embeds a text by its number of words from each topic."""

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


def test_vectors_rerank_keyword_matches(place: str, embedder: TopicEmbedder) -> None:
    with Memory.open(place, uuid4().hex, embeddings=embedder) as memory:
        memory.add("The old thing was sold: an oven")
        ship = memory.add("The old thing was sold: a ship")
        assert memory.search("Which old ferry was sold?")[0].id == ship


def test_text_is_embedded_once_and_again_after_change(place: str, embedder: TopicEmbedder) -> None:
    with Memory.open(place, uuid4().hex, embeddings=embedder) as memory:
        words = uuid4().hex
        memory.remember("a", f"boat {words}")
        memory.remember("b", f"oven {words}")
        for _ in range(3):
            memory.search(words)
        assert sorted(embedder.asked) == sorted([f"a: boat {words}", f"b: oven {words}", words])
        memory.remember("a", f"flour {words}")
        memory.search(words)
        assert embedder.asked[3:] == [f"a: flour {words}"]


def test_memory_without_shared_words_is_found_by_meaning(
    place: str, embedder: TopicEmbedder
) -> None:
    with Memory.open(place, uuid4().hex, embeddings=embedder) as memory:
        memory.add("Gulls were seen")
        ship = memory.add("A ship was sold")
        assert [hit.id for hit in memory.search("ferry", 1)] == [ship]
        memory.remember("trade", "oven")
        assert memory.search("flour", 1)[0].text == "oven"
        memory.remember("trade", "ferry")
        memory.delete([ship])
        assert [hit.text for hit in memory.search("boat", 1)] == ["ferry"]
        assert all(hit.score < 0.45 for hit in memory.search("boat")), "no claim to bear on it"


def test_memory_written_by_another_connection_is_found_by_meaning(
    place: str, embedder: TopicEmbedder
) -> None:
    name = uuid4().hex
    with Memory.open(place, name, embeddings=embedder) as memory, Memory.open(place, name) as other:
        memory.add("An oven")
        assert memory.search("ferry")[0].text == "An oven"
        other.add("A ship")
        assert memory.search("ferry", 1)[0].text == "A ship"


def test_unreachable_embedder_falls_back_to_keywords(place: str) -> None:
    with Memory.open(place, uuid4().hex, embeddings=Unreachable()) as memory:
        memory.add("a quiet harbour")
        wanted = memory.add("a quiet harbour at night")
        assert memory.search("quiet harbour night")[0].id == wanted


def test_similarity_selects_memories_for_run(place: str, embedder: TopicEmbedder) -> None:
    memories = {f"k{n}": TOPICS[n % 2][n % 3] for n in range(8)}
    texts = [f"{key}: {value}" for key, value in memories.items()]
    with Memory.open(place, uuid4().hex, embeddings=embedder) as memory:
        near = memory.similarities("the boat", texts)
    messages, _ = build_messages("the boat", Layers(memories=memories), near=near)
    assert "[Relevant memories (4/8 total):" in messages[-1].content
    assert "oven" not in messages[-1].content


def test_nothing_is_near_without_embeddings(memory: Memory) -> None:
    assert memory.similarities("the boat", ["a boat"]) == {}


def test_cosine_of_mismatched_or_zero_vectors_is_zero() -> None:
    assert cosine([1.0], [1.0, 0.0]) == 0.0
    assert cosine([0.0, 0.0], [1.0, 0.0]) == 0.0
    assert cosine([2.0, 0.0], [1.0, 0.0]) == 1.0


class _Endpoint(BaseHTTPRequestHandler):
    """Returns each text's length as a vector, in a different order."""

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


def test_endpoint_returns_vectors_in_text_order(endpoint: str) -> None:
    embedder = make_embedder("nomic-embed", endpoint, {"OPENAI_API_KEY": "k"})
    assert embedder is not None
    assert embedder.embed(["abc", "a"]) == [[3.0, 1.0], [1.0, 1.0]]


def test_failed_endpoint_is_not_called_again(endpoint: str) -> None:
    embedder = EndpointEmbedder("m", endpoint, "wrong")
    for _ in range(2):
        with pytest.raises(EmbeddingFailed):
            embedder.embed(["a"])
    assert _Endpoint.asked == ["/v1/embeddings"]


def test_an_unknown_embedder_is_a_usage_error() -> None:
    assert make_embedder(None, None, {}) is None
    with pytest.raises(UsageError):
        make_embedder("nobody/x", None, {})


@pytest.mark.skipif(find_spec(PACKAGE) is None, reason="needs the extra `embeddings`")
def test_local_model_recognises_paraphrases() -> None:
    one, same, other = MiniLm().embed(
        ["A cat sits outside", "A feline is outdoors", "Someone plays the guitar"]
    )
    assert cosine(one, one) == pytest.approx(1.0, abs=1e-5)
    assert cosine(one, same) > 0.5 > 0.2 > cosine(one, other)


def test_forgotten_memory_leaves_no_vector(place: str, embedder: TopicEmbedder) -> None:
    with Memory.open(place, uuid4().hex, embeddings=embedder) as memory:
        word = uuid4().hex
        for number in range(2):
            memory.remember(f"k{number}", f"{word} {number}")
        memory.search(word)
        for key in memory.remembered():
            memory.forget(key)
        with memory.store.read() as connection:
            left = set(connection.scalars(sa.select(embeddings.c.digest)))
        assert not left & {digest(f"{word} {number}") for number in range(2)}


def test_deleted_memory_leaves_no_code(place: str, embedder: TopicEmbedder) -> None:
    with Memory.open(place, uuid4().hex, embeddings=embedder) as memory:
        ids = [memory.add(f"{word} at sea") for word in ("boat", "ferry")]
        memory.search("boat")
        memory.delete(ids[:1])
        with memory.store.read() as connection:
            tables = sa.inspect(connection).get_table_names()
            name = "vectors" if "vectors" in tables else "codes"
            left = sa.text(f"SELECT memory FROM {name} WHERE memory IN ({ids[0]}, {ids[1]})")
            assert list(connection.scalars(left)) == ids[1:]


def test_store_without_embedding_index_is_migrated(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.remember("boat", "Kittiwake")
        with memory.store.write() as connection:
            for name in ("codes", "restated"):
                connection.exec_driver_sql(f"DROP TABLE {name}")
            connection.exec_driver_sql("UPDATE migrations SET version = 1")
    with Memory.open(tmp_path, embeddings=TopicEmbedder()) as memory:
        assert memory.search("ferry")[0].text == "Kittiwake"
    with Memory.open(tmp_path) as memory:
        assert memory.recall("boat") == "Kittiwake"


def test_pgvector_is_used_when_available(postgres: str, embedder: TopicEmbedder) -> None:
    with Memory.open(postgres, uuid4().hex, embeddings=embedder) as memory:
        numbers = [memory.add(f"{word} {number}") for number, word in enumerate(("boat", "oven"))]
        assert memory.search("ferry", 1)[0].id == numbers[0]
        with memory.store.read() as connection:
            plan = "SELECT indexdef FROM pg_indexes WHERE tablename = 'vectors'"
            assert any("hnsw" in text for text in connection.scalars(sa.text(plan)))
            kept = sa.text(f"SELECT count(*) FROM vectors WHERE memory >= {numbers[0]}")
            assert connection.scalar(kept) == 2


def test_postgres_without_pgvector_permission_works(postgres: str, embedder: TopicEmbedder) -> None:
    url = sa.make_url(postgres).set(drivername="postgresql+psycopg")
    name = f"plain_{uuid4().hex[:8]}"
    admin = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {name} LOGIN")
        connection.exec_driver_sql(f"CREATE DATABASE {name} OWNER {name}")
    admin.dispose()
    plain = url.set(drivername="postgresql", username=name, database=name)
    where = plain.render_as_string(hide_password=False)
    with Memory.open(where, embeddings=embedder) as memory:
        memory.add("An oven")
        memory.add("A ship")
        assert memory.search("ferry", 1)[0].text == "A ship"
        with memory.store.read() as connection:
            assert not sa.inspect(connection).has_table("vectors")
