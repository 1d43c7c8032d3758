"""The index of terms in Postgres: an inverted index (GIN) over the terms as an array."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from agent.memory.retrieval.index import Range, Reach
from agent.memory.retrieval.ranking import Candidate
from agent.memory.schema import memories

if TYPE_CHECKING:
    from collections.abc import Sequence

_CREATE = (
    "CREATE INDEX IF NOT EXISTS memory_index ON memories "
    "USING gin (string_to_array(terms, ' ')) WITH (fastupdate = off)"
)
_TERMS = sa.func.string_to_array(memories.c.terms, " ", type_=ARRAY(sa.Text))


class GinIndex:
    """`TermIndex` over Postgres, which keeps the index in step with the table by itself."""

    def create(self, connection: sa.Connection) -> None:
        """Create the index."""
        connection.exec_driver_sql(_CREATE)

    def add(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Do nothing: the row is indexed as it is written."""

    def remove(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Do nothing: the row goes, or is no longer active."""

    def purge(self, connection: sa.Connection) -> None:
        """Do nothing: the server's own vacuum clears what was deleted."""

    def reach(
        self,
        connection: sa.Connection,
        terms: Sequence[str],
        where: Range,
        cap: int,
        among: Sequence[str],
    ) -> list[Reach]:
        """Count holders in one statement."""
        counts: list[Any] = []
        for number, term in enumerate(terms):
            found = _holding([term], where, among).limit(cap).subquery()
            part = sa.literal(number).label("number")
            counts.append(sa.select(part, sa.func.count(), sa.func.max(found.c.id)))
        rows = _ordered(connection, counts)
        return [Reach(count, last or where.first) for _, count, last in rows]

    def holders(
        self, connection: sa.Connection, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> list[tuple[int, int]]:
        """List holders in one statement."""
        parts = []
        for number, term in enumerate(terms):
            found = _holding([term], where, among).subquery()
            parts.append(sa.select(sa.literal(number).label("number"), found.c.id))
        return [(number, id_) for number, id_ in _ordered(connection, parts)]

    def holding_all(
        self,
        connection: sa.Connection,
        terms: Sequence[str],
        where: Range,
        limit: int,
        among: Sequence[str],
    ) -> list[int]:
        """Intersect inside the index."""
        query = _holding(terms, where, among).order_by(memories.c.id.desc()).limit(limit)
        return list(connection.scalars(query))

    def rows(self, connection: sa.Connection, ids: Sequence[int]) -> list[Candidate]:
        """Read rows by id."""
        names = memories.c["id", "session", "at", "traits", "terms", "kind"]
        query = sa.select(*names).where(
            memories.c.id == sa.any_(sa.literal(list(ids), ARRAY(sa.BigInteger))),
            memories.c.state == "active",
            sa.or_(memories.c.expires.is_(None), memories.c.expires > time.time()),
        )
        return [Candidate(*row) for row in connection.execute(query)]


def _holding(terms: Sequence[str], where: Range, among: Sequence[str]) -> sa.Select[Any]:
    query = sa.select(memories.c.id).where(
        _TERMS.contains(list(terms)),
        memories.c.id.between(where.first, where.last),
        memories.c.state == "active",
    )
    return query.where(_TERMS.overlap(list(among))) if among else query


def _ordered(connection: sa.Connection, parts: Sequence[Any]) -> Sequence[Any]:
    if not parts:
        return []
    return connection.execute(sa.union_all(*parts).order_by("number")).all()
