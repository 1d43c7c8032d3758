"""Killed writers lose no acknowledged writes, in either database."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from agent.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.forked import Command, Commands

WRITER = """
import sys
from agent.memory import Memory
place, namespace, name = sys.argv[1:]
with Memory.open(place, namespace) as memory:
    for number in range(1_000_000):
        memory.remember(f"{name} {number}", number)
        print(number, flush=True)
"""
PROCESSES = 4
WRITES = 60


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Return where writers may write: a database, and the test's own namespace."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db"), "default"
    return str(request.getfixturevalue("postgres")), uuid4().hex


@pytest.fixture
def start(place: tuple[str, str], commands: Commands) -> Callable[[str], Command]:
    """Start a writer with this name."""

    def starting(name: str) -> Command:
        return commands.start("-c", WRITER, *place, name, env={"PATH": os.environ["PATH"]})

    return starting


def _acknowledged_before_kill(writer: Command, writes: int) -> tuple[int, str]:
    """Read acknowledgements, kill the writer, and read what was still in transit."""
    for _ in range(writes):
        writer.stdout.readline()
    writer.kill()
    rest, errors = writer.communicate()
    whole = [line for line in rest.splitlines(keepends=True) if line.endswith(b"\n")]
    return writes + len(whole), errors.decode()


@pytest.mark.row(n=19)
@pytest.mark.sample(1)
def test_killed_writers_lose_no_memories_and_leave_no_locks(
    place: tuple[str, str], start: Callable[[str], Command]
) -> None:
    chance = random.Random(19)
    for round_ in range(2):
        writers = {f"w{round_}-{n}": start(f"w{round_}-{n}") for n in range(PROCESSES)}
        ends = {
            name: _acknowledged_before_kill(writer, chance.randrange(5, WRITES))
            for name, writer in writers.items()
        }
        with Memory.open(*place) as memory:
            known = memory.remembered()
        assert all(not errors for _, errors in ends.values()), ends
        for name, (acknowledged, _) in ends.items():
            assert all(f"{name} {number}" in known for number in range(acknowledged))


@pytest.mark.row(n=19)
def test_search_index_matches_memories_after_kill(
    place: tuple[str, str], start: Callable[[str], Command]
) -> None:
    acknowledged, _ = _acknowledged_before_kill(start("marlin"), 40)
    with Memory.open(*place) as memory:
        found = {hit.key for hit in memory.search("marlin", 10_000)}
        assert {f"marlin {number}" for number in range(min(acknowledged, 40))} <= found
        memory.add("still writable marlin")
        if memory.store.sqlite:
            with memory.store.read() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
