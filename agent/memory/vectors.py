"""Searching by meaning, where someone brings a model for it: vectors, their index, the order.

Vectors are kept by content and model, never by key. An index over them brings candidates that share
no word with the question; how near each is, is measured on whole vectors afterwards. Where the
model fails, words decide alone.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import statistics
import time
from array import array
from collections.abc import Sequence
from functools import lru_cache
from operator import mul
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import sqlalchemy as sa
from sqlalchemy import exc

from agent.memory.database import codes, embeddings, memories, restated, rows_of
from agent.memory.memory_types import EmbeddingFailed
from agent.memory.records import meaning
from agent.memory.word_search import WINDOW

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent.memory.database import Notes, Store
    from agent.memory.term_index import Range

Vector = Sequence[float]
Found = list[tuple[float, int]]
"""Scores and ids, best first."""

INPUT = 2_000  # characters of a text that are embedded, as in the reference engine
QUESTIONS = 100  # whose vectors are kept, by this process alone: what was asked leaves no trace
REORDERED = 100  # hits by words that meaning puts in another order
NEAREST = 50  # memories that meaning alone brings
SECONDS = 3.0  # that a search spends on vectors of what is new; consolidation does the rest
BATCH = 64  # memories that are embedded between two looks at the clock

# Of the spread of cosines, to that of scores by words; both are brought to the same scale first.
WEIGHT = 0.5
LEAST_SPREAD = 0.1  # of the mean score: words that say the same of all leave it to the vectors
ALONE = 0.05  # the spread where no word says anything: an order, and no claim to bear on it


class Embedder(Protocol):
    """A model that turns texts into vectors; `name` tells models apart."""

    name: str

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed texts in one call, in their order; raises `EmbeddingFailed`."""
        ...


class Vectors:
    """Vectors of texts, each computed once for each model."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self.question = lru_cache(QUESTIONS)(self._question)
        """The vector of a question, None where the model fails."""

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._embedder.name

    def _question(self, text: str) -> Vector | None:
        try:
            return self._embedder.embed([text[:INPUT]])[0]
        except EmbeddingFailed:
            return None  # words decide alone, as promised

    def of(self, texts: Sequence[str]) -> dict[str, Vector] | None:
        """Give the vector of each text, None where the model fails."""
        names = {text: digest(text) for text in texts}
        known = self._read(list(names.values()))
        missing = {name: text[:INPUT] for text, name in names.items() if name not in known}
        if missing:
            try:
                new = self._embedder.embed(list(missing.values()))
            except EmbeddingFailed:
                return None
            known |= dict(zip(missing, new, strict=True))
            self._write({name: known[name] for name in missing})
        return {text: known[name] for text, name in names.items()}

    def near(self, question: str, texts: Sequence[str]) -> dict[str, float]:
        """Give the cosine of a question and each text; nothing where the model fails."""
        asked = self.question(question)
        vectors = None if asked is None else self.of(texts)
        if asked is None or vectors is None:
            return {}
        return {text: cosine(asked, vector) for text, vector in vectors.items()}

    def _read(self, names: Sequence[str]) -> dict[str, Vector]:
        query = sa.select(embeddings.c.digest, embeddings.c.vector).where(
            embeddings.c.digest.in_(names), embeddings.c.model == self.model
        )
        with self._store.read() as connection:
            return {row.digest: array("f", row.vector) for row in connection.execute(query)}

    def _write(self, new: dict[str, Vector]) -> None:
        with self._store.write() as connection:
            for name, vector in new.items():
                which = (embeddings.c.digest == name) & (embeddings.c.model == self.model)
                connection.execute(embeddings.delete().where(which))
                packed = array("f", vector).tobytes()
                row = {"digest": name, "model": self.model, "vector": packed}
                connection.execute(embeddings.insert(), row)


def digest(text: str) -> str:
    """Name a text, as far as it is embedded."""
    return hashlib.sha256(text[:INPUT].encode("utf-8", "surrogatepass")).hexdigest()


def cosine(one: Vector, other: Vector) -> float:
    """Compare two vectors; 0 where one is empty or their lengths differ."""
    if len(one) != len(other):
        return 0.0
    size = math.sqrt(_dot(one, one) * _dot(other, other))
    return _dot(one, other) / size if size else 0.0


def _dot(one: Vector, other: Vector) -> float:
    return float(sum(map(mul, one, other)))


class VectorIndex(Protocol):
    """The vectors of memories, by one model."""

    def put(self, connection: sa.Connection, rows: Sequence[tuple[int, Vector]]) -> None:
        """Keep the vectors of memories by id, in place of those that they had."""
        ...

    def near(
        self, connection: sa.Connection, vector: Vector, where: Range, limit: int
    ) -> list[int]:
        """List the ids of the memories whose vectors are nearest."""
        ...


def vector_index(store: Store, model: str) -> VectorIndex:
    """Give the index of a model's vectors: by pgvector where the database has it."""
    if store.sqlite:
        return CodeIndex(model)
    with store.read() as connection:
        if not _has_pgvector(connection):
            return CodeIndex(model)
    index = PgVectorIndex(model)
    with store.write() as connection:
        index.create(connection)
    return index


