from __future__ import annotations

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from agent.memory import Memory, MemoryUnavailable, ReservedKey, Turn


def test_what_is_remembered_is_recalled_after_reopening(place: str) -> None:
    name = uuid4().hex
    with Memory.open(place, name) as memory:
        memory.remember("boat", "the Amber Gull")
    with Memory.open(place, name) as memory:
        assert memory.recall("boat") == "the Amber Gull"


@pytest.mark.parametrize(
    "value", [None, True, 1.0, 7, ["a", [1]], {"x": {"y": 1}}, "half \ud83d", "nul \x00"]
)
def test_values_of_any_json_type_come_back_as_they_were(memory: Memory, value: object) -> None:
    memory.remember("key", value)
    assert memory.recall("key") == value


def test_an_overwritten_value_stays_in_the_history(memory: Memory) -> None:
    for value in ("first", "second", "second", "third"):
        memory.remember("key", value)
    assert memory.recall("key") == "third"
    assert memory.former_values("key") == ["first", "second"]


def test_overwriting_keeps_the_place_in_the_order(memory: Memory) -> None:
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
def test_own_names_only(memory: Memory, key: str) -> None:
    assert memory.recall(key) is None
    if not key.startswith("_"):
        memory.remember(key, "mine")
        assert memory.recall(key) == "mine"


def test_forgetting_deletes_the_history_and_the_index_too(memory: Memory) -> None:
    memory.remember("pin", "aardvark")
    memory.remember("pin", "wombat")
    assert memory.forget("pin")
    assert not memory.forget("pin")
    assert memory.search("aardvark wombat pin") == []
    memory.remember("pin", "new")
    assert memory.former_values("pin") == []


def test_what_is_forgotten_is_gone_from_the_file(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.remember("secret", "xylophonequartz")
        memory.forget("secret")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"xylophonequartz" not in stored


def test_no_lost_updates_when_many_remember_at_once(memory: Memory) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: memory.remember(f"key {n}", n), range(80)))
    assert memory.remembered() == {f"key {n}": n for n in memory.remembered().values()}
    assert len(memory.remembered()) == 80


def test_namespaces_do_not_see_each_other(place: str) -> None:
    names = uuid4().hex, uuid4().hex
    with Memory.open(place, names[0]) as one, Memory.open(place, names[1]) as two:
        one.remember("colour", "vermilion")
        two.conversation("talk").append(Turn("user", "hello"))
        assert two.recall("colour") is None
        assert two.search("vermilion") == []
        assert one.latest_session() is None


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    place = tmp_path / "new" / "memory.db"
    with Memory.open(place) as memory:
        memory.remember("a", "b")
        files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.parent.iterdir()}
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert set(files.values()) == {0o600}


def test_a_file_that_is_no_database_is_a_typed_error(tmp_path: Path) -> None:
    place = tmp_path / "memory.db"
    place.write_text("this is not a database, but long enough to be looked at " * 20)
    with pytest.raises(MemoryUnavailable):
        Memory.open(place)


def test_an_unknown_kind_of_database_is_a_typed_error() -> None:
    with pytest.raises(MemoryUnavailable):
        Memory.open("mysql://localhost/x")


def test_a_memory_in_memory_is_shared_by_threads() -> None:
    with Memory.open(":memory:") as memory, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: memory.remember(f"k{n}", n), range(20)))
        assert len(memory.remembered()) == 20


def test_importing_memory_loads_no_database_library() -> None:
    code = "import sys, agent.memory; sys.exit('sqlalchemy' in sys.modules)"
    root = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
