"""One database behind memory: opening it, reading from it, writing to it.

A `Store` is shared by threads; each read and each write takes a connection of its own. A write is
one transaction that holds the write lock from its first statement, so two processes never find
themselves each waiting for the other.
"""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.pool import StaticPool

from agent.errors import UsageError
from agent.memory import postgres, schema, sqlite
from agent.memory.errors import MemoryUnavailable
from agent.memory.faults import told, told_at_opening
from agent.memory.retrieval.fts5 import Fts5Index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.memory.retrieval.index import TermIndex
    from agent.memory.retrieval.nearest import VectorIndex

FILE_NAME = "memory.db"
_BEGIN_SQLITE = ("BEGIN IMMEDIATE",)
# One writer at a time, as in SQLite: 0x757263 spells "urc".
_BEGIN_POSTGRES = ("BEGIN", "SELECT pg_advisory_xact_lock(7696995)")

_NAMED = sa.select(schema.namespaces.c.id).where(schema.namespaces.c.name == sa.bindparam("name"))


class Store:
    """An open database. `open` takes a file, a folder, `:memory:` or a database URL."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self.sqlite = engine.dialect.name == "sqlite"
        place = engine.url.database if self.sqlite else engine.url.render_as_string()
        self._failed = f"cannot use the memory at {place}"
        self.index = _index(self.sqlite)
        self._turn: AbstractContextManager[Any] = (
            RLock() if isinstance(engine.pool, StaticPool) else nullcontext()
        )

    @classmethod
    def open(cls, place: str | os.PathLike[str]) -> Store:
        """Open, and create or migrate where needed; raises `MemoryUnavailable`."""
        with told_at_opening(f"cannot open the memory at {_named(os.fspath(place))}"):
            store = cls(_engine(os.fspath(place)))
            with ExitStack() as undo:
                undo.callback(store.close)
                store._migrate()
                undo.pop_all()
        return store

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Lend a connection whose statements each see what is committed at that moment."""
        with told(self._failed), self._turn, self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Lend a connection for one transaction: all of it happens, or nothing."""
        with told(self._failed), self._turn, self._engine.connect() as connection:
            for statement in _BEGIN_SQLITE if self.sqlite else _BEGIN_POSTGRES:
                connection.exec_driver_sql(statement)
            try:
                yield connection
            except BaseException:
                connection.exec_driver_sql("ROLLBACK")
                raise
            connection.exec_driver_sql("COMMIT")

    def namespace(self, name: str) -> int:
        """Find the number of a namespace, a new one if the name is new."""
        if not name.strip():
            raise UsageError("a namespace needs a name", hint="Without one it is `default`.")
        found = self.known_namespace(name)
        if found is not None:
            return found
        with self.write() as connection:
            known = connection.scalar(_NAMED, {"name": name})
            return self._new_namespace(connection, name) if known is None else int(known)

    def known_namespace(self, name: str) -> int | None:
        """Find the number of a namespace; None where nobody opened it yet."""
        with self.read() as connection:
            found = connection.scalar(_NAMED, {"name": name})
        return None if found is None else int(found)

    def _new_namespace(self, connection: sa.Connection, name: str) -> int:
        highest = connection.scalar(sa.select(sa.func.max(schema.namespaces.c.id)))
        number = 0 if highest is None else int(highest) + 1
        row = {"id": number, "name": name, "last": number << schema.NAMESPACE_SHIFT}
        connection.execute(schema.namespaces.insert(), row)
        return number

    def purge(self) -> None:
        """Drop every trace of what was deleted, from the index and from the log."""
        with self.write() as connection:
            self.index.purge(connection)
        if self.sqlite:
            with self.read() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()

    def vector_index(self, model: str) -> VectorIndex:
        """Give the index of a model's vectors: by pgvector where the database has it."""
        from agent.memory.retrieval.nearest import CodeIndex  # noqa: PLC0415 - few have a model
        from agent.memory.retrieval.pgvector import PgVectorIndex, available  # noqa: PLC0415

        if self.sqlite:
            return CodeIndex(model)
        with self.read() as connection:
            if not available(connection):
                return CodeIndex(model)
        index = PgVectorIndex(model)
        with self.write() as connection:
            index.create(connection)
        return index

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    def _migrate(self) -> None:
        with self.read() as connection:
            tables = set(sa.inspect(connection).get_table_names())
            made = "migrations" in tables
            if made and self._version(connection) == schema.VERSION:
                return
            if not made and tables & set(schema.metadata.tables):
                raise MemoryUnavailable(
                    "the database holds tables of another program",
                    hint="Name another data folder or URL; nothing was changed.",
                )
        with self.write() as connection:
            # What versions added so far are tables, which are created where they are missing.
            schema.metadata.create_all(connection)
            self.index.create(connection)
            if self._version(connection) < schema.VERSION:
                row = {"version": schema.VERSION, "applied": time.time()}
                connection.execute(schema.migrations.insert(), row)

    def _version(self, connection: sa.Connection) -> int:
        known = connection.scalar(sa.select(sa.func.max(schema.migrations.c.version))) or 0
        if known > schema.VERSION:
            raise MemoryUnavailable(
                f"the memory is of version {known}, this program knows {schema.VERSION}",
                hint="Update urchin-research.",
            )
        return int(known)


def _index(sqlite_is_used: bool) -> TermIndex:  # noqa: FBT001 - one of two
    if sqlite_is_used:
        return Fts5Index()
    from agent.memory.retrieval.postgres import GinIndex  # noqa: PLC0415 - seldom used

    return GinIndex()


def _named(place: str) -> str:
    """Name a place to people, without its password."""
    if "://" not in place:
        return place
    try:
        return sa.make_url(place).render_as_string(hide_password=True)
    except exc.ArgumentError:
        return "its URL"


def _engine(place: str) -> sa.Engine:
    if "://" not in place:
        folder = place != ":memory:" and (place.endswith(os.sep) or Path(place).is_dir())
        return sqlite.engine(str(Path(place) / FILE_NAME) if folder else place)
    parsed = sa.make_url(place)
    if parsed.get_backend_name() == "sqlite":
        return sqlite.engine(parsed.database or ":memory:")
    if parsed.get_backend_name() in {"postgresql", "postgres"}:
        return postgres.engine(parsed)
    raise MemoryUnavailable(f"no such kind of memory: {parsed.get_backend_name()}")
