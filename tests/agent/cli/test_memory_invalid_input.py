"""Slightly wrong input that people type into `research memory`, `wiki` and `skills`."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent.memory import Memory
from agent.memory.database import VERSION

COMMAND = str(Path(sys.executable).with_name("research"))
NOT_WRITABLE = "cannot be written"


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data").mkdir(mode=0o700)
    return tmp_path / "data"


@pytest.fixture
def own(tmp_path, data):
    """The environment for running the command manually."""
    config = str(tmp_path / "config.toml")
    return {**os.environ, "RESEARCH_DATA_DIR": str(data), "RESEARCH_CONFIG": config}


def complained(done, *words):
    """Check that a command failed with a one-line reason and nothing else."""
    assert done.stdout == ""
    assert done.stderr.startswith(("research: ", "Usage: "))
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert "sqlalche" not in done.stderr
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("memory", "search", ""),
        ("memory", "search", "  "),
        ("memory", "preview", ""),
        ("memory", "remember", " ", "x"),
        ("memory", "remember", "x", ""),
        ("memory", "seal", "decision", " "),
        ("memory", "list", "-n", "0"),
        ("memory", "search", "x", "-n", "-1"),
        ("memory", "search", "x", "--kind", "nonsense"),
        ("memory", "list", "--kind", "nonsense"),
        ("memory", "add", "x", "--kind", "nonsense"),
        ("memory", "show", "9" * 30),
        ("memory", "forget", ""),
        ("memory", "dream", "--seconds", "-1"),
        ("skills", "show", ""),
        ("wiki", "search", "x"),
    ],
)
def test_what_means_nothing_exits_2_and_says_why(run, args):
    done = run(*args)
    complained(done)
    assert done.returncode == 2


@pytest.mark.parametrize(
    "args",
    [
        ("search", " "),
        ("search", "x", "-n", "0"),
        ("show", "../../memory.db"),
        ("show", ""),
        ("show", "index.md", "--start", "900"),
        ("show", "index.md", "--lines", "0"),
    ],
)
def test_what_means_nothing_to_a_wiki_exits_2_and_says_why(run, args):
    run("wiki", "sync")
    done = run("wiki", *args)
    complained(done)
    assert done.returncode == 2


def test_a_search_that_finds_nothing_exits_3_and_says_so(run):
    run("wiki", "sync")
    for group in ("memory", "wiki"):
        done = run(group, "search", "zebra")
        complained(done, "'zebra'")
        assert done.returncode == 3


@pytest.mark.parametrize(
    "args",
    [
        ("memory", "list"),
        ("memory", "list", "--all"),
        ("memory", "graph"),
        ("memory", "verify"),
        ("memory", "delete", "--namespace", "nobody", "--yes"),
        ("skills", "list"),
    ],
)
def test_nothing_to_show_is_said_beside_the_output(run, args):
    done = run(*args)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count("\n") == 1


def test_a_wiki_in_step_and_without_flaws_is_left_as_it_is(run, tmp_path):
    run("wiki", "sync")
    pages = {path: path.read_bytes() for path in (tmp_path / "data").rglob("*.md")}
    assert pages
    for name in ("sync", "lint"):
        done = run("wiki", name)
        assert (done.returncode, done.stdout) == (0, "")
    assert {path: path.read_bytes() for path in (tmp_path / "data").rglob("*.md")} == pages


@pytest.mark.parametrize(
    ("storage", "told"),
    [
        ({"urchinMemory": {"a": 1}}, "imported 1 memory"),
        (
            {"urchinMemory": {"a": 1, "b": 2}, "urchinSkills": [{"name": "s"}]},
            "2 memories, 1 skill",
        ),
        ({"urchinCondensed": "long ago"}, "imported 1 condensed conversation"),
        ({"theirs": 1}, "kept only for `memory export`: theirs"),
    ],
)
def test_an_import_says_what_it_took(run, storage, told):
    done = run("memory", "import", "-", stdin=json.dumps(storage))
    assert done.returncode == 0
    assert told in done.stdout


def test_an_empty_import_says_that_it_is(run):
    done = run("memory", "import", "-", stdin="{}")
    assert (done.returncode, done.stdout) == (0, "")
    assert "standard input contains nothing to import" in done.stderr


def test_half_a_character_goes_in_and_out_again(run, tmp_path):
    storage = {"urchinMemory": {"a": "x\ud83d"}, "urchinSkills": [{"name": "\ud83d"}]}
    file = tmp_path / "half.json"
    file.write_text(json.dumps(storage))
    assert run("memory", "import", str(file)).returncode == 0
    assert json.loads(run("memory", "export", "-").stdout) == storage
    for args in (("memory", "list"), ("skills", "list"), ("wiki", "sync")):
        assert run(*args).returncode == 0


def test_a_terminal_that_knows_few_characters_gets_the_others_spelt(run, own):
    run("memory", "remember", "clé", "値 — x")
    own["PYTHONIOENCODING"] = "ascii"
    done = subprocess.run([COMMAND, "memory", "list"], env=own, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"cl\\xe9: \\u5024 \\u2014 x\n")


@pytest.mark.parametrize("content", [b"hello " * 99, bytes(range(256)) * 20])
def test_a_broken_database_is_named_with_what_to_do(run, data, content):
    (data / "memory.db").write_bytes(content)
    for args in (("memory", "list"), ("memory", "remember", "a", "b"), ("skills", "list")):
        done = run(*args)
        complained(done, str(data / "memory.db"), "move it away")
        assert done.returncode == 2
    assert (data / "memory.db").read_bytes() == content


def test_a_database_that_was_cut_short_is_named(run, data):
    run("memory", "remember", "boat", "Kittiwake")
    with sqlite3.connect(data / "memory.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    os.truncate(data / "memory.db", (data / "memory.db").stat().st_size // 2)
    done = run("memory", "list")
    complained(done, "move it away")
    assert done.returncode == 2


def test_a_database_of_another_program_is_left_alone(run, data):
    with sqlite3.connect(data / "memory.db") as connection:
        connection.execute("CREATE TABLE memories (theirs)")
    done = run("memory", "remember", "a", "b")
    complained(done, "another program")
    assert done.returncode == 2
    with sqlite3.connect(data / "memory.db") as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("memories",)]


def test_a_memory_of_a_newer_version_is_not_touched(run, data):
    run("memory", "remember", "boat", "Kittiwake")
    with sqlite3.connect(data / "memory.db") as connection:
        connection.execute("INSERT INTO migrations VALUES (?, 0)", (VERSION + 1,))
    done = run("memory", "list")
    complained(done, "Update urchin-research")
    assert done.returncode == 2


def test_a_memory_that_cannot_be_written_is_said(own, data):
    """Root may do anything, so `setpriv` removes that right."""
    with Memory.open(data / "memory.db") as memory:
        memory.remember("boat", "Kittiwake")
    command = [COMMAND, "memory", "remember", "a", "b"]
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("no setpriv here")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    (data / "memory.db").chmod(0o400)
    data.chmod(0o500)
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    data.chmod(0o700)
    complained(done, NOT_WRITABLE, "--data-dir")
    assert done.returncode == 2


def test_a_wiki_that_cannot_be_written_is_said(run, tmp_path):
    (tmp_path / "vault" / "memories.md").mkdir(parents=True)
    done = run("wiki", "--wiki", str(tmp_path / "vault"), "sync")
    complained(done, "cannot write", "memories.md")
    assert done.returncode == 2
    assert [path.name for path in (tmp_path / "vault").iterdir()] == ["memories.md"]


@pytest.mark.parametrize(
    "args", [("memory", "list"), ("skills", "list", "--json"), ("memory", "-h")]
)
def test_a_reader_that_goes_away_is_no_error(run, own, args):
    run("memory", "remember", "long", "x" * 100_000)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [COMMAND, *args], env=own, stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_closed_output_is_no_error(own):
    done = subprocess.run(
        ["sh", "-c", f"exec {COMMAND} memory list >&-"], env=own, capture_output=True, check=False
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


def test_an_output_without_room_is_said(run, own):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    run("memory", "remember", "boat", "Kittiwake")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [COMMAND, "memory", "list"], env=own, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert b"cannot write: No space left on device" in done.stderr


def test_many_at_once_lose_nothing_and_lock_nobody_out(run):
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda n: run("memory", "remember", f"k{n}", str(n)), range(6)))
    assert [one.stderr for one in done] == [""] * 6
    assert sorted(run("memory", "list").stdout.split()[::2]) == [f"k{n}:" for n in range(6)]


def test_an_id_of_another_namespace_is_nobody_elses(run):
    run("memory", "remember", "boat", "Kittiwake")
    for command in ("show", "forget"):
        done = run("memory", "--namespace", "other", command, "1")
        complained(done, "'1'")
        assert done.returncode == 2
    assert "Kittiwake" in run("memory", "list").stdout


def test_what_is_shared_is_found_shown_and_not_forgotten_by_the_way(run):
    run("memory", "--namespace", "shared", "remember", "boat", "Kittiwake")
    found = run("memory", "search", "boat").stdout
    assert "[shared memory] boat: Kittiwake" in found
    number = found.split()[1]
    assert "Kittiwake" in run("memory", "show", number).stdout
    done = run("memory", "forget", number)
    complained(done, "shared")
    assert done.returncode == 2


def test_the_place_is_said_before_or_after_the_command(run, tmp_path):
    there = ("--data-dir", str(tmp_path / "there"), "--namespace", "work")
    assert run(*there, "memory", "remember", "boat", "Kittiwake").stdout == "remembered boat\n"
    for args in (("memory", *there, "list"), ("memory", "list", *there)):
        assert run(*args).stdout == "boat: Kittiwake\n"
    assert run("memory", "list").stdout == ""
    assert run("memory", "remember", "--", "key", "--namespace").stdout == "remembered key\n"


@pytest.mark.parametrize("settings", ["", 'namespace = "mine"'])
def test_deleting_asks_for_a_namespace(run, tmp_path, settings):
    (tmp_path / "config.toml").write_text(settings)
    done = run("memory", "delete", "--yes")
    complained(done, "--namespace NAME")
    assert done.returncode == 2
