"""Rows of memories as others see them: hits, and the window around one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agent.memory.retrieval.ranking import WINDOW
from agent.memory.types import Hit, Origin

if TYPE_CHECKING:
    from collections.abc import Mapping


def window(rows: Mapping[int, Any], memory: int) -> list[tuple[float, str]]:
    """Give a memory's text, and the shares that it takes of those beside it in its session."""
    near = [(share, rows[memory - by]) for by, share in WINDOW if memory - by in rows]
    return [(share, row.text) for share, row in near if row.session == rows[memory].session]


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
