"""Scorecard 19: writers that are killed lose nothing that was acknowledged, in either database."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from agent.memory import Memory

ROOT = Path(__file__).parents[2]
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
    """Say where writers may write: a database, and a namespace of the test's own."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db"), "default"
    return str(request.getfixturevalue("postgres")), uuid4().hex


def _start(place: tuple[str, str], name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, *place, name]
    return subprocess.Popen(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def _acknowledged_before_kill(writer: subprocess.Popen[str], writes: int) -> tuple[int, str]:
    """Read acknowledgements, kill the writer, and read what was still under way."""
    assert writer.stdout is not None
    for _ in range(writes):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    rest, errors = writer.communicate()
    whole = [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    return writes + len(whole), errors


def test_row19_killed_writers_lose_nothing_and_lock_nobody_out(place: tuple[str, str]) -> None:
    chance = random.Random(19)
    for round_ in range(2):
        writers = {f"w{round_}-{n}": _start(place, f"w{round_}-{n}") for n in range(PROCESSES)}
        ends = {
            name: _acknowledged_before_kill(writer, chance.randrange(5, WRITES))
            for name, writer in writers.items()
        }
        with Memory.open(*place) as memory:
            known = memory.remembered()
        assert all(not errors for _, errors in ends.values()), ends
        for name, (acknowledged, _) in ends.items():
            assert all(f"{name} {number}" in known for number in range(acknowledged))


def test_row19_the_index_agrees_with_the_memories_after_a_kill(place: tuple[str, str]) -> None:
    acknowledged, _ = _acknowledged_before_kill(_start(place, "marlin"), 40)
    with Memory.open(*place) as memory:
        found = {hit.key for hit in memory.search("marlin", 10_000)}
        assert {f"marlin {number}" for number in range(min(acknowledged, 40))} <= found
        memory.add("still writable marlin")
        if memory.store.sqlite:
            with memory.store.read() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
