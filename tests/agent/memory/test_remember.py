from __future__ import annotations

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from agent.memory import Memory, MemoryUnavailable, ReservedKey, Turn


def test_remembered_value_survives_reopening(place: str) -> None:
    name = uuid4().hex
    with Memory.open(place, name) as memory:
        memory.remember("boat", "the Amber Gull")
    with Memory.open(place, name) as memory:
        assert memory.recall("boat") == "the Amber Gull"


@pytest.mark.parametrize(
    "value", [None, True, 1.0, 7, ["a", [1]], {"x": {"y": 1}}, "half \ud83d", "nul \x00"]
)
def test_json_values_round_trip(memory: Memory, value: object) -> None:
    memory.remember("key", value)
    assert memory.recall("key") == value


def test_overwritten_value_stays_in_history(memory: Memory) -> None:
    for value in ("first", "second", "second", "third"):
        memory.remember("key", value)
    assert memory.recall("key") == "third"
    assert memory.former_values("key") == ["first", "second"]


def test_overwriting_keeps_key_order(memory: Memory) -> None:
    for key in ("a", "b", "a"):
        memory.remember(key, key.upper())
    assert list(memory.remembered()) == ["a", "b"]


@pytest.mark.parametrize("key", ["_convCount", "_", "session_1700000000000", ""])
def test_reserved_keys_are_refused_with_a_hint(memory: Memory, key: str) -> None:
    with pytest.raises(ReservedKey) as caught:
        memory.remember(key, "x")
    assert caught.value.hint
    assert memory.remembered() == {}


@pytest.mark.parametrize("key", ["toString", "constructor", "__proto__", "hasOwnProperty"])
def test_javascript_prototype_names_are_ordinary_keys(memory: Memory, key: str) -> None:
    assert memory.recall(key) is None
    if not key.startswith("_"):
        memory.remember(key, "mine")
        assert memory.recall(key) == "mine"


def test_forget_deletes_history_and_index(memory: Memory) -> None:
    memory.remember("pin", "aardvark")
    memory.remember("pin", "wombat")
    assert memory.forget("pin")
    assert not memory.forget("pin")
    assert memory.search("aardvark wombat pin") == []
    memory.remember("pin", "new")
    assert memory.former_values("pin") == []


def test_forgotten_value_is_erased_from_file(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.remember("secret", "xylophonequartz")
        memory.forget("secret")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"xylophonequartz" not in stored


def test_concurrent_remember_loses_no_update(memory: Memory) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: memory.remember(f"key {n}", n), range(80)))
    assert memory.remembered() == {f"key {n}": n for n in memory.remembered().values()}
    assert len(memory.remembered()) == 80


def test_namespaces_are_isolated(place: str) -> None:
    names = uuid4().hex, uuid4().hex
    with Memory.open(place, names[0]) as one, Memory.open(place, names[1]) as two:
        one.remember("colour", "vermilion")
        two.conversation("talk").append(Turn("user", "hello"))
        assert two.recall("colour") is None
        assert two.search("vermilion") == []
        assert one.latest_session() is None


def test_memory_files_are_readable_by_owner_only(tmp_path: Path) -> None:
    place = tmp_path / "new" / "memory.db"
    with Memory.open(place) as memory:
        memory.remember("a", "b")
        files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.parent.iterdir()}
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert set(files.values()) == {0o600}


def test_non_database_file_raises_memory_unavailable(tmp_path: Path) -> None:
    place = tmp_path / "memory.db"
    place.write_text("this is not a database, but long enough to be looked at " * 20)
    with pytest.raises(MemoryUnavailable):
        Memory.open(place)


def test_unknown_database_scheme_raises_memory_unavailable() -> None:
    with pytest.raises(MemoryUnavailable):
        Memory.open("mysql://localhost/x")


def test_in_memory_store_is_shared_by_threads() -> None:
    with Memory.open(":memory:") as memory, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: memory.remember(f"k{n}", n), range(20)))
        assert len(memory.remembered()) == 20


def test_importing_memory_loads_no_database_library() -> None:
    code = "import sys, agent.memory; sys.exit('sqlalchemy' in sys.modules)"
    root = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
