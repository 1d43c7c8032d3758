"""Postgres behind the store: settings of its connections."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

SETTINGS = (
    # A search is planned for its words: one plan for rare and common ones alike, as a statement
    # that is asked often gets it, took up to seventy times as long (650 ms at 100,000 memories).
    "SET plan_cache_mode = force_custom_plan",
    "SET jit = off",  # compiling a search takes longer than the search
)


def engine(url: sa.URL) -> sa.Engine:
    """Open a database."""
    made = sa.create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    event.listen(made, "connect", _configure)
    return made


def _configure(connection: Any, _record: Any) -> None:
    for setting in SETTINGS:
        connection.execute(setting)
