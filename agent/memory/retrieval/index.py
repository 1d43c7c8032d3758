"""Where terms occur: asked alike of SQLite and Postgres, but for how each names the holders."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.memory.retrieval.ranking import Candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa


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

    @abstractmethod
    def add(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Make memories findable: (id, terms) each."""

    @abstractmethod
    def remove(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Make memories unfindable; the terms must be those that were added."""

    @abstractmethod
    def purge(self, connection: sa.Connection) -> None:
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

    def rows(self, connection: sa.Connection, ids: Sequence[int]) -> list[Candidate]:
        """Read what the ranking needs of the memories with these ids that are in use."""
        query = (
            "SELECT id, session, at, traits, terms, kind FROM memories "  # noqa: S608
            f"WHERE {self.by_ids} AND state = 'active' "
            f"AND (expires IS NULL OR expires > {self.mark})"
        )
        found = self._all(connection, [query], [self.bound(ids), time.time()])
        return [Candidate(*row) for row in found]

    def _all(
        self, connection: sa.Connection, parts: Sequence[str], values: Sequence[Any]
    ) -> Sequence[Any]:
        if not parts:
            return []
        return connection.exec_driver_sql(" UNION ALL ".join(parts), tuple(values)).all()
