"""The database behind memory: one schema for SQLite and Postgres, opened, read and written.

Ids of memories carry their namespace (`namespace << 40 | n`, n counting from 1), so that a range of
ids is a namespace, and neighbours in time are neighbours by id. A `Store` is shared by threads;
each read and each write takes a connection of its own. A write is one transaction that holds the
write lock from its first statement, so two processes never find themselves each waiting for the
other.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    event,
    exc,
)
from sqlalchemy.pool import QueuePool, StaticPool

from agent.errors import UsageError
from agent.jsvalues import well_formed
from agent.memory.memory_types import MemoryUnavailable
from agent.memory.term_index import Fts5Index, GinIndex, TermIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Dialect

VERSION = 3
NAMESPACE_SHIFT = 40
metadata = MetaData()


class Words(TypeDecorator[str]):
    """Text of any characters; what cannot be stored is dropped: half pairs, in Postgres NUL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Make a text storable."""
        if value is None:
            return None
        value = value if value.isascii() else well_formed(value)
        return value.replace("\x00", "") if dialect.name == "postgresql" else value


BigId = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts only INTEGER keys by itself
migrations = Table(
    "migrations",
    metadata,
    Column("version", Integer, primary_key=True),
    Column("applied", Float, nullable=False),
)
namespaces = Table(
    "namespaces",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Words, nullable=False, unique=True),
    Column("last", BigInteger, nullable=False),  # the highest id ever given, so that none returns
)
memories = Table(
    "memories",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False),
    Column("key", Words),
    Column("text", Words, nullable=False),
    Column("value", Text),  # JSON, where the value is more than its text
    Column("at", Float, nullable=False),  # when it happened, seconds since the epoch
    Column("written", Float, nullable=False),
    Column("source", Words),
    Column("session", BigInteger, nullable=False),  # id of the first memory of its session
    Column("terms", Text, nullable=False),  # the words of the text as the index knows them
    Column("run", String),
    Column("url", Words),
    Column("trusted", Boolean, nullable=False),
    Column("state", String, nullable=False),
    Column("traits", Integer, nullable=False),  # bits: see `term_index`
)
Index("memories_by_kind", memories.c.kind, memories.c.id)
Index("memories_by_key", memories.c.key, memories.c.kind)
history = Table(
    "history",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("memory", BigInteger, nullable=False, index=True),
    Column("text", Words, nullable=False),
    Column("value", Text),
    Column("source", Words),
    Column("run", String),
    Column("url", Words),
    Column("trusted", Boolean, nullable=False),
    Column("written", Float, nullable=False),
    Column("replaced", Float, nullable=False),
)
links = Table(
    "links",
    metadata,
    Column("one", BigInteger, primary_key=True, autoincrement=False),  # the smaller id
    Column("other", BigInteger, primary_key=True, autoincrement=False, index=True),
    Column("kind", String, nullable=False),
    Column("strength", Float, nullable=False),
    Column("proven", Boolean, nullable=False),  # used together in a verified answer
    Column("touched", Float, nullable=False),
)
seals = Table(
    "seals",
    metadata,
    Column("namespace", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", String, nullable=False),  # ISO 8601, as it was hashed
    Column("category", String, nullable=False),
    Column("content", Words, nullable=False),
    Column("previous", String, nullable=False),
    Column("hash", String, nullable=False),
)
stamps = Table(
    "stamps",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("namespace", Integer, nullable=False, index=True),
    Column("hash", String, nullable=False),  # of the entry that was the head then
    Column("token", LargeBinary, nullable=False),  # the authority's reply, see `agent.sealing`
)
conversations = Table(
    "conversations",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("namespace", Integer, nullable=False),
    Column("name", Words, nullable=False),
    Column("started", Float, nullable=False),
    Column("updated", Float, nullable=False),
    Column("condensed", Words, nullable=False, server_default=""),
    Column("watermark", BigInteger, nullable=False, server_default="0"),
    UniqueConstraint("namespace", "name"),
)
turns = Table(
    "turns",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("conversation", BigInteger, nullable=False, index=True),
    Column("role", Words, nullable=False),
    Column("text", Words, nullable=False),
    Column("at", Float, nullable=False),
)
embeddings = Table(
    "embeddings",
    metadata,
    Column("digest", String, primary_key=True),  # SHA-256 of the text
    Column("model", String, primary_key=True),
    Column("vector", LargeBinary, nullable=False),  # 32-bit floats
)
codes = Table(
    "codes",
    metadata,
    Column("model", String, primary_key=True),
    Column("memory", BigInteger, primary_key=True, autoincrement=False, index=True),
    Column("code", LargeBinary, nullable=False),  # one bit a dimension: see `vectors.CodeIndex`
)
restated = Table(
    "restated",
    metadata,
    Column("memory", BigInteger, primary_key=True, autoincrement=False),  # its vector is of old
)
state = Table(
    "state",
    metadata,
    Column("namespace", Integer, primary_key=True),
    Column("name", Words, primary_key=True),
    Column("value", Text, nullable=False),  # JSON
)

FILE_NAME = "memory.db"
BUSY_SECONDS = 60.0  # eight writers take turns in milliseconds; a minute is a stopped machine
_PRAGMAS = (
    "PRAGMA synchronous=FULL",  # acknowledged means on disk, also when the power goes
    "PRAGMA secure_delete=ON",  # forgotten means overwritten
    "PRAGMA temp_store=MEMORY",
    "PRAGMA cache_size=-16000",  # kilobytes: the index of 100,000 memories
)
_SETTINGS = (
    # A search is planned for its words: one plan for rare and common ones alike, as a statement
    # that is asked often gets it, took up to seventy times as long (650 ms at 100,000 memories).
    "SET plan_cache_mode = force_custom_plan",
    "SET jit = off",  # compiling a search takes longer than the search
)
_BEGIN_SQLITE = ("BEGIN IMMEDIATE",)
# One writer at a time, as in SQLite: 0x757263 spells "urc".
_BEGIN_POSTGRES = ("BEGIN", "SELECT pg_advisory_xact_lock(7696995)")
_NAMED = sa.select(namespaces.c.id).where(namespaces.c.name == sa.bindparam("name"))


class Store:
    """An open database. `open` takes a file, a folder, `:memory:` or a database URL."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self.sqlite = engine.dialect.name == "sqlite"
        place = engine.url.database if self.sqlite else engine.url.render_as_string()
        self._failed = f"cannot use the memory at {place}"
        self.index: TermIndex = Fts5Index() if self.sqlite else GinIndex()
        self._turn: AbstractContextManager[Any] = (
            RLock() if isinstance(engine.pool, StaticPool) else nullcontext()
        )

    @classmethod
    def open(cls, place: str | os.PathLike[str]) -> Store:
        """Open, and create or migrate where needed; raises `MemoryUnavailable`."""
        named = os.fspath(place)
        if "://" in named:  # without its password
            with _told("cannot open the memory at its URL", exc.ArgumentError):
                named = sa.make_url(named).render_as_string(hide_password=True)
        with _told(f"cannot open the memory at {named}", exc.ArgumentError, OSError, sqlite3.Error):
            store = cls(_engine(os.fspath(place)))
            with ExitStack() as undo:
                undo.callback(store.close)
                store._migrate()
                undo.pop_all()
        return store

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Lend a connection whose statements each see what is committed at that moment."""
        with _told(self._failed), self._turn, self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Lend a connection for one transaction: all of it happens, or nothing."""
        with _told(self._failed), self._turn, self._engine.connect() as connection:
            for statement in _BEGIN_SQLITE if self.sqlite else _BEGIN_POSTGRES:
                connection.exec_driver_sql(statement)
            done = False
            try:
                yield connection
                done = True
            finally:
                connection.exec_driver_sql("COMMIT" if done else "ROLLBACK")

    def namespace(self, name: str) -> int:
        """Find the number of a namespace, a new one if the name is new."""
        if not name.strip():
            raise UsageError("a namespace needs a name", hint="Without one it is `default`.")
        found = self.known_namespace(name)
        if found is not None:
            return found
        with self.write() as connection:
            known = connection.scalar(_NAMED, {"name": name})
            if known is not None:  # another process was first
                return int(known)
            highest = connection.scalar(sa.select(sa.func.max(namespaces.c.id)))
            number = 0 if highest is None else int(highest) + 1
            row = {"id": number, "name": name, "last": number << NAMESPACE_SHIFT}
            connection.execute(namespaces.insert(), row)
        return number

    def known_namespace(self, name: str) -> int | None:
        """Find the number of a namespace; None where nobody opened it yet."""
        with self.read() as connection:
            found: int | None = connection.scalar(_NAMED, {"name": name})
        return found

    def purge(self) -> None:
        """Drop every trace of what was deleted, from the index and from the log."""
        with self.write() as connection:
            self.index.purge(connection)
        if self.sqlite:
            with self.read() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    def _migrate(self) -> None:
        with self.read() as connection:
            tables = set(sa.inspect(connection).get_table_names())
            made = "migrations" in tables
            if made and self._version(connection) == VERSION:
                return
            if not made and tables & set(metadata.tables):
                raise MemoryUnavailable(
                    "the database holds tables of another program",
                    hint="Name another data folder or URL; nothing was changed.",
                )
        with self.write() as connection:
            # What versions added so far are tables, which are created where they are missing.
            metadata.create_all(connection)
            self.index.create(connection)
            if self._version(connection) < VERSION:
                row = {"version": VERSION, "applied": time.time()}
                connection.execute(migrations.insert(), row)

    def _version(self, connection: sa.Connection) -> int:
        known = connection.scalar(sa.select(sa.func.max(migrations.c.version))) or 0
        if known > VERSION:
            raise MemoryUnavailable(
                f"the memory is of version {known}, this program knows {VERSION}",
                hint="Update urchin-research.",
            )
        return int(known)


