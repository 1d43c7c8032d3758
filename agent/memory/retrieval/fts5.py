"""The index of terms in SQLite: FTS5 without content, since the terms stand in their own column."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from agent.memory.retrieval.index import Range, Reach
from agent.memory.retrieval.ranking import Candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

_CREATE = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS memory_index USING fts5("
    "terms, content='', columnsize=0, detail=none, tokenize='ascii')"
)
_INSERT = "INSERT INTO memory_index(rowid, terms) VALUES (?, ?)"
_DELETE = "INSERT INTO memory_index(memory_index, rowid, terms) VALUES ('delete', ?, ?)"
_PURGE = "INSERT INTO memory_index(memory_index) VALUES ('optimize')"
_MATCH = "FROM memory_index WHERE memory_index MATCH ? AND rowid BETWEEN ? AND ?"
# The statements are put together of constants; every value is bound.
_COUNT = f"SELECT count(*), max(id) FROM (SELECT rowid AS id {_MATCH} LIMIT ?)"  # noqa: S608 - see above
_ROWS = (
    "SELECT id, session, at, traits, terms, kind FROM memories "
    "WHERE id IN (SELECT value FROM json_each(?)) AND state = 'active' "
    "AND (expires IS NULL OR expires > ?)"
)


class Fts5Index:
    """`TermIndex` over SQLite's FTS5."""

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

    def reach(
        self,
        connection: sa.Connection,
        terms: Sequence[str],
        where: Range,
        cap: int,
        among: Sequence[str],
    ) -> list[Reach]:
        """Count holders in one statement."""
        if not terms:
            return []
        parameters: list[str | int] = []
        for term in terms:
            parameters += [_match([term], among), where.first, where.last, cap]
        rows = connection.exec_driver_sql(
            " UNION ALL ".join([_COUNT] * len(terms)), tuple(parameters)
        )
        return [Reach(count, last or where.first) for count, last in rows.all()]

    def holders(
        self, connection: sa.Connection, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> list[tuple[int, int]]:
        """List holders in one statement."""
        if not terms:
            return []
        parameters: list[str | int] = []
        for term in terms:
            parameters += [_match([term], among), where.first, where.last]
        parts = [f"SELECT {number}, rowid {_MATCH}" for number in range(len(terms))]
        rows = connection.exec_driver_sql(" UNION ALL ".join(parts), tuple(parameters))
        return [(number, id_) for number, id_ in rows.all()]

    def holding_all(
        self,
        connection: sa.Connection,
        terms: Sequence[str],
        where: Range,
        limit: int,
        among: Sequence[str],
    ) -> list[int]:
        """Intersect inside FTS5."""
        rows = connection.exec_driver_sql(
            f"SELECT rowid {_MATCH} ORDER BY rowid DESC LIMIT ?",
            (_match(terms, among), where.first, where.last, limit),
        )
        return [id_ for (id_,) in rows]

    def rows(self, connection: sa.Connection, ids: Sequence[int]) -> list[Candidate]:
        """Read rows by id."""
        found = connection.exec_driver_sql(_ROWS, (json.dumps(list(ids)), time.time()))
        return [Candidate(*row) for row in found.all()]


def _match(terms: Sequence[str], among: Sequence[str]) -> str:
    """Write the FTS5 expression; terms are ASCII letters and digits, quoted all the same."""
    wanted = " AND ".join(_quoted(terms))
    return f"{wanted} AND ({' OR '.join(_quoted(among))})" if among else wanted


def _quoted(terms: Sequence[str]) -> list[str]:
    return [f'"{term}"' for term in terms]
