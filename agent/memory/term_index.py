"""Where terms occur: an inverted index, in SQLite by FTS5 and in Postgres by GIN."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

ASKS, NAMES_TIME = 1, 2
"""Bits of a memory's traits: it ends in a question mark; it names a time."""


@dataclass(frozen=True, slots=True)
class IndexedTerm:
    """What the ranking reads of a memory; `terms` are its index terms with a space between."""

    id: int
    session: int
    at: float
    traits: int
    terms: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Range:
    """The ids of one namespace that are given so far, both ends included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Reach:
    """In how many memories a term occurs, counted up to a cap, and where counting stopped."""

    count: int
    last: int


class TermIndex(ABC):
    """An inverted index over the terms of memories.

    `among` holds terms of kinds; where there are any, only memories with one of them count. The
    statements are put together of constants; every value is bound, at a `mark`.
    """

    mark: str
    by_ids: str
    """The condition that an id is among those bound at a mark."""

    @abstractmethod
    def create(self, connection: sa.Connection) -> None:
        """Create the index where it is missing."""

    def add(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:  # noqa: B027 - Postgres needs none of the three
        """Make memories findable: (id, terms) each."""

    def remove(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:  # noqa: B027 - as above
        """Make memories unfindable; the terms must be those that were added."""

    def purge(self, connection: sa.Connection) -> None:  # noqa: B027 - as above
        """Drop every trace of what was removed."""

    @abstractmethod
    def holding(
        self, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> tuple[str, list[Any]]:
        """Write the statement that gives the `id` of those that hold all terms, and its values."""

    @abstractmethod
    def bound(self, ids: Sequence[int]) -> Any:
        """Give ids in the form in which they are bound."""

    def reach(
        self,
        connection: sa.Connection,
        terms: Sequence[str],
        where: Range,
        cap: int,
        among: Sequence[str],
    ) -> list[Reach]:
        """Count the memories that hold each term, each count stopping at `cap`; one statement."""
        parts, values = [], []
        for number, term in enumerate(terms):
            holding, bound = self.holding([term], where, among)
            limited = f"({holding} LIMIT {self.mark}) AS found"
            parts.append(f"SELECT {number}, count(*), max(found.id) FROM {limited}")  # noqa: S608
            values += [*bound, cap]
        rows = self._all(connection, parts, values)
        return [Reach(count, last or where.first) for _, count, last in sorted(rows)]

    def holders(
        self, connection: sa.Connection, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> list[tuple[int, int]]:
        """List (number of the term, id of a memory that holds it); one statement."""
        parts, values = [], []
        for number, term in enumerate(terms):
            holding, bound = self.holding([term], where, among)
            parts.append(f"SELECT {number}, found.id FROM ({holding}) AS found")  # noqa: S608
            values += bound
        return [(number, id_) for number, id_ in self._all(connection, parts, values)]

    def holding_all(
        self,
        connection: sa.Connection,
        terms: Sequence[str],
        where: Range,
        limit: int,
        among: Sequence[str],
    ) -> list[int]:
        """List memories that hold all the terms, newest first."""
        holding, bound = self.holding(terms, where, among)
        newest = f"{holding} ORDER BY id DESC LIMIT {self.mark}"
        return [id_ for (id_,) in self._all(connection, [newest], [*bound, limit])]

    def rows(self, connection: sa.Connection, ids: Sequence[int]) -> list[IndexedTerm]:
        """Read what the ranking needs of the memories with these ids that are in use."""
        query = (
            "SELECT id, session, at, traits, terms, kind FROM memories "  # noqa: S608
            f"WHERE {self.by_ids} AND state = 'active'"
        )
        found = self._all(connection, [query], [self.bound(ids)])
        return [IndexedTerm(*row) for row in found]

    def _all(
        self, connection: sa.Connection, parts: Sequence[str], values: Sequence[Any]
    ) -> Sequence[Any]:
        if not parts:
            return []
        return connection.exec_driver_sql(" UNION ALL ".join(parts), tuple(values)).all()


class Fts5Index(TermIndex):
    """`TermIndex` over SQLite's FTS5, without content: the terms stand in their own column."""

    mark = "?"
    by_ids = "id IN (SELECT value FROM json_each(?))"

    def create(self, connection: sa.Connection) -> None:
        """Create the virtual table."""
        connection.exec_driver_sql(
            "CREATE VIRTUAL TABLE IF NOT EXISTS memory_index USING fts5("
            "terms, content='', columnsize=0, detail=none, tokenize='ascii')"
        )

    def add(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Add terms to the index."""
        insert = "INSERT INTO memory_index(rowid, terms) VALUES (?, ?)"
        connection.exec_driver_sql(insert, list(rows))

    def remove(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Take terms out again: FTS5 must be told what they were."""
        delete = "INSERT INTO memory_index(memory_index, rowid, terms) VALUES ('delete', ?, ?)"
        connection.exec_driver_sql(delete, list(rows))

    def purge(self, connection: sa.Connection) -> None:
        """Merge the index into one piece, which drops the words of what was removed."""
        connection.exec_driver_sql("INSERT INTO memory_index(memory_index) VALUES ('optimize')")

    def holding(
        self, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> tuple[str, list[Any]]:
        """Match all terms, and one of those of kinds; terms are ASCII letters and digits."""
        match = " AND ".join(f'"{term}"' for term in terms)
        if among:
            match += " AND (" + " OR ".join(f'"{term}"' for term in among) + ")"
        statement = (
            "SELECT rowid AS id FROM memory_index "
            "WHERE memory_index MATCH ? AND rowid BETWEEN ? AND ?"
        )
        return statement, [match, where.first, where.last]

    def bound(self, ids: Sequence[int]) -> str:
        """Give ids as a JSON list: one value however many they are."""
        return json.dumps(list(ids))


class GinIndex(TermIndex):
    """`TermIndex` over an inverted index of Postgres, which keeps it in step with the table."""

    mark = "%s"
    by_ids = "id = ANY(%s::bigint[])"

    def create(self, connection: sa.Connection) -> None:
        """Create the index over the terms as an array."""
        connection.exec_driver_sql(
            "CREATE INDEX IF NOT EXISTS memory_index ON memories "
            "USING gin (string_to_array(terms, ' ')) WITH (fastupdate = off)"
        )

    def holding(
        self, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> tuple[str, list[Any]]:
        """Contain all terms, and overlap with those of kinds."""
        statement = (
            "SELECT id FROM memories WHERE string_to_array(terms, ' ') @> %s::text[] "
            "AND id BETWEEN %s AND %s AND state = 'active'"
        )
        values: list[Any] = [list(terms), where.first, where.last]
        if not among:
            return statement, values
        return f"{statement} AND string_to_array(terms, ' ') && %s::text[]", [*values, list(among)]

    def bound(self, ids: Sequence[int]) -> list[int]:
        """Give ids as an array."""
        return list(ids)