class CodeIndex:
    """`VectorIndex` over the signs of the numbers: 48 bytes a memory, compared by differing bits.

    What is written to the table by others is seen; what they change or delete only when reopened,
    which brings a candidate too many or too few, and never a text that is gone.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._known: dict[int, dict[int, int]] = {}
        self._lock = Lock()

    def put(self, connection: sa.Connection, rows: Sequence[tuple[int, Vector]]) -> None:
        """Keep codes, in the table and in those that are known."""
        ids = [id_ for id_, _ in rows]
        coded = {id_: _code(vector) for id_, vector in rows}
        mine = codes.c.model == self._model
        connection.execute(codes.delete().where(mine, codes.c.memory.in_(ids)))
        connection.execute(
            codes.insert(),
            [{"model": self._model, "memory": i, "code": code} for i, code in coded.items()],
        )
        with self._lock:
            for known in self._known.values():
                known.update({i: _number(coded[i]) for i in known.keys() & coded.keys()})

    def near(
        self, connection: sa.Connection, vector: Vector, where: Range, limit: int
    ) -> list[int]:
        """Compare with every code of the namespace."""
        wanted = _number(_code(vector))
        known = self._read(connection, where)
        found = heapq.nsmallest(limit, (((code ^ wanted).bit_count(), i) for i, code in known))
        return [id_ for _, id_ in found]

    def _read(self, connection: sa.Connection, where: Range) -> list[tuple[int, int]]:
        """Read the codes that are new since the last search."""
        with self._lock:
            known = self._known.setdefault(where.first, {})
            first = max(known, default=where.first - 1) + 1
            query = sa.select(codes.c.memory, codes.c.code).where(
                codes.c.model == self._model, codes.c.memory.between(first, where.last)
            )
            rows = connection.execute(query.order_by(codes.c.memory)).all()
            known.update((memory, _number(code)) for memory, code in rows)
            return list(known.items())


def _code(vector: Vector) -> bytes:
    """Spell a vector in bits: 1 where the number is positive."""
    bits = "".join("1" if number > 0 else "0" for number in vector)
    return int(bits or "0", 2).to_bytes((len(bits) + 7) // 8)


def _number(code: bytes) -> int:
    return int.from_bytes(code)


OLDEST = (0, 8)  # the first that goes on scanning where a namespace takes little of the index
INDEXED = 2_000  # dimensions at most; longer vectors are compared one by one
_CREATE = """
CREATE TABLE IF NOT EXISTS vectors (
    model text NOT NULL,
    memory bigint NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    embedding vector NOT NULL,
    PRIMARY KEY (memory, model)
)
"""
_PUT = sa.text(
    "INSERT INTO vectors (model, memory, embedding) VALUES (:model, :memory, CAST(:v AS vector)) "
    "ON CONFLICT (memory, model) DO UPDATE SET embedding = excluded.embedding"
)
_LENGTH = sa.text(
    "SELECT vector_dims(embedding) FROM vectors WHERE model = :model ORDER BY memory LIMIT 1"
)


def _has_pgvector(connection: sa.Connection) -> bool:
    """Tell whether this Postgres has a pgvector that is new enough, or lets us switch it on."""
    known = sa.text("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
    version = connection.scalar(known)
    if version is None or tuple(map(int, version.split(".")[:2])) < OLDEST:
        return False
    try:
        connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
    except exc.DBAPIError:
        return False  # it takes more rights than we have; words and codes serve as well
    return True


class PgVectorIndex:
    """`VectorIndex` over pgvector."""

    def __init__(self, model: str) -> None:
        # The name stands inside statements that take no parameters: a hash is safe there.
        self._model = hashlib.sha256(model.encode()).hexdigest()[:16]

    def create(self, connection: sa.Connection) -> None:
        """Create the table where it is missing."""
        connection.exec_driver_sql(_CREATE)

    def put(self, connection: sa.Connection, rows: Sequence[tuple[int, Vector]]) -> None:
        """Keep vectors; the first of a model creates its index."""
        if connection.scalar(_LENGTH, {"model": self._model}) is None:
            self._create_index(connection, len(rows[0][1]))
        connection.execute(
            _PUT, [{"model": self._model, "memory": i, "v": _spelt(vector)} for i, vector in rows]
        )

    def near(
        self, connection: sa.Connection, vector: Vector, where: Range, limit: int
    ) -> list[int]:
        """Ask the index, in the namespace alone."""
        connection.exec_driver_sql("SET hnsw.iterative_scan = strict_order")
        query = sa.text(
            f"SELECT memory FROM vectors WHERE model = '{self._model}' "  # noqa: S608 - a hash
            "AND memory BETWEEN :first AND :last "
            f"ORDER BY CAST(embedding AS vector({len(vector)})) <=> CAST(:v AS vector) LIMIT :limit"
        )
        asked = {"first": where.first, "last": where.last, "v": _spelt(vector), "limit": limit}
        return list(connection.scalars(query, asked))

    def _create_index(self, connection: sa.Connection, length: int) -> None:
        if length <= INDEXED:
            connection.exec_driver_sql(
                f"CREATE INDEX IF NOT EXISTS vectors_{self._model} ON vectors "
                f"USING hnsw ((CAST(embedding AS vector({length}))) vector_cosine_ops) "
                f"WHERE model = '{self._model}'"
            )


def _spelt(vector: Vector) -> str:
    return "[" + ",".join(map(str, vector)) + "]"


class ByMeaning:
    """The meaning of the memories of one namespace, whose ids lie within `bounds`.

    Memories are searchable by words at once, vectors follow: what is new is told by ids, which only
    grow; what says something else under its old id is listed in `restated`.
    """

    def __init__(
        self, store: Store, notes: Notes, bounds: tuple[int, int], vectors: Vectors
    ) -> None:
        self._store = store
        self._notes = notes
        self._first, self._last = bounds
        self._vectors = vectors
        self._index = vector_index(store, vectors.model)
        self._note = f"embedded {vectors.model}"

    def asked(self, question: str) -> Vector | None:
        """Give the vector of a question, None where it says nothing or the model fails."""
        if not question.strip():
            return None
        self.catch_up(time.monotonic() + SECONDS)
        return self._vectors.question(question)

    def near(self, connection: sa.Connection, asked: Vector, where: Range) -> list[int]:
        """List the memories nearest to a question."""
        return self._index.near(connection, asked, where, NEAREST)

    def reorder(
        self, connection: sa.Connection, asked: Vector, found: Found, near: Sequence[int]
    ) -> Found:
        """Reorder what words found, as far down as anyone looks, and what meaning alone brought.

        A memory counts with its neighbours, since what is said beside it says what it is about.
        """
        brought = set(near)
        head = [*found[:REORDERED], *(pair for pair in found[REORDERED:] if pair[1] in brought)]
        wanted = sorted({id_ - by for _, id_ in head for by, _ in WINDOW})
        rows = rows_of(connection, wanted)
        active = {id_: row for id_, row in rows.items() if row.state == "active"}
        head = [pair for pair in head if pair[1] in active]
        windows = [_window(active, id_) for _, id_ in head]
        vectors = self._vectors.of(list(dict.fromkeys(t for w in windows for _, t in w)))
        if vectors is None:
            return found
        cosines = [cosine(asked, _sum([(s, vectors[text]) for s, text in w])) for w in windows]
        known = {id_ for _, id_ in head}
        return [*joined(head, cosines), *(pair for pair in found if pair[1] not in known)]

    def catch_up(self, deadline: float, clock: Callable[[], float] = time.monotonic) -> int:
        """Embed what is new until `deadline` (seconds of `clock`); returns how many."""
        done = 0
        while rows := self._backlog():
            texts = {row.id: meaning(row.kind, row.key, row.text) for row in rows}
            vectors = self._vectors.of(list(texts.values()))
            if vectors is None:
                break
            self._put([(id_, vectors[text]) for id_, text in texts.items()])
            self._notes.write(self._note, max(self._reached(), *texts))
            done += len(rows)
            if clock() >= deadline:
                break
        return done

    def _backlog(self) -> Sequence[Any]:
        """List what was restated, then what is new, as far as it can be found."""
        query = sa.select(memories).where(memories.c.state == "active", memories.c.terms != "")
        again = sa.select(restated.c.memory).where(self._mine(restated.c.memory))
        new = self._mine(memories.c.id) & (memories.c.id > self._reached())
        with self._store.read() as connection:
            rows = connection.execute(query.where(memories.c.id.in_(again)).limit(BATCH)).all()
            return (
                rows
                or connection.execute(query.where(new).order_by(memories.c.id).limit(BATCH)).all()
            )

    def _put(self, found: Sequence[tuple[int, Any]]) -> None:
        """Write vectors of memories that are still there."""
        ids = [id_ for id_, _ in found]
        with self._store.write() as connection:
            left = set(connection.scalars(sa.select(memories.c.id).where(memories.c.id.in_(ids))))
            rows = [pair for pair in found if pair[0] in left]
            if rows:
                self._index.put(connection, rows)
            connection.execute(restated.delete().where(restated.c.memory.in_(ids)))

    def _reached(self) -> int:
        return int(self._notes.read(self._note) or self._first)

    def _mine(self, id_: Any) -> sa.ColumnElement[bool]:
        return sa.and_(id_ >= self._first, id_ <= self._last)


def _window(rows: Mapping[int, Any], memory: int) -> list[tuple[float, str]]:
    """Give a memory's text, and the shares that it takes of those beside it in its session."""
    near = [(share, rows[memory - by]) for by, share in WINDOW if memory - by in rows]
    own = rows[memory].session
    return [(s, meaning(row.kind, row.key, row.text)) for s, row in near if row.session == own]


def _sum(parts: Sequence[tuple[float, Vector]]) -> Vector:
    share, first = parts[0]
    total = [share * x for x in first]
    for share, vector in parts[1:]:
        if len(vector) == len(total):
            total = [x + share * y for x, y in zip(total, vector, strict=True)]
    return total


def joined(found: Found, cosines: Sequence[float]) -> Found:
    """Order hits by the sum of their scores by words and their cosines, each on its own scale."""
    if len(found) < 2:
        return found
    scores = [score for score, _ in found]
    spread = max(statistics.pstdev(scores), LEAST_SPREAD * statistics.mean(scores)) or ALONE
    scale, mean = spread / (statistics.pstdev(cosines) or 1.0), statistics.mean(cosines)
    summed = [
        (score + WEIGHT * scale * (near - mean), id_)
        for (score, id_), near in zip(found, cosines, strict=True)
    ]
    return [(max(0.0, s), id_) for s, id_ in sorted(summed, key=lambda pair: (-pair[0], pair[1]))]
