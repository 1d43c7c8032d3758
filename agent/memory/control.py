"""A person's say over a memory: list, read, delete for good, back up, see what is linked."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.memory.hits import hit_of
from agent.memory.sharing import SHARED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.memory.conversations import Conversations
    from agent.memory.entries import Entries
    from agent.memory.links import Link
    from agent.memory.store import Store
    from agent.memory.types import Hit

LISTED = 100
DRAWN = 300  # memories in a graph; more is no picture


@dataclass(frozen=True, slots=True)
class Graph:
    """The memories that have the most links, and the links among them, the strongest first.

    `total` is how many memories there are, linked or not.
    """

    memories: tuple[Hit, ...]
    links: tuple[Link, ...]
    total: int


class Control:
    """What can be done with the memories of one namespace as a whole."""

    def __init__(self, store: Store, entries: Entries, conversations: Conversations) -> None:
        self._store = store
        self._entries = entries
        self._conversations = conversations

    def list(self, kinds: Sequence[str] | None = None, limit: int | None = LISTED) -> list[Hit]:
        """List the newest memories, oldest of them first."""
        return [hit_of(row, 0.0) for row in self._entries.all(kinds, limit)]

    def get(self, memory: int) -> Hit | None:
        """Read a memory of this namespace, or of the shared one, by its id."""
        rows = self._entries.by_ids([memory])
        if rows:
            return hit_of(rows[0], 0.0)
        shared = self._entries.other(SHARED)
        rows = shared.by_ids([memory]) if shared is not None else []
        return replace(hit_of(rows[0], 0.0), shared=True) if rows else None

    def delete(self, ids: Sequence[int]) -> int:
        """Delete memories, their history and their links for good; returns how many there were."""
        return self._entries.delete_ids(ids)

    def clear(self) -> int:
        """Delete all of this namespace for good, conversations and log too; returns how many."""
        gone = self._entries.clear() + self._conversations.delete()
        self._store.purge()
        return gone

    def graph(self, limit: int = DRAWN) -> Graph:
        """Gather the memories that have the most links, and the links among them."""
        memories = [hit_of(row, 0.0) for row in self._entries.busiest(limit)]
        ids = {hit.id for hit in memories}
        with self._store.read() as connection:
            links = self._entries.links.of(connection, sorted(ids))
        among = tuple(link for link in links if {link.one, link.other} <= ids)
        return Graph(tuple(memories), among, self._entries.count())

    def backup(self, place: str | os.PathLike[str]) -> None:
        """Copy the database to a new file while others go on writing; SQLite only."""
        if not self._store.sqlite:
            raise UsageError("a Postgres memory is backed up by its server", hint="Use pg_dump.")
        path = Path(place)
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        os.close(handle)
        with self._store.read() as connection, closing(sqlite3.connect(path)) as copy:
            source = connection.connection.driver_connection
            assert isinstance(source, sqlite3.Connection)
            source.backup(copy)
