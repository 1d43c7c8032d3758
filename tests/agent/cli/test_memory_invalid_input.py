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


def assert_only_error(done, *words):
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
def test_invalid_memory_arguments_exit_2_with_reason(run, args):
    done = run(*args)
    assert_only_error(done)
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
def test_invalid_wiki_arguments_exit_2_with_reason(run, args):
    run("wiki", "sync")
    done = run("wiki", *args)
    assert_only_error(done)
    assert done.returncode == 2


def test_search_without_results_exits_3(run):
    run("wiki", "sync")
    for group in ("memory", "wiki"):
        done = run(group, "search", "zebra")
        assert_only_error(done, "'zebra'")
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
def test_empty_results_are_reported_on_stderr(run, args):
    done = run(*args)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count("\n") == 1


def test_wiki_sync_and_lint_leave_current_wiki_unchanged(run, tmp_path):
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
def test_import_reports_what_it_imported(run, storage, told):
    done = run("memory", "import", "-", stdin=json.dumps(storage))
    assert done.returncode == 0
    assert told in done.stdout


def test_empty_import_is_reported(run):
    done = run("memory", "import", "-", stdin="{}")
    assert (done.returncode, done.stdout) == (0, "")
    assert "standard input contains nothing to import" in done.stderr


def test_lone_surrogates_survive_import_and_export(run, tmp_path):
    storage = {"urchinMemory": {"a": "x\ud83d"}, "urchinSkills": [{"name": "\ud83d"}]}
    file = tmp_path / "half.json"
    file.write_text(json.dumps(storage))
    assert run("memory", "import", str(file)).returncode == 0
    assert json.loads(run("memory", "export", "-").stdout) == storage
    for args in (("memory", "list"), ("skills", "list"), ("wiki", "sync")):
        assert run(*args).returncode == 0


def test_ascii_terminal_gets_backslash_escapes(run, own):
    run("memory", "remember", "clé", "値 — x")
    own["PYTHONIOENCODING"] = "ascii"
    done = subprocess.run([COMMAND, "memory", "list"], env=own, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"cl\\xe9: \\u5024 \\u2014 x\n")


@pytest.mark.parametrize("content", [b"hello " * 99, bytes(range(256)) * 20])
def test_corrupt_database_is_named_with_hint(run, data, content):
    (data / "memory.db").write_bytes(content)
    for args in (("memory", "list"), ("memory", "remember", "a", "b"), ("skills", "list")):
        done = run(*args)
        assert_only_error(done, str(data / "memory.db"), "move it away")
        assert done.returncode == 2
    assert (data / "memory.db").read_bytes() == content


def test_truncated_database_exits_2_with_hint(run, data):
    run("memory", "remember", "boat", "Kittiwake")
    with sqlite3.connect(data / "memory.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    os.truncate(data / "memory.db", (data / "memory.db").stat().st_size // 2)
    done = run("memory", "list")
    assert_only_error(done, "move it away")
    assert done.returncode == 2


def test_database_of_another_program_is_not_modified(run, data):
    with sqlite3.connect(data / "memory.db") as connection:
        connection.execute("CREATE TABLE memories (theirs)")
    done = run("memory", "remember", "a", "b")
    assert_only_error(done, "another program")
    assert done.returncode == 2
    with sqlite3.connect(data / "memory.db") as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("memories",)]


def test_database_of_newer_version_is_refused(run, data):
    run("memory", "remember", "boat", "Kittiwake")
    with sqlite3.connect(data / "memory.db") as connection:
        connection.execute("INSERT INTO migrations VALUES (?, 0)", (VERSION + 1,))
    done = run("memory", "list")
    assert_only_error(done, "Update urchin-research")
    assert done.returncode == 2


def test_read_only_memory_exits_2_with_hint(own, data):
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
    assert_only_error(done, NOT_WRITABLE, "--data-dir")
    assert done.returncode == 2


def test_unwritable_wiki_page_exits_2(run, tmp_path):
    (tmp_path / "vault" / "memories.md").mkdir(parents=True)
    done = run("wiki", "--wiki", str(tmp_path / "vault"), "sync")
    assert_only_error(done, "cannot write", "memories.md")
    assert done.returncode == 2
    assert [path.name for path in (tmp_path / "vault").iterdir()] == ["memories.md"]


@pytest.mark.parametrize(
    "args", [("memory", "list"), ("skills", "list", "--json"), ("memory", "-h")]
)
def test_broken_pipe_exits_0(run, own, args):
    run("memory", "remember", "long", "x" * 100_000)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [COMMAND, *args], env=own, stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_closed_stdout_exits_0(own):
    done = subprocess.run(
        ["sh", "-c", f"exec {COMMAND} memory list >&-"], env=own, capture_output=True, check=False
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


def test_full_output_device_exits_1_with_message(run, own):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    run("memory", "remember", "boat", "Kittiwake")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [COMMAND, "memory", "list"], env=own, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert b"cannot write: No space left on device" in done.stderr


def test_concurrent_writes_all_succeed(run):
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda n: run("memory", "remember", f"k{n}", str(n)), range(6)))
    assert [one.stderr for one in done] == [""] * 6
    assert sorted(run("memory", "list").stdout.split()[::2]) == [f"k{n}:" for n in range(6)]


def test_ids_of_another_namespace_are_not_found(run):
    run("memory", "remember", "boat", "Kittiwake")
    for command in ("show", "forget"):
        done = run("memory", "--namespace", "other", command, "1")
        assert_only_error(done, "'1'")
        assert done.returncode == 2
    assert "Kittiwake" in run("memory", "list").stdout


def test_shared_memory_is_readable_but_not_forgotten_from_other_namespace(run):
    run("memory", "--namespace", "shared", "remember", "boat", "Kittiwake")
    found = run("memory", "search", "boat").stdout
    assert "[shared memory] boat: Kittiwake" in found
    number = found.split()[1]
    assert "Kittiwake" in run("memory", "show", number).stdout
    done = run("memory", "forget", number)
    assert_only_error(done, "shared")
    assert done.returncode == 2


def test_data_dir_and_namespace_are_accepted_before_or_after_subcommand(run, tmp_path):
    there = ("--data-dir", str(tmp_path / "there"), "--namespace", "work")
    assert run(*there, "memory", "remember", "boat", "Kittiwake").stdout == "remembered boat\n"
    for args in (("memory", *there, "list"), ("memory", "list", *there)):
        assert run(*args).stdout == "boat: Kittiwake\n"
    assert run("memory", "list").stdout == ""
    assert run("memory", "remember", "--", "key", "--namespace").stdout == "remembered key\n"


@pytest.mark.parametrize("settings", ["", 'namespace = "mine"'])
def test_delete_requires_explicit_namespace(run, tmp_path, settings):
    (tmp_path / "config.toml").write_text(settings)
    done = run("memory", "delete", "--yes")
    assert_only_error(done, "--namespace NAME")
    assert done.returncode == 2
