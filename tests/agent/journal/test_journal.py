"""A run's record: written before anything depends on it, readable after a crash."""

from __future__ import annotations

import json
import resource
import signal
from datetime import UTC, datetime, timedelta

import pytest

from agent.errors import JournalError, UsageError
from agent.journal.events import GENESIS, Journal, read_events
from agent.journal.integrity import check_chain
from agent.journal.runs import Runs
from agent.journal.usage import usage

NOW = datetime(2026, 11, 21, 5, 45, 12, tzinfo=UTC)


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


@pytest.fixture
def journal(runs):
    opened = Journal(runs.create(NOW))
    yield opened
    opened.close()


def test_events_round_trip(runs):
    journal = Journal(runs.create(NOW), clock=lambda: NOW)
    journal.write("run.started", question="Wozu? \ud800")
    journal.write("tool.result", "0/1/1", data={"n": 1})
    journal.close()
    first, second = read_events(journal.folder.journal)
    assert (first.type, first.at, first.prev) == (
        "run.started",
        "2026-11-21T05:45:12.000Z",
        GENESIS,
    )
    assert (second.place, second.data, second.prev) == ("0/1/1", {"data": {"n": 1}}, first.hash)


def test_each_event_has_its_own_hash_and_the_previous_one(journal):
    events = [journal.write("note", n=n) for n in range(3)]
    assert [event.digest() for event in events] == [event.hash for event in events]
    assert [event.prev for event in events[1:]] == [event.hash for event in events[:-1]]


def test_incomplete_last_line_is_ignored(journal):
    journal.write("note", n=1)
    journal.close()
    with journal.folder.journal.open("ab") as file:
        file.write(b'{"v":1,"seq":1,"type":"no')
    assert [event.data for event in read_events(journal.folder.journal)] == [{"n": 1}]


def test_damaged_line_before_the_end_raises(journal):
    journal.write("note", n=1)
    path = journal.folder.journal
    path.write_bytes(b"garbage\n" + path.read_bytes())
    with pytest.raises(JournalError, match=":1 is not an event"):
        list(read_events(path))


def test_newer_schema_version_raises(journal):
    folder = journal.folder
    journal.write("note")
    row = json.loads(folder.journal.read_bytes()) | {"v": 99}
    folder.journal.write_text(json.dumps(row) + "\n")
    with pytest.raises(JournalError, match="newer version"):
        list(read_events(folder.journal))


def test_failed_write_keeps_earlier_events_readable(journal):
    journal.write("note", n=1)
    size = journal.folder.journal.stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, limits[1]))
    try:
        with pytest.raises(JournalError):
            journal.write("note", text="x" * 500)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert [event.data for event in read_events(journal.folder.journal)] == [{"n": 1}]


def test_failed_blob_write_leaves_no_file(runs):
    folder = runs.create(NOW)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(JournalError, match="cannot write"):
            folder.save_blob(b"x" * 500)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert list((folder.path / "blobs").iterdir()) == []


def test_write_after_failed_writes_keeps_chain_intact(journal):
    journal.write("note", n=1)
    size = journal.folder.journal.stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, limits[1]))
    try:
        for _ in range(2):
            with pytest.raises(JournalError):
                journal.write("note", text="x" * 500)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    journal.write("note", n=2)
    assert check_chain(journal.folder.journal).flaws == ()


def test_blobs_are_stored_once_by_hash(runs):
    folder = runs.create(NOW)
    assert folder.save_blob(b"page") == folder.save_blob(b"page")
    assert folder.blob(folder.save_blob(b"page")) == b"page"
    assert len(list((folder.path / "blobs").iterdir())) == 1


def test_runs_are_found_by_id_prefix_and_last(runs):
    old, new = runs.create(NOW), runs.create(NOW + timedelta(hours=1))
    for run in (old, new):
        Journal(run).close()
    assert [run.id for run in runs] == [new.id, old.id]
    assert runs.find(old.id[:15]).id == old.id
    assert runs.find("last").id == new.id
    with pytest.raises(UsageError, match="several"):
        runs.find("20261121")
    with pytest.raises(UsageError, match="no run"):
        runs.find("nope")


def test_remove_older_deletes_runs_and_their_pages(runs):
    old, new = runs.create(NOW), runs.create(NOW + timedelta(days=9))
    for run in (old, new):
        Journal(run).close()
    assert runs.remove_older(timedelta(days=7), NOW + timedelta(days=10)) == [old.id]
    assert [run.id for run in runs] == [new.id]
    assert not old.path.exists()


def test_run_folder_is_readable_only_by_owner(runs):
    assert runs.create(NOW).path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [b'"data":' + b"[" * 100_000, b'"seq":"one"', b'"at":7'])
def test_event_with_wrong_field_type_raises(journal, damage):
    journal.write("note")
    path = journal.folder.journal
    name = damage.partition(b":")[0]
    path.write_bytes(path.read_bytes().replace(name + b":", damage + b',"old":'))
    with pytest.raises(JournalError, match="is not an event"):
        list(read_events(path))


def test_usage_skips_replies_without_valid_amounts(journal):
    amounts = {"input_tokens": 3, "cached_tokens": 0, "output_tokens": 2, "usd": 0.5}
    journal.write("model.reply", model="m", **amounts)
    journal.write("model.reply", model="m", **{**amounts, "usd": "much"})
    journal.write("model.reply", **amounts)
    assert [(line.calls, line.usd) for line in usage([journal.folder])] == [(1, 0.5)]


def test_control_characters_are_escaped_in_file_and_round_trip(journal):
    name = "a\u202etxt.exe\x9b31m\U000e0041\u200b"
    journal.write("note", text=name)
    assert not set(journal.folder.journal.read_text("utf-8")) & set("\u202e\x9b\U000e0041\u200b")
    assert [event.data["text"] for event in read_events(journal.folder.journal)] == [name]