class Notes:
    """The notes of one namespace: JSON values by name."""

    def __init__(self, store: Store, namespace: int) -> None:
        self._store = store
        self._namespace = namespace

    def read(self, name: str) -> Any | None:
        """Read a note, None where there is none."""
        query = sa.select(state.c.value).where(*self._named(name))
        with self._store.read() as connection:
            found = connection.scalar(query)
        return None if found is None else json.loads(found)

    def write(self, name: str, value: Any) -> None:
        """Write a note in place of the one of its name."""
        row = {"namespace": self._namespace, "name": name, "value": json.dumps(value)}
        with self._store.write() as connection:
            connection.execute(state.delete().where(*self._named(name)))
            connection.execute(state.insert(), row)

    def _named(self, name: str) -> tuple[sa.ColumnElement[bool], ...]:
        return state.c.namespace == self._namespace, state.c.name == name


_BY_IDS = sa.select(memories).where(memories.c.id.in_(sa.bindparam("ids", expanding=True)))


def rows_of(connection: sa.Connection, ids: Iterable[int]) -> dict[int, Any]:
    """Read memories by id, in whatever state; those that are gone are left out."""
    return {row.id: row for row in connection.execute(_BY_IDS, {"ids": list(ids)})}


_DAMAGED = (
    "The file is damaged, or no memory: move it away and a new one is made; "
    "`sqlite3 FILE .recover` saves what can be."
)
_HINTS = {
    "malformed": _DAMAGED,
    "not a database": _DAMAGED,
    "is full": "Free some disk space; what was remembered before is intact.",
    "readonly": "The file or its folder cannot be written: name another one with --data-dir.",
    "unable to open": "The file or its folder cannot be written: name another one with --data-dir.",
    "no such column": "The database is of another program: name another one with --data-dir.",
    "connection": "Is the server running, and RESEARCH_MEMORY_URL right?",
}
"""What to do, by words of SQLite's and libpq's messages."""
_NOT_OURS = (exc.DatabaseError, exc.OperationalError, exc.InternalError)


