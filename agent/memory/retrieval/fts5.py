"""The index of terms in SQLite: FTS5 without content, since the terms stand in their own column."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agent.memory.retrieval.index import TermIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

    from agent.memory.retrieval.index import Range

_CREATE = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS memory_index USING fts5("
    "terms, content='', columnsize=0, detail=none, tokenize='ascii')"
)
_INSERT = "INSERT INTO memory_index(rowid, terms) VALUES (?, ?)"
_DELETE = "INSERT INTO memory_index(memory_index, rowid, terms) VALUES ('delete', ?, ?)"
_PURGE = "INSERT INTO memory_index(memory_index) VALUES ('optimize')"
_HOLDING = (
    "SELECT rowid AS id FROM memory_index WHERE memory_index MATCH ? AND rowid BETWEEN ? AND ?"
)


class Fts5Index(TermIndex):
    """`TermIndex` over SQLite's FTS5."""

    mark = "?"
    by_ids = "id IN (SELECT value FROM json_each(?))"

    def create(self, connection: sa.Connection) -> None:
        """Create the virtual table."""
        connection.exec_driver_sql(_CREATE)

    def add(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Add terms to the index."""
        connection.exec_driver_sql(_INSERT, list(rows))

    def remove(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Take terms out again: FTS5 must be told what they were."""
        connection.exec_driver_sql(_DELETE, list(rows))

    def purge(self, connection: sa.Connection) -> None:
        """Merge the index into one piece, which drops the words of what was removed."""
        connection.exec_driver_sql(_PURGE)

    def holding(
        self, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> tuple[str, list[Any]]:
        """Match all terms, and one of those of kinds."""
        return _HOLDING, [_match(terms, among), where.first, where.last]

    def bound(self, ids: Sequence[int]) -> str:
        """Give ids as a JSON list: one value however many they are."""
        return json.dumps(list(ids))


def _match(terms: Sequence[str], among: Sequence[str]) -> str:
    """Write the FTS5 expression; terms are ASCII letters and digits, quoted all the same."""
    wanted = " AND ".join(_quoted(terms))
    return f"{wanted} AND ({' OR '.join(_quoted(among))})" if among else wanted


def _quoted(terms: Sequence[str]) -> list[str]:
    return [f'"{term}"' for term in terms]
