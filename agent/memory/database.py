"""The memory database: one schema for SQLite and Postgres, and access to it.

The id of a memory contains its namespace (`namespace << 40 | n`, n counting from 1), so that a
namespace is a range of ids, and memories that are adjacent in time have adjacent ids. Threads share
a `Store`; each read and write uses its own connection. A write is one transaction that takes the
write lock in its first statement, so that two processes cannot deadlock.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.pool import QueuePool, StaticPool

from agent.errors import UsageError
from agent.jsvalues import well_formed
from agent.memory.memory_types import MemoryUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Dialect

VERSION = 3
NAMESPACE_SHIFT = 40  # number of bits of an id below its namespace: 10^12 entries per namespace
metadata = sa.MetaData()


class StorableText(sa.TypeDecorator[str]):
    """Text without characters that cannot be stored: lone surrogates, and in Postgres NUL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Remove the characters that cannot be stored."""
        if value is None:
            return None
        value = value if value.isascii() else well_formed(value)
        return value.replace("\x00", "") if dialect.name == "postgresql" else value


# SQLite autoincrements only INTEGER keys.
BigId = sa.BigInteger().with_variant(sa.Integer, "sqlite")
migrations = sa.Table(
    "migrations",
    metadata,
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("applied", sa.Float, nullable=False),
)
namespaces = sa.Table(
    "namespaces",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", StorableText, nullable=False, unique=True),
    # The highest id ever used, so that ids are never reused.
    sa.Column("last", sa.BigInteger, nullable=False),
)
memories = sa.Table(
    "memories",
    metadata,
    sa.Column("id", BigId, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("key", StorableText),
    sa.Column("text", StorableText, nullable=False),
    sa.Column("value", sa.Text),  # JSON, if the value is more than plain text
    sa.Column("at", sa.Float, nullable=False),  # when it happened, seconds since the epoch
    sa.Column("written", sa.Float, nullable=False),
    sa.Column("source", StorableText),
    sa.Column("session", sa.BigInteger, nullable=False),  # id of the first memory of its session
    sa.Column("terms", sa.Text, nullable=False),  # index terms, separated by spaces
    sa.Column("run", sa.String),
    sa.Column("url", StorableText),
    sa.Column("trusted", sa.Boolean, nullable=False),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("traits", sa.Integer, nullable=False),  # bits: see `terms`
)
sa.Index("memories_by_kind", memories.c.kind, memories.c.id)
sa.Index("memories_by_key", memories.c.key, memories.c.kind)
history = sa.Table(
    "history",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("memory", sa.BigInteger, nullable=False, index=True),
    sa.Column("text", StorableText, nullable=False),
    sa.Column("value", sa.Text),
    sa.Column("source", StorableText),
    sa.Column("run", sa.String),
    sa.Column("url", StorableText),
    sa.Column("trusted", sa.Boolean, nullable=False),
    sa.Column("written", sa.Float, nullable=False),
    sa.Column("replaced", sa.Float, nullable=False),
)
links = sa.Table(
    "links",
    metadata,
    sa.Column("one", sa.BigInteger, primary_key=True, autoincrement=False),  # the lower id
    sa.Column("other", sa.BigInteger, primary_key=True, autoincrement=False, index=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("strength", sa.Float, nullable=False),
    sa.Column("proven", sa.Boolean, nullable=False),  # used together in a verified answer
    sa.Column("touched", sa.Float, nullable=False),
)
seals = sa.Table(
    "seals",
    metadata,
    sa.Column("namespace", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.String, nullable=False),  # ISO 8601, exactly as hashed
    sa.Column("category", sa.String, nullable=False),
    sa.Column("content", StorableText, nullable=False),
    sa.Column("previous", sa.String, nullable=False),
    sa.Column("hash", sa.String, nullable=False),
)
stamps = sa.Table(
    "stamps",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("namespace", sa.Integer, nullable=False, index=True),
    sa.Column("hash", sa.String, nullable=False),  # of the entry that was the head at the time
    # The authority's reply, see `agent.sealing`.
    sa.Column("token", sa.LargeBinary, nullable=False),
)
conversations = sa.Table(
    "conversations",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("namespace", sa.Integer, nullable=False),
    sa.Column("name", StorableText, nullable=False),
    sa.Column("started", sa.Float, nullable=False),
    sa.Column("updated", sa.Float, nullable=False),
    sa.Column("condensed", StorableText, nullable=False, server_default=""),
    sa.Column("watermark", sa.BigInteger, nullable=False, server_default="0"),
    sa.UniqueConstraint("namespace", "name"),
)
turns = sa.Table(
    "turns",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("conversation", sa.BigInteger, nullable=False, index=True),
    sa.Column("role", StorableText, nullable=False),
    sa.Column("text", StorableText, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
)
embeddings = sa.Table(
    "embeddings",
    metadata,
    sa.Column("digest", sa.String, primary_key=True),  # SHA-256 of the text
    sa.Column("model", sa.String, primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False),  # 32-bit floats
)
codes = sa.Table(
    "codes",
    metadata,
    sa.Column("model", sa.String, primary_key=True),
    sa.Column("memory", sa.BigInteger, primary_key=True, autoincrement=False, index=True),
    # One bit a dimension: see `vectors.SignBitIndex`.
    sa.Column("code", sa.LargeBinary, nullable=False),
)
restated = sa.Table(
    "restated",
    metadata,
    # Memories whose vectors were computed from their former text.
    sa.Column("memory", sa.BigInteger, primary_key=True, autoincrement=False),
)
state = sa.Table(
    "state",
    metadata,
    sa.Column("namespace", sa.Integer, primary_key=True),
    sa.Column("name", StorableText, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),  # JSON
)

# The index of the memories' words, see `WordSearch` in `agent/memory/search.py`. FTS5 stores no
# content, since the terms are in a column of the table. Postgres keeps its index in sync.
_WORD_INDEX = {
    "sqlite": "CREATE VIRTUAL TABLE IF NOT EXISTS memory_index USING fts5("
    "terms, content='', columnsize=0, detail=none, tokenize='ascii')",
    "postgresql": "CREATE INDEX IF NOT EXISTS memory_index ON memories "
    "USING gin (string_to_array(terms, ' ')) WITH (fastupdate = off)",
}
FILE_NAME = "memory.db"
# eight writers take turns within milliseconds; after a minute, something is stuck
BUSY_SECONDS = 60.0
_PRAGMAS = (
    "PRAGMA synchronous=FULL",  # acknowledged writes survive a power failure
    "PRAGMA secure_delete=ON",  # deleted content is overwritten
    "PRAGMA temp_store=MEMORY",
    "PRAGMA cache_size=-16000",  # in kilobytes; fits the index of 100,000 memories
)
_SETTINGS = (
    # Plan each search for its own words. The generic plan that Postgres uses for frequent
    # statements, whether words are rare or common, took up to seventy times as long (650 ms with
    # 100,000 memories).
    "SET plan_cache_mode = force_custom_plan",
    "SET jit = off",  # compiling a search takes longer than the search
)
# One writer at a time, in Postgres as in SQLite; 0x757263 is "urc" in ASCII.
_BEGIN = {
    "sqlite": ("BEGIN IMMEDIATE",),
    "postgresql": ("BEGIN", "SELECT pg_advisory_xact_lock(7696995)"),
}
_SELECT_NAMESPACE_ID = sa.select(namespaces.c.id).where(namespaces.c.name == sa.bindparam("name"))
_BY_IDS = sa.select(memories).where(memories.c.id.in_(sa.bindparam("ids", expanding=True)))


class Store:
    """An open database. `open` accepts a file, a folder, `:memory:` or a database URL."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self.sqlite = engine.dialect.name == "sqlite"
        place = engine.url.database if self.sqlite else engine.url.render_as_string()
        self._failed = f"cannot use the memory at {place}"
        # An in-memory database has one connection, which threads use one at a time.
        self._turn: AbstractContextManager[Any] = (
            RLock() if isinstance(engine.pool, StaticPool) else nullcontext()
        )

    @classmethod
    def open(cls, place: str | os.PathLike[str]) -> Store:
        """Open a database, creating or migrating it if needed; raises `MemoryUnavailable`."""
        named = os.fspath(place)
        if "://" in named:  # without its password
            with _wrap_database_errors("cannot open the memory at its URL", exc.ArgumentError):
                named = sa.make_url(named).render_as_string(hide_password=True)
        failed = f"cannot open the memory at {named}"
        with _wrap_database_errors(failed, exc.ArgumentError, OSError, sqlite3.Error):
            store = cls(_engine(os.fspath(place)))
            try:
                store._migrate()
            except BaseException:  # interruptions too, since nothing else can close the store
                store.close()
                raise
        return store

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Yield a connection; each of its statements sees the data committed at that moment."""
        with _wrap_database_errors(self._failed), self._turn, self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Yield a connection for one transaction, which either succeeds or fails completely."""
        with self.read() as connection:
            for statement in _BEGIN[connection.dialect.name]:
                connection.exec_driver_sql(statement)
            done = False
            try:
                yield connection
                done = True
            finally:
                connection.exec_driver_sql("COMMIT" if done else "ROLLBACK")

    def namespace(self, name: str) -> int:
        """Find a namespace's number, or assign one if the name is new."""
        if not name.strip():
            raise UsageError("the namespace name is empty", hint="Omit the name to use `default`.")
        found = self.known_namespace(name)
        if found is not None:
            return found
        with self.write() as connection:
            known = connection.scalar(_SELECT_NAMESPACE_ID, {"name": name})
            if known is not None:  # another process was faster
                return int(known)
            highest = connection.scalar(sa.select(sa.func.max(namespaces.c.id)))
            number = 0 if highest is None else int(highest) + 1
            row = {"id": number, "name": name, "last": number << NAMESPACE_SHIFT}
            connection.execute(namespaces.insert(), row)
        return number

    def known_namespace(self, name: str) -> int | None:
        """Find a namespace's number; None if the namespace has never been opened."""
        with self.read() as connection:
            found: int | None = connection.scalar(_SELECT_NAMESPACE_ID, {"name": name})
        return found

    def purge(self) -> None:
        """Remove every trace of deleted content from SQLite's index and log.

        Postgres does this when it vacuums.
        """
        if self.sqlite:
            with (
                self.write() as connection
            ):  # merging the index also removes the words of deleted memories
                merge = "INSERT INTO memory_index(memory_index) VALUES ('optimize')"
                connection.exec_driver_sql(merge)
            with self.read() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _migrate(self) -> None:
        with self.read() as connection:
            tables = set(sa.inspect(connection).get_table_names())
            ours = "migrations" in tables
            if ours and self._version(connection) == VERSION:
                return
            if not ours and tables & set(metadata.tables):
                raise MemoryUnavailable(
                    "the database contains tables from another program",
                    hint="Choose another data folder or URL; nothing was changed.",
                )
        with self.write() as connection:
            # So far, new versions have only added tables; missing ones are created here.
            metadata.create_all(connection)
            connection.exec_driver_sql(_WORD_INDEX[connection.dialect.name])
            if self._version(connection) < VERSION:
                row = {"version": VERSION, "applied": time.time()}
                connection.execute(migrations.insert(), row)

    def _version(self, connection: sa.Connection) -> int:
        known = connection.scalar(sa.select(sa.func.max(migrations.c.version))) or 0
        if known > VERSION:
            raise MemoryUnavailable(
                f"the memory has version {known}; this program supports versions up to {VERSION}",
                hint="Update urchin-research.",
            )
        return int(known)


