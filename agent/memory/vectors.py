"""Search by meaning, if there is an embedding model: text vectors and an index over them.

Vectors are stored by content and model, never by key. The index yields candidates that share no
word with the question; their cosines are then computed from the full vectors. If the model fails,
the search uses words alone.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import time
from array import array
from collections.abc import Sequence
from functools import lru_cache
from operator import mul
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import sqlalchemy as sa
from sqlalchemy import exc

from agent.memory.database import (
    NAMESPACE_SHIFT,
    Notes,
    codes,
    embeddings,
    memories,
    restated,
    rows_by_id,
)
from agent.memory.kinds import NAMED
from agent.memory.memory_types import EmbeddingFailed

if TYPE_CHECKING:
    from collections.abc import Collection

    from agent.memory.database import Store

Vector = Sequence[float]

# maximum length in characters of text to embed, as in the reference engine
MAX_INPUT_CHARS = 2_000
MAX_CACHED_QUESTIONS = 100  # question vectors cached in this process; questions are never stored
MAX_NEAREST = 50  # maximum number of candidates found by meaning alone
BATCH_SIZE = 64  # memories embedded between two checks of the deadline


class Embedder(Protocol):
    """A model that converts strings to vectors; `name` identifies it."""

    name: str

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed texts in one call, in order; raises `EmbeddingFailed`."""
        ...


class Vectors:
    """One model's vectors for a store's text and memories.

    Memories are searchable by words immediately, and by meaning once their vectors are computed.
    New memories are recognised by their ids, which only increase; the table `restated` lists those
    whose text changed.
    """

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._index: SignBitIndex | PgVectorIndex = SignBitIndex(embedder.name)
        if not store.sqlite and _has_pgvector(store):
            self._index = PgVectorIndex(store, embedder.name)
        self.question = lru_cache(MAX_CACHED_QUESTIONS)(self._question)
        """Function that returns the vector of a question, or None if the model fails."""

    def _question(self, text: str) -> Vector | None:
        try:
            return self._embedder.embed([text[:MAX_INPUT_CHARS]])[0]
        except EmbeddingFailed:
            return None  # the search then uses words alone

    def embed(self, texts: Collection[str]) -> dict[str, Vector] | None:
        """Return each text's vector, computed or stored; None if the model fails."""
        names, model = {text: digest(text) for text in texts}, self._embedder.name
        query = sa.select(embeddings.c.digest, embeddings.c.vector).where(
            embeddings.c.digest.in_(list(names.values())), embeddings.c.model == model
        )
        with self._store.read() as connection:
            known: dict[str, Vector] = {
                row.digest: array("f", row.vector) for row in connection.execute(query)
            }
        missing = {
            name: text[:MAX_INPUT_CHARS] for text, name in names.items() if name not in known
        }
        if missing:
            try:
                new = self._embedder.embed(list(missing.values()))
            except EmbeddingFailed:
                return None
            known |= dict(zip(missing, new, strict=True))
            with self._store.write() as connection:
                for name, vector in zip(missing, new, strict=True):
                    which = (embeddings.c.digest == name) & (embeddings.c.model == model)
                    connection.execute(embeddings.delete().where(which))
                    row = {"digest": name, "model": model, "vector": array("f", vector).tobytes()}
                    connection.execute(embeddings.insert(), row)
        return {text: known[name] for text, name in names.items()}

    def similarities(self, question: str, texts: Collection[str]) -> dict[str, float]:
        """Return the cosine between a question and each text; {} if the model fails."""
        query = self.question(question)
        vectors = None if query is None else self.embed(texts)
        if query is None or vectors is None:
            return {}
        return {text: cosine(query, vector) for text, vector in vectors.items()}

    def nearest(
        self, connection: sa.Connection, query: Vector, first: int, last: int
    ) -> Sequence[int]:
        """List the ids, within `first` to `last`, of the memories nearest to a question."""
        return self._index.nearest(connection, query, first, last, MAX_NEAREST)

    def cosines(
        self, query: Vector, windows: Sequence[Sequence[tuple[float, Any]]]
    ) -> list[float] | None:
        """Return the cosine between a question and each window of (share, memory row) pairs.

        Returns None if the model fails.
        """
        shares = [
            [(s, embedding_text(row.kind, row.key, row.text)) for s, row in w] for w in windows
        ]
        vectors = self.embed(dict.fromkeys(text for window in shares for _, text in window))
        if vectors is None:
            return None
        return [cosine(query, _sum([(s, vectors[text]) for s, text in w])) for w in shares]

    def catch_up(self, namespace: int, deadline: float) -> None:
        """Embed a namespace's new memories until `deadline` on the monotonic clock."""
        notes, name = Notes(self._store, namespace), f"embedded {self._embedder.name}"
        first = namespace << NAMESPACE_SHIFT
        while True:
            reached = int(notes.read(name) or first)
            rows = self._backlog(first, reached)
            texts = {row.id: embedding_text(row.kind, row.key, row.text) for row in rows}
            vectors = self.embed(texts.values()) if rows else None
            if vectors is None:
                return
            with self._store.write() as connection:
                existing = rows_by_id(
                    connection, texts
                )  # some may have been deleted in the meantime
                new = [(id_, vectors[text]) for id_, text in texts.items() if id_ in existing]
                if new:
                    self._index.put(connection, new)
                connection.execute(restated.delete().where(restated.c.memory.in_(list(texts))))
            notes.write(name, max(reached, *texts))
            if time.monotonic() >= deadline:
                return

    def _backlog(self, first: int, reached: int) -> Sequence[Any]:
        """List searchable memories to embed: those with changed text or, if none, new ones."""
        last = first + (1 << NAMESPACE_SHIFT) - 1
        query = sa.select(memories).where(memories.c.state == "active", memories.c.terms != "")
        query = query.order_by(memories.c.id).limit(BATCH_SIZE)
        again = sa.select(restated.c.memory).where(restated.c.memory.between(first, last))
        with self._store.read() as connection:
            rows = connection.execute(query.where(memories.c.id.in_(again))).all()
            new = query.where(memories.c.id.between(reached + 1, last))
            return rows or connection.execute(new).all()


