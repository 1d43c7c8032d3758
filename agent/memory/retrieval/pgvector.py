"""The nearest vectors in a Postgres that has pgvector: exact up to a point, then by its HNSW index.

Vectors of one model have one length, so that each model has an index of its own over its rows. A
memory that is deleted takes its vectors with it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy import exc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.memory.embeddings import Vector
    from agent.memory.retrieval.index import Range

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


def available(connection: sa.Connection) -> bool:
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