class Notes:
    """One namespace's notes: JSON values by name."""

    def __init__(self, store: Store, namespace: int) -> None:
        self._store = store
        self._namespace = namespace

    def read(self, name: str) -> Any | None:
        """Read a note; None if there is none."""
        query = sa.select(state.c.value).where(*self._named(name))
        with self._store.read() as connection:
            found = connection.scalar(query)
        return None if found is None else json.loads(found)

    def write(self, name: str, value: Any) -> None:
        """Write a note, replacing any existing one with its name."""
        row = {"namespace": self._namespace, "name": name, "value": json.dumps(value)}
        with self._store.write() as connection:
            connection.execute(state.delete().where(*self._named(name)))
            connection.execute(state.insert(), row)

    def _named(self, name: str) -> tuple[sa.ColumnElement[bool], ...]:
        return state.c.namespace == self._namespace, state.c.name == name


def rows_by_id(connection: sa.Connection, ids: Iterable[int]) -> dict[int, Any]:
    """Read memories by id, in any state; deleted ones are left out."""
    return {row.id: row for row in connection.execute(_BY_IDS, {"ids": list(ids)})}


_DAMAGED = (
    "The file is damaged or is not a memory database: move it away to start a new one; "
    "`sqlite3 FILE .recover` recovers what it can."
)
_READ_ONLY = "The file or its folder cannot be written: choose another one with --data-dir."
_HINTS = {
    "malformed": _DAMAGED,
    "not a database": _DAMAGED,
    "is full": "Free some disk space; existing memories are intact.",
    "readonly": _READ_ONLY,
    "unable to open": _READ_ONLY,
    "no such column": "The database belongs to another program: use another --data-dir.",
    "connection": "Is the server running, and is RESEARCH_MEMORY_URL correct?",
}
"""Hints by text that occurs in the messages of SQLite and libpq."""
# Other database errors (a syntax error, a broken constraint) are bugs in our statements.
_EXTERNAL_ERRORS = (exc.DatabaseError, exc.OperationalError, exc.InternalError)


