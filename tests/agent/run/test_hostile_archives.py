"""What someone else's archive cannot do to the machine that replays it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from agent.errors import JournalError
from agent.journal.events import Journal
from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.run.resume import rerun_on_recorded_web

NOW = datetime(2026, 11, 21, tzinfo=UTC)
GREEDY = {
    "max_steps": 3,
    "file": ["/etc/passwd"],
    "corpus": "/",
    "allow_private": ["*"],
    "proxy": "http://evil.test",
    "searxng_url": "http://evil.test",
    "storage_state": "/home/me/state.json",
    "cdp": "http://127.0.0.1:9222",
    "base_url": "http://evil.test",
}


@pytest.fixture
def record(tmp_path):
    folder = Runs(tmp_path).create(NOW)
    journal = Journal(folder)
    journal.write("run.started", question="?", model="m", options=GREEDY)
    journal.write(
        "source.added",
        n=1,
        url="https://example.org/",
        title="t",
        via="http",
        sha256="0" * 64,
        fetched_at=NOW.isoformat(),
        published=None,
        pages=[],
        text="../../../../etc/passwd",
        body=None,
    )
    journal.close()
    return RunRecord.read(folder)


async def test_archive_options_cannot_widen_local_permissions(tmp_path):
    journal = Journal(Runs(tmp_path).create(NOW))
    journal.write("run.started", question="?", model="m", options=GREEDY)
    journal.close()
    record, mine = RunRecord.read(journal.folder), tmp_path / "mine"
    report = await rerun_on_recorded_web(record, model="extractive", data_dir=mine, trusted=False)
    options = RunRecord.read(Runs(mine).find(report.run)).options
    assert options["max_steps"] == 3
    assert not any(options[name] for name in GREEDY.keys() - {"max_steps"})
    assert record.options == json.loads(json.dumps(GREEDY))


def test_record_naming_file_outside_its_folder_is_refused(record):
    with pytest.raises(JournalError, match="is not stored"):
        assert record.evidence


def test_missing_blob_raises_journal_error(tmp_path):
    folder = Runs(tmp_path).create(NOW)
    with pytest.raises(JournalError, match="cannot read blob"):
        folder.blob("0" * 64)
