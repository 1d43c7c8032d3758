"""Which memories are nearest in meaning to a question, by an index over their vectors.

It brings candidates that share no word with the question; how near each of them is, is measured on
the whole vectors afterwards. Everywhere there is an index of one bit a dimension; a Postgres with
pgvector has a better one.
"""

from __future__ import annotations

import heapq
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import sqlalchemy as sa

from agent.memory.schema import codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.memory.embeddings import Vector
    from agent.memory.retrieval.index import Range


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