def digest(text: str) -> str:
    """Hash the part of `text` that is embedded."""
    return hashlib.sha256(text[:MAX_INPUT_CHARS].encode("utf-8", "surrogatepass")).hexdigest()


def embedding_text(kind: str, key: str | None, text: str) -> str:
    """Return the text to embed for a memory, prefixed with its key if the key is a name."""
    return f"{key}: {text}" if key and kind in NAMED else text


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine between two vectors; 0 if either is zero or their lengths differ."""
    if len(one) != len(other):
        return 0.0
    size = math.sqrt(_dot(one, one) * _dot(other, other))
    return _dot(one, other) / size if size else 0.0


def _dot(one: Vector, other: Vector) -> float:
    return float(sum(map(mul, one, other)))


def _sum(parts: Sequence[tuple[float, Vector]]) -> Vector:
    """Add vectors weighted by their shares; those of a different length are ignored."""
    total = [parts[0][0] * x for x in parts[0][1]]
    for share, vector in parts[1:]:
        if len(vector) == len(total):
            total = [x + share * y for x, y in zip(total, vector, strict=True)]
    return total


class SignBitIndex:
    """An index of sign bits, 48 bytes per memory, compared by Hamming distance.

    Codes added by other processes are visible; changes and deletions become visible only when the
    store is reopened. A search may therefore miss a candidate or get an extra one, but it never
    returns deleted text.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._known: dict[int, dict[int, int]] = {}
        self._lock = Lock()

    def put(self, connection: sa.Connection, rows: Sequence[tuple[int, Vector]]) -> None:
        """Save memories' codes by id, replacing earlier ones."""
        coded = {id_: _sign_bits(vector) for id_, vector in rows}
        mine = codes.c.model == self._model
        connection.execute(codes.delete().where(mine, codes.c.memory.in_(list(coded))))
        connection.execute(
            codes.insert(),
            [{"model": self._model, "memory": i, "code": code} for i, code in coded.items()],
        )
        with self._lock:
            for known in self._known.values():
                known.update({i: _number(coded[i]) for i in known.keys() & coded.keys()})

    def nearest(
        self, connection: sa.Connection, vector: Vector, first: int, last: int, limit: int
    ) -> Sequence[int]:
        """Read new codes, then list the nearest ids by comparing all codes in the namespace."""
        wanted = _number(_sign_bits(vector))
        with self._lock:
            known = self._known.setdefault(first, {})
            new = sa.select(codes.c.memory, codes.c.code).where(
                codes.c.model == self._model,
                codes.c.memory.between(max(known, default=first - 1) + 1, last),
            )
            rows = connection.execute(new.order_by(codes.c.memory)).all()
            known.update((memory, _number(code)) for memory, code in rows)
            every = list(known.items())
        found = heapq.nsmallest(limit, (((code ^ wanted).bit_count(), i) for i, code in every))
        return [id_ for _, id_ in found]