@contextmanager
def _told(what: str, *also: type[Exception]) -> Iterator[None]:
    """Raise `MemoryUnavailable` for what the database, or what is named besides, cannot do.

    What only a fault in our own statements brings (a syntax error, a broken rule) stays as it is.
    """
    told: tuple[type[Exception], ...] = (exc.DatabaseError, *also)
    try:
        yield
    except told as error:
        if isinstance(error, exc.DatabaseError) and type(error) not in _NOT_OURS:
            raise
        said = " ".join(str(getattr(error, "orig", None) or error).split())
        hint = next((hint for words, hint in _HINTS.items() if words in said), None)
        raise MemoryUnavailable(f"{what}: {said}", hint=hint) from error


def _engine(place: str) -> sa.Engine:
    if "://" not in place:
        folder = place != ":memory:" and (place.endswith(os.sep) or Path(place).is_dir())
        return _sqlite(str(Path(place) / FILE_NAME) if folder else place)
    url = sa.make_url(place)
    if url.get_backend_name() == "sqlite":
        return _sqlite(url.database or ":memory:")
    if url.get_backend_name() not in {"postgresql", "postgres"}:
        raise MemoryUnavailable(f"no such kind of memory: {url.get_backend_name()}")
    url = url.set(drivername="postgresql+psycopg")
    try:
        return _configured(sa.create_engine(url, isolation_level="AUTOCOMMIT"), _SETTINGS)
    except ImportError as error:
        hint = "pip install 'urchin-research[postgres]'"
        raise MemoryUnavailable("the driver of Postgres is not installed", hint=hint) from error


def _sqlite(database: str) -> sa.Engine:
    """Open a file, or `:memory:`, which all threads then share."""
    in_memory = database in {"", ":memory:"}
    if not in_memory:
        _create_file(Path(database))
    made = sa.create_engine(
        sa.URL.create("sqlite", database=database),
        isolation_level="AUTOCOMMIT",
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
        poolclass=StaticPool if in_memory else QueuePool,
    )
    return _configured(made, _PRAGMAS)


def _configured(engine: sa.Engine, settings: tuple[str, ...]) -> sa.Engine:
    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        for setting in settings:
            connection.execute(setting)

    return engine


def _create_file(path: Path) -> None:
    """Create the database file if it is not there: readable by its owner alone, already in WAL.

    It is born under another name and then linked, so that no process ever sees it half made, nor
    has to change the journal mode of a file that others use.
    """
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    os.close(handle)
    unborn = Path(name)
    try:
        connection = sqlite3.connect(unborn)
        connection.execute("PRAGMA journal_mode=WAL").fetchone()
        connection.close()
        os.link(unborn, path)
    except FileExistsError:
        return  # another process was first
    except OSError:  # a file system without hard links; a rename is nearly as good
        if not path.exists():
            unborn.replace(path)
    finally:
        unborn.unlink(missing_ok=True)
