"""The index of terms in Postgres: an inverted index (GIN) over the terms as an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.memory.retrieval.index import TermIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

    from agent.memory.retrieval.index import Range

_CREATE = (
    "CREATE INDEX IF NOT EXISTS memory_index ON memories "
    "USING gin (string_to_array(terms, ' ')) WITH (fastupdate = off)"
)
_HOLDING = (
    "SELECT id FROM memories WHERE string_to_array(terms, ' ') @> %s::text[] "
    "AND id BETWEEN %s AND %s AND state = 'active'"
)
_AMONG = " AND string_to_array(terms, ' ') && %s::text[]"


class GinIndex(TermIndex):
    """`TermIndex` over Postgres, which keeps the index in step with the table by itself."""

    mark = "%s"
    by_ids = "id = ANY(%s::bigint[])"

    def create(self, connection: sa.Connection) -> None:
        """Create the index."""
        connection.exec_driver_sql(_CREATE)

    def add(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Do nothing: the row is indexed as it is written."""

    def remove(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Do nothing: the row goes, or is no longer active."""

    def purge(self, connection: sa.Connection) -> None:
        """Do nothing: the server's own vacuum clears what was deleted."""

    def holding(
        self, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> tuple[str, list[Any]]:
        """Contain all terms, and overlap with those of kinds."""
        values: list[Any] = [list(terms), where.first, where.last]
        return (_HOLDING + _AMONG, [*values, list(among)]) if among else (_HOLDING, values)

    def bound(self, ids: Sequence[int]) -> list[int]:
        """Give ids as an array."""
        return list(ids)
