"""What killed runs leave behind: whose tasks are completed, and whose are left alone."""

from __future__ import annotations

import pytest

from agent.journal.runs import Runs
from agent.memory import Memory
from agent.run.job_runner import MAX_KILLED_RUNS, JobRunner, UnfinishedRuns

MEMORY = "default in data folder"


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def killed(ask, answering, data):
    """Leave runs as if killed right after their answers."""

    async def kill(count=1):
        folders = [
            Runs(data).find((await ask(model=answering, memory=True)).run) for _ in range(count)
        ]
        for folder in folders:
            lines = folder.journal.read_text().splitlines(keepends=True)
            end = next(n for n, line in enumerate(lines) if '"type":"run.finished"' in line)
            folder.journal.write_text("".join(lines[: end + 1]))
            UnfinishedRuns(data).claim(folder.id).release()
        return folders

    return kill


@pytest.fixture
def finish(data):
    async def finishing(name=MEMORY):
        with Memory.open(data / "memory.db") as memory:
            return await JobRunner(memory, name).finish_killed_runs(data)

    return finishing


async def test_run_finishes_limited_number_of_killed_runs(killed, finish, data):
    *_, last = sorted(await killed(MAX_KILLED_RUNS + 1), key=lambda folder: folder.id)
    assert await finish() == MAX_KILLED_RUNS
    assert UnfinishedRuns(data).names() == [last.id]
    assert await finish() == 1
    assert await finish() == 0
    assert '"type":"run.settled"' in last.journal.read_text()


async def test_killed_run_with_other_memory_is_left_alone(killed, finish, data):
    (folder,) = await killed()
    before = folder.journal.read_bytes()
    assert await finish("work in data folder") == 0
    assert (folder.journal.read_bytes(), UnfinishedRuns(data).names()) == (before, [folder.id])


async def test_deleted_or_damaged_runs_are_dropped_from_unfinished(killed, finish, data):
    gone, damaged = await killed(2)
    Runs(data).remove(gone)
    damaged.journal.write_text("no event\nno event\n")
    assert await finish() == 0
    assert UnfinishedRuns(data).names() == []


async def test_killed_run_with_unwritable_journal_is_retried_later(killed, finish, data):
    resource = pytest.importorskip("resource", reason="Windows has no limit of a file's size")
    (folder,) = await killed()
    text = folder.journal.read_text().rstrip("\n")
    folder.journal.write_text(f"{text}{' ' * 4_000_000}\n")  # larger than all other files
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (folder.journal.stat().st_size, limits[1]))
    try:
        assert await finish() == 0
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert UnfinishedRuns(data).names() == [folder.id]
    assert await finish() == 1


async def test_run_without_memory_leaves_no_unfinished_tasks(ask, answering, data):
    await ask(model=answering)
    assert UnfinishedRuns(data).names() == []


async def test_unmarkable_post_run_tasks_run_and_are_reported(ask, answering, data):
    data.mkdir()
    (data / "unsettled").write_text("in the way of the folder")
    report = await ask(model=answering, memory=True)
    journal = Runs(data).find(report.run).journal.read_text()
    assert report.status == "answered"
    assert "could not be recorded and would be lost in a crash" in journal
    assert '"type":"run.settled"' in journal
