"""The jobs database: SQLite for one machine, Postgres for several; includes DBOS's tables.

Three of the tables are our own: worker heartbeats, the next allowed request time for each host, and
notes (schedules, monitors, queue settings, dollars spent).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.dialects import postgresql, sqlite

from agent.config import private_folder
from agent.errors import ResearchError, UsageError
from agent.memory.database import make_engine

if TYPE_CHECKING:
    from pathlib import Path

HEARTBEAT_TIMEOUT_S: Final = 60.0
"""Age of a heartbeat in seconds after which a worker counts as dead, as in DBOS's service."""
_PRAGMAS: Final = (
    "PRAGMA journal_mode=WAL",  # readers do not wait for writers
    "PRAGMA synchronous=NORMAL",
)
_metadata = sa.MetaData()
_workers = sa.Table(
    "urchin_workers",
    _metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("place", sa.String, nullable=False),
    sa.Column("beat", sa.Float, nullable=False),
)
_hosts = sa.Table(
    "urchin_hosts",
    _metadata,
    sa.Column("host", sa.String, primary_key=True),
    sa.Column("due", sa.Float, nullable=False),
)
_notes = sa.Table(
    "urchin_notes",
    _metadata,
    sa.Column("kind", sa.String, primary_key=True),
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)


class JobsUnavailable(ResearchError):
    """Raised if the jobs database cannot be used."""

    hint = "Check --jobs-url. Without it, jobs are stored in the data folder."


class JobsDatabase:
    """Our tables in the jobs database; thread-safe.

    Times are epoch seconds, by the database's clock.
    """

    def __init__(self, url: str, engine: sa.Engine) -> None:
        self.url = url
        self.engine = engine
        self.postgres = engine.dialect.name == "postgresql"

    @classmethod
    def open(cls, url: str | None, data_dir: Path) -> Self:
        """Open by URL, or `jobs.db` in the data folder; raises the same errors as `Jobs.open`."""
        if url is None:
            url = f"sqlite:///{private_folder(data_dir) / 'jobs.db'}"
        database = cls(url, _create_engine(url))
        try:
            with database.engine.begin() as connection:
                # Prevent two processes that start together from both creating the tables.
                if database.postgres:
                    connection.execute(sa.text("SELECT pg_advisory_xact_lock(7203311)"))
                for table in _metadata.sorted_tables:
                    connection.execute(sa.schema.CreateTable(table, if_not_exists=True))
        except sa.exc.OperationalError as error:
            raise JobsUnavailable(f"cannot open the jobs database: {error.orig}") from error
        return database

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()

    def _now(self) -> sa.ColumnElement[float]:
        """Return the time on the shared clock: the server's or, for SQLite, this machine's."""
        if self.postgres:
            return sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Float)
        return sa.literal(time.time(), sa.Float)

    def change(self, statement: sa.Executable) -> bool:
        """Execute a statement in its own transaction; return whether it changed a row."""
        with self.engine.begin() as connection:
            return bool(connection.execute(statement).rowcount == 1)

    def insert(self, table: sa.Table, **row: Any) -> Any:
        """Build an INSERT in the database's dialect; generic SQLAlchemy has no ON CONFLICT."""
        insert = postgresql.insert if self.postgres else sqlite.insert
        return insert(table).values(**row)

    # Workers

    def heartbeat(self, worker: str, place: str) -> None:
        """Record that a worker is alive now."""
        alive = {"place": place, "beat": self._now()}
        row = self.insert(_workers, id=worker, **alive)
        self.change(row.on_conflict_do_update(index_elements=["id"], set_=alive))

    def remove_worker(self, worker: str) -> None:
        """Delete a worker, so that other workers take over its running jobs."""
        self.change(_workers.delete().where(_workers.c.id == worker))

    def living_workers(self) -> dict[str, str]:
        """Return the workers with a recent heartbeat, and their locations."""
        query = sa.select(_workers.c.id, _workers.c.place)
        with self.engine.connect() as connection:
            rows = connection.execute(
                query.where(_workers.c.beat > self._now() - HEARTBEAT_TIMEOUT_S)
            )
            return {row.id: row.place for row in rows}

    # Host reservations

    def seconds_until_free(self, host: str) -> float:
        """Return the seconds until a request to a host is allowed; 0 or less means now."""
        query = sa.select(_hosts.c.due - self._now()).where(_hosts.c.host == host)
        with self.engine.connect() as connection:
            return connection.scalar(query) or 0.0

    def reserve_host(self, host: str, delay: float) -> bool:
        """Reserve the host for `delay` seconds; False if it is already reserved."""
        now = self._now()
        # if several requests arrive simultaneously, only one of them changes the row
        known = _hosts.update().where(_hosts.c.host == host, _hosts.c.due <= now)
        new = self.insert(_hosts, host=host, due=now + delay).on_conflict_do_nothing()
        with self.engine.begin() as connection:
            if connection.execute(known.values(due=now + delay)).rowcount == 1:
                return True
            # Postgres does not report the number of inserted rows (-1), so the statement must
            # return them.
            return connection.execute(new.returning(_hosts.c.host)).first() is not None

    def set_cooldown(self, host: str, seconds: float) -> None:
        """Set a host's cooldown, unless a longer one is active."""
        until = self._now() + seconds
        later = sa.case((_hosts.c.due > until, _hosts.c.due), else_=until)
        row = self.insert(_hosts, host=host, due=until)
        self.change(row.on_conflict_do_update(index_elements=["host"], set_={"due": later}))