def _sign_bits(vector: Vector) -> bytes:
    """Encode a vector as bits: 1 for a positive number."""
    bits = "".join("1" if number > 0 else "0" for number in vector)
    return int(bits or "0", 2).to_bytes((len(bits) + 7) // 8)


def _number(code: bytes) -> int:
    return int.from_bytes(code)


# the first version that continues scanning if a namespace is a small part of the index
MIN_PGVECTOR = (0, 8)
# maximum number of dimensions; longer vectors are compared one by one
MAX_INDEXED_DIMENSIONS = 2_000
_CREATE_SQL = """
CREATE TABLE IF NOT EXISTS vectors (
    model text NOT NULL,
    memory bigint NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    embedding vector NOT NULL,
    PRIMARY KEY (memory, model)
)
"""
_PUT_SQL = sa.text(
    "INSERT INTO vectors (model, memory, embedding) VALUES (:model, :memory, CAST(:v AS vector)) "
    "ON CONFLICT (memory, model) DO UPDATE SET embedding = excluded.embedding"
)
_HAS_VECTORS_SQL = sa.text("SELECT 1 FROM vectors WHERE model = :model LIMIT 1")


def _has_pgvector(store: Store) -> bool:
    """Return whether this Postgres has a recent enough pgvector, enabling it if necessary."""
    known = sa.text("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
    with store.read() as connection:
        version = connection.scalar(known)
        if version is None or tuple(map(int, version.split(".")[:2])) < MIN_PGVECTOR:
            return False
        try:
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
        except exc.DBAPIError:
            return False  # no permission to enable it; words and sign bits also work
    return True


class PgVectorIndex:
    """A pgvector index."""

    def __init__(self, store: Store, model: str) -> None:
        # The name is used in statements that take no parameters, where a hash is safe.
        self._model = hashlib.sha256(model.encode()).hexdigest()[:16]
        with store.write() as connection:
            connection.exec_driver_sql(_CREATE_SQL)

    def put(self, connection: sa.Connection, rows: Sequence[tuple[int, Vector]]) -> None:
        """Save memories' vectors by id; a model's first vector creates its index."""
        length = len(rows[0][1])
        new = connection.scalar(_HAS_VECTORS_SQL, {"model": self._model}) is None
        if new and length <= MAX_INDEXED_DIMENSIONS:
            connection.exec_driver_sql(
                f"CREATE INDEX IF NOT EXISTS vectors_{self._model} ON vectors "
                f"USING hnsw ((CAST(embedding AS vector({length}))) vector_cosine_ops) "
                f"WHERE model = '{self._model}'"
            )
        connection.execute(
            _PUT_SQL,
            [
                {"model": self._model, "memory": i, "v": _pgvector_literal(vector)}
                for i, vector in rows
            ],
        )

    def nearest(
        self, connection: sa.Connection, vector: Vector, first: int, last: int, limit: int
    ) -> Sequence[int]:
        """Query the index within the namespace."""
        connection.exec_driver_sql("SET hnsw.iterative_scan = strict_order")
        query = sa.text(
            f"SELECT memory FROM vectors WHERE model = '{self._model}' "  # noqa: S608 - a hash
            "AND memory BETWEEN :first AND :last "
            f"ORDER BY CAST(embedding AS vector({len(vector)})) <=> CAST(:v AS vector) LIMIT :limit"
        )
        asked = {"first": first, "last": last, "v": _pgvector_literal(vector), "limit": limit}
        return list(connection.scalars(query, asked))


def _pgvector_literal(vector: Vector) -> str:
    return "[" + ",".join(map(str, vector)) + "]"
