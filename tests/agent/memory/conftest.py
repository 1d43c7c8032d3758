"""A separate memory for each test, in SQLite and in a real Postgres."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from agent.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a memory may be opened."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def memory(place: str) -> Iterator[Memory]:
    with Memory.open(place, namespace=uuid4().hex) as opened:
        yield opened
