"""Small SQLite files that several processes share and that can be lost without harm."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Seconds to wait while another process writes: its writes take milliseconds.
_PATIENCE = 10.0
# What the machine's failure may cost is a cached answer or a rest: no waiting for the disk.
_FAST = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"


def open_store(path: Path | None, schema: str) -> sqlite3.Connection:
    """Open (or make) a store; in memory without a path. A damaged file is made anew.

    Where folder or file cannot be written the store is in memory, and lasts as long as the run.
    """
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return _opened(path, schema)
    except (OSError, sqlite3.Error):
        return _connected(None, schema)


def _opened(path: Path | None, schema: str) -> sqlite3.Connection:
    try:
        return _connected(path, schema)
    except sqlite3.DatabaseError as error:
        if path is None or isinstance(error, sqlite3.OperationalError):
            raise
        path.unlink()
        return _connected(path, schema)


def _connected(path: Path | None, schema: str) -> sqlite3.Connection:
    db = sqlite3.connect(
        path or ":memory:", timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        db.executescript(f"{_FAST} {schema}")
    except sqlite3.Error:
        db.close()
        raise
    return db
