"""A memory on a disk of its own for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agent.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db") as opened:
        yield opened