Value = TypeVar("Value")


class NoteTable(Generic[Value]):
    """Notes of one kind, by name, with values of one type: schedules, monitors, changes."""

    def __init__(self, database: JobsDatabase, kind: str, type_: type[Value]) -> None:
        self._database = database
        self._kind = kind
        self._adapter = TypeAdapter(type_)
        self._ours = _notes.c.kind == kind

    def all(self) -> dict[str, Value]:
        """Read all notes, sorted by name."""
        query = sa.select(_notes.c.name, _notes.c.value).where(self._ours)
        with self._database.engine.connect() as connection:
            rows = connection.execute(query.order_by(_notes.c.name)).all()
        return {row.name: self._adapter.validate_json(row.value) for row in rows}

    def get(self, name: str) -> Value | None:
        """Read a note; None if it does not exist."""
        query = sa.select(_notes.c.value).where(self._ours, _notes.c.name == name)
        with self._database.engine.connect() as connection:
            text = connection.scalar(query)
        return None if text is None else self._adapter.validate_json(text)

    def put(self, name: str, value: Value) -> None:
        """Write a note, replacing an earlier one."""
        text = self._adapter.dump_json(value).decode()
        row = self._database.insert(_notes, kind=self._kind, name=name, value=text)
        keys = ["kind", "name"]
        self._database.change(row.on_conflict_do_update(index_elements=keys, set_={"value": text}))

    def update(self, name: str, value: Value) -> bool:
        """Change an existing note; False if it has been deleted."""
        known = _notes.update().where(self._ours, _notes.c.name == name)
        return self._database.change(known.values(value=self._adapter.dump_json(value).decode()))

    def delete(self, name: str) -> bool:
        """Delete a note; False if it does not exist."""
        return self._database.change(_notes.delete().where(self._ours, _notes.c.name == name))


def _create_engine(url: str) -> sa.Engine:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise UsageError(
            "--jobs-url is not a database URL", hint="Use sqlite:///FILE or postgresql://…"
        ) from error
    backend = parsed.get_backend_name()
    if backend == "postgresql":
        try:
            # reconnect after a server restart
            return make_engine(parsed, (), pool_pre_ping=True)
        except ImportError as error:
            hint = "pip install 'urchin-research[jobs]'"
            raise JobsUnavailable("the Postgres driver is not installed", hint=hint) from error
    if backend != "sqlite" or not parsed.database:
        raise UsageError(f"unsupported database: {backend}", hint="Use SQLite or Postgres.")
    return make_engine(parsed, _PRAGMAS)
