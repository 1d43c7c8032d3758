"""The database of jobs: SQLite on one machine, Postgres for many; DBOS keeps its tables in it too.

What DBOS has no table for stands in three of ours: which workers live, when a host may be asked
again, and notes (schedules, monitors, why the queue is paused, what was spent).
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite

from agent.config import private_folder
from agent.errors import ResearchError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
    """The database of jobs cannot be used."""

    hint = "Check --jobs-url; without it the jobs stand in the data folder."


class JobsDatabase:
    """Our tables beside those of DBOS. Shared by threads; times are epoch seconds of its clock."""

    def __init__(self, url: str, engine: sa.Engine) -> None:
        self.url = url
        self._engine = engine
        self.postgres = engine.dialect.name == "postgresql"

    @classmethod
    def open(cls, url: str | None, data_dir: Path) -> Self:
        """Open by URL, else `jobs.db` in the data folder; raises as `Jobs.open` does."""
        if url is None:
            url = f"sqlite:///{private_folder(data_dir) / 'jobs.db'}"
        engine = _engine_of(url)
        opened = cls(url, engine)
        try:
            opened._create()
        except sa.exc.OperationalError as error:
            raise JobsUnavailable(f"cannot open the jobs: {error.orig}") from error
        return opened

    def _create(self) -> None:
        with self._engine.begin() as connection:
            if self.postgres:  # two that begin at once would both create the tables
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7203311)"))
            for table in _metadata.sorted_tables:
                connection.execute(sa.schema.CreateTable(table, if_not_exists=True))

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()

    def _now(self) -> sa.ColumnElement[float]:
        """The clock that all share: the server's; of a file, the machine's."""
        if self.postgres:
            return sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Float)
        return sa.literal(time.time(), sa.Float)

    def _upsert(self, table: sa.Table, row: Mapping[str, Any]) -> Any:
        made = postgresql.insert(table) if self.postgres else sqlite.insert(table)
        keys = [column.name for column in table.primary_key]
        changed = {name: value for name, value in row.items() if name not in keys}
        return made.values(**row).on_conflict_do_update(index_elements=keys, set_=changed)

    # Workers

    def beat(self, worker: str, place: str) -> None:
        """Say that a worker lives."""
        row = {"id": worker, "place": place, "beat": self._now()}
        with self._engine.begin() as connection:
            connection.execute(self._upsert(_workers, row))

    def leave(self, worker: str) -> None:
        """Take a worker off the list: what it had under way is anybody's."""
        with self._engine.begin() as connection:
            connection.execute(_workers.delete().where(_workers.c.id == worker))

    def living(self, stale: float) -> dict[str, str]:
        """Give the workers that were heard of in the last `stale` seconds, with their places."""
        query = sa.select(_workers.c.id, _workers.c.place).where(
            _workers.c.beat > self._now() - stale
        )
        with self._engine.begin() as connection:
            return {row.id: row.place for row in connection.execute(query)}

    # Turns of hosts

    def host_rest(self, host: str) -> float:
        """Give the seconds until a host may be asked; 0 or less when it may."""
        query = sa.select(_hosts.c.due - self._now()).where(_hosts.c.host == host)
        with self._engine.connect() as connection:
            return connection.scalar(query) or 0.0

    def take_turn(self, host: str, delay: float) -> bool:
        """Take a host's turn; nobody has the next one for `delay` s. False where it is gone."""
        with self._engine.begin() as connection:
            now = self._now()
            known = _hosts.update().where(_hosts.c.host == host, _hosts.c.due <= now)
            if connection.execute(known.values(due=now + delay)).rowcount:
                return True
            made = postgresql.insert(_hosts) if self.postgres else sqlite.insert(_hosts)
            new = made.values(host=host, due=now + delay).on_conflict_do_nothing()
            return connection.execute(new).rowcount == 1

    def let_rest(self, host: str, seconds: float) -> None:
        """Leave a host alone for so long; a longer rest that it has stays."""
        until = self._now() + seconds
        later = sa.case((_hosts.c.due > until, _hosts.c.due), else_=until)
        made = postgresql.insert(_hosts) if self.postgres else sqlite.insert(_hosts)
        row = made.values(host=host, due=until)
        with self._engine.begin() as connection:
            connection.execute(
                row.on_conflict_do_update(index_elements=["host"], set_={"due": later})
            )

    # Notes

    def note(self, kind: str, name: str) -> Any:
        """Read a note; None where there is none."""
        query = sa.select(_notes.c.value).where(_notes.c.kind == kind, _notes.c.name == name)
        with self._engine.connect() as connection:
            found = connection.scalar(query)
        return None if found is None else json.loads(found)

    def notes(self, kind: str) -> dict[str, Any]:
        """Read all notes of a kind by name, in the order of their names."""
        query = sa.select(_notes.c.name, _notes.c.value).where(_notes.c.kind == kind)
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(_notes.c.name)).all()
        return {row.name: json.loads(row.value) for row in rows}

    def keep(self, kind: str, name: str, value: Any) -> None:
        """Keep a note, in place of an earlier one."""
        row = {"kind": kind, "name": name, "value": json.dumps(value, ensure_ascii=False)}
        with self._engine.begin() as connection:
            connection.execute(self._upsert(_notes, row))

    def renew(self, kind: str, name: str, value: Any) -> bool:
        """Change a note that is there; False where somebody took it away meanwhile."""
        change = _notes.update().where(_notes.c.kind == kind, _notes.c.name == name)
        with self._engine.begin() as connection:
            text = json.dumps(value, ensure_ascii=False)
            return connection.execute(change.values(value=text)).rowcount == 1

    def drop(self, kind: str, name: str) -> bool:
        """Take a note away; False where there was none."""
        gone = _notes.delete().where(_notes.c.kind == kind, _notes.c.name == name)
        with self._engine.begin() as connection:
            return connection.execute(gone).rowcount == 1


def _engine_of(url: str) -> sa.Engine:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise UsageError(
            "--jobs-url is no address of a database", hint="sqlite:///FILE or postgresql://…"
        ) from error
    backend = parsed.get_backend_name()
    if backend == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
        try:
            return sa.create_engine(parsed, pool_pre_ping=True)
        except ImportError as error:
            hint = "pip install 'urchin-research[jobs]'"
            raise JobsUnavailable("the driver of Postgres is not installed", hint=hint) from error
    if backend != "sqlite" or not parsed.database:
        raise UsageError(f"no such kind of database: {backend}", hint="SQLite or Postgres.")
    engine = sa.create_engine(parsed, connect_args={"timeout": 30})

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA journal_mode=WAL")  # readers do not wait for writers
        connection.execute("PRAGMA synchronous=NORMAL")

    return engine
