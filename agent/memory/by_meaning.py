"""Searching by meaning, where someone brought a model for it: candidates, and their order."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agent.memory.catching_up import CatchingUp
from agent.memory.hits import rows_of, window
from agent.memory.retrieval.meaning import reorder
from agent.memory.retrieval.ranking import WINDOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

    from agent.memory.embeddings import Vector, Vectors
    from agent.memory.notes import Notes
    from agent.memory.retrieval.index import Range
    from agent.memory.store import Store

REORDERED = 100  # hits by words that meaning puts in another order
NEAREST = 50  # memories that meaning alone brings
SECONDS = 3.0  # that a search spends on vectors of what is new; a dream does the rest
Found = list[tuple[float, int]]
"""Scores and ids, best first."""


class ByMeaning:
    """The meaning of the memories of one namespace, whose ids lie within `bounds`."""

    def __init__(
        self, store: Store, notes: Notes, bounds: tuple[int, int], vectors: Vectors
    ) -> None:
        self._vectors = vectors
        self._index = store.vector_index(vectors.model)
        self._catching_up = CatchingUp(store, notes, bounds, vectors, self._index)

    def catch_up(self, deadline: float) -> int:
        """Embed what is new until `deadline` (monotonic seconds); returns how many."""
        return self._catching_up.run(deadline)

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
        """Reorder what was found as far down as anyone looks, and what meaning alone brought."""
        brought = set(near)
        head = [*found[:REORDERED], *(pair for pair in found[REORDERED:] if pair[1] in brought)]
        wanted = sorted({id_ - by for _, id_ in head for by, _ in WINDOW})
        rows = rows_of(connection, wanted)
        by_id = {id_: row for id_, row in rows.items() if row.state == "active"}
        head = [pair for pair in head if pair[1] in by_id]
        around = [window(by_id, id_) for _, id_ in head]
        vectors = self._vectors.of(list(dict.fromkeys(t for texts in around for _, t in texts)))
        if vectors is None:
            return found
        known = {id_ for _, id_ in head}
        rest = [pair for pair in found if pair[1] not in known]
        return [*reorder(asked, head, around, vectors), *rest]
