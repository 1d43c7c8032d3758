"""Where terms occur: the one thing that SQLite and Postgres are asked differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

    from agent.memory.retrieval.ranking import Candidate


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


class TermIndex(Protocol):
    """An inverted index over the terms of memories.

    `among` holds terms of kinds; where there are any, only memories with one of them count.
    """

    def create(self, connection: sa.Connection) -> None:
        """Create the index where it is missing."""
        ...

    def add(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Make memories findable: (id, terms) each."""
        ...

    def remove(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Make memories unfindable; the terms must be those that were added."""
        ...

    def purge(self, connection: sa.Connection) -> None:
        """Drop every trace of what was removed."""
        ...

    def reach(
        self,
        connection: sa.Connection,
        terms: Sequence[str],
        where: Range,
        cap: int,
        among: Sequence[str],
    ) -> list[Reach]:
        """Count the memories that hold each term, each count stopping at `cap`."""
        ...

    def holders(
        self, connection: sa.Connection, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> list[tuple[int, int]]:
        """List (number of the term, id of a memory that holds it)."""
        ...

    def holding_all(
        self,
        connection: sa.Connection,
        terms: Sequence[str],
        where: Range,
        limit: int,
        among: Sequence[str],
    ) -> list[int]:
        """List memories that hold all the terms, newest first."""
        ...

    def rows(self, connection: sa.Connection, ids: Sequence[int]) -> list[Candidate]:
        """Read what the ranking needs of the memories with these ids that are in use."""
        ...