@contextmanager
def _wrap_database_errors(what: str, *also: type[Exception]) -> Iterator[None]:
    """Convert database failures and the given errors to `MemoryUnavailable`."""
    caught: tuple[type[Exception], ...] = (exc.DatabaseError, *also)
    try:
        yield
    except caught as error:
        if isinstance(error, exc.DatabaseError) and type(error) not in _EXTERNAL_ERRORS:
            raise
        message = " ".join(str(getattr(error, "orig", None) or error).split())
        hint = next((hint for words, hint in _HINTS.items() if words in message), None)
        raise MemoryUnavailable(f"{what}: {message}", hint=hint) from error


def _engine(place: str) -> sa.Engine:
    """Create the engine for a file, a folder, `:memory:` (shared by all threads) or a URL."""
    if "://" in place:
        url = sa.make_url(place)
    else:
        folder = place != ":memory:" and (place.endswith(os.sep) or Path(place).is_dir())
        url = sa.URL.create("sqlite", database=str(Path(place, FILE_NAME)) if folder else place)
    kind = url.get_backend_name()
    if kind == "sqlite":
        database = url.database or ":memory:"
        in_memory = database == ":memory:"
        if not in_memory:
            _create_file(Path(database))
        return make_engine(
            sa.URL.create("sqlite", database=database),
            _PRAGMAS,
            isolation_level="AUTOCOMMIT",
            poolclass=StaticPool if in_memory else QueuePool,
        )
    if kind not in {"postgresql", "postgres"}:
        raise MemoryUnavailable(f"unsupported memory database: {kind}")
    try:
        return make_engine(url, _SETTINGS, isolation_level="AUTOCOMMIT")
    except ImportError as error:
        hint = "pip install 'urchin-research[postgres]'"
        raise MemoryUnavailable("the Postgres driver is not installed", hint=hint) from error


def make_engine(url: sa.URL, statements: Sequence[str], **settings: Any) -> sa.Engine:
    """Create an engine for SQLite or Postgres; each connection first executes `statements`.

    Raises `ImportError` if the Postgres driver is missing.
    """
    if url.get_backend_name() == "sqlite":
        settings["connect_args"] = {"timeout": BUSY_SECONDS, "check_same_thread": False}
    else:
        url = url.set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, **settings)

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        for statement in statements:
            connection.execute(statement)

    return engine


def _create_file(path: Path) -> None:
    """Create the database file if it is missing: readable only by its owner, and in WAL mode.

    It is created under another name and then linked, so that no process ever sees it incomplete or
    has to change the journal mode of a file that others are using.
    """
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    os.close(handle)
    temporary = Path(name)
    try:
        connection = sqlite3.connect(temporary)
        connection.execute("PRAGMA journal_mode=WAL").fetchone()
        connection.close()
        os.link(temporary, path)
    except FileExistsError:
        return  # another process was faster
    except OSError:  # on a file system without hard links, a rename is almost as good
        if not path.exists():
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
