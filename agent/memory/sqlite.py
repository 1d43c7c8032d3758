"""SQLite behind the store: creating the file, settings of a connection, the search index."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import QueuePool, StaticPool

# Eight busy writers take turns in milliseconds; a minute is a machine that has stopped.
BUSY_SECONDS = 60.0
PRAGMAS = (
    "PRAGMA synchronous=FULL",  # acknowledged means on disk, also when the power goes
    "PRAGMA secure_delete=ON",  # forgotten means overwritten
    "PRAGMA temp_store=MEMORY",
    "PRAGMA cache_size=-16000",  # kilobytes: the index of 100,000 memories
)


def engine(database: str) -> sa.Engine:
    """Open a file, or `:memory:`, which all threads then share."""
    in_memory = database in {"", ":memory:"}
    if not in_memory:
        create_file(Path(database))
    made = sa.create_engine(
        sa.URL.create("sqlite", database=database),
        isolation_level="AUTOCOMMIT",
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
        poolclass=StaticPool if in_memory else QueuePool,
    )
    event.listen(made, "connect", _configure)
    return made


def create_file(path: Path) -> None:
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


def _configure(connection: Any, _record: Any) -> None:
    for pragma in PRAGMAS:
        connection.execute(pragma)
