"""Embedding what was written since the last time: memories are searchable at once, vectors follow.

What is new is told by ids, which only grow; what says something else under its old id is listed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from agent.memory.hits import meaning
from agent.memory.schema import memories, restated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.memory.embeddings import Vectors
    from agent.memory.notes import Notes
    from agent.memory.retrieval.nearest import VectorIndex
    from agent.memory.store import Store

BATCH = 64  # memories between two looks at the clock


class CatchingUp:
    """Brings the vector index of one namespace, whose ids lie within `bounds`, up to date."""

    def __init__(
        self,
        store: Store,
        notes: Notes,
        bounds: tuple[int, int],
        vectors: Vectors,
        index: VectorIndex,
    ) -> None:
        self._store = store
        self._notes = notes
        self._first, self._last = bounds
        self._vectors = vectors
        self._index = index
        self._note = f"embedded {vectors.model}"

    def run(self, deadline: float, clock: Callable[[], float] = time.monotonic) -> int:
        """Embed until all is done or the time is up; returns how many. A model may fail."""
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
