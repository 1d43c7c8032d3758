"""Rows of memories: read by id, and as others see them: hits, and the window around one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from agent.memory.kinds import NAMED
from agent.memory.retrieval.ranking import WINDOW
from agent.memory.schema import memories
from agent.memory.types import Hit, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_BY_IDS = sa.select(memories).where(memories.c.id.in_(sa.bindparam("ids", expanding=True)))


def rows_of(connection: sa.Connection, ids: Iterable[int]) -> dict[int, Any]:
    """Read memories by id, in whatever state; those that are gone are left out."""
    return {row.id: row for row in connection.execute(_BY_IDS, {"ids": list(ids)})}


def window(rows: Mapping[int, Any], memory: int) -> list[tuple[float, str]]:
    """Give a memory's text, and the shares that it takes of those beside it in its session."""
    near = [(share, rows[memory - by]) for by, share in WINDOW if memory - by in rows]
    own = rows[memory].session
    return [(s, meaning(row.kind, row.key, row.text)) for s, row in near if row.session == own]


def meaning(kind: str, key: str | None, text: str) -> str:
    """Give the text that says what a memory means: its own, after the name that it goes by."""
    return f"{key}: {text}" if key and kind in NAMED else text


def hit_of(row: Any, score: float) -> Hit:
    """Show a row as the hit of a search."""
    return Hit(
        row.id,
        row.key,
        row.text,
        row.kind,
        round(score, 4),
        datetime.fromtimestamp(row.at, UTC),
        row.source,
        Origin(row.run, row.url, row.trusted),
    )
