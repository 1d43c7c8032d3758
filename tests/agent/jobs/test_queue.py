"""The queue: order, dependencies, time to live, retries, pause and cancel."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from pathlib import Path

import pytest

from agent.cli.job_commands import queue
from agent.errors import UsageError
from agent.jobs.job import JobSpec, parse_duration
from agent.journal.runs import RunFolder, Runs
from agent.run.record import RunRecord


async def test_queue_orders_by_lane_then_priority_then_age(harness):
    named = {"first low": 0, "second low": 0, "urgent": 9, "machine's": 99}
    jobs = []
    for name, priority in named.items():
        lane = "autonomy" if name == "machine's" else "user"
        jobs.append(harness.add(f"{name} question", priority=priority, lane=lane))
    async with harness.working():
        ended = await harness.ended(*jobs)
    asked = "\n".join(harness.asked)
    order = ("urgent question", "first low question", "second low question", "machine's question")
    assert sorted(order, key=asked.index) == list(order)
    assert {job.status for job in ended} <= {"answered", "not_found"}


async def test_dependent_job_waits_and_continues_parent_run(harness):
    first = harness.add("hold: who keeps the light?", memory=True)
    second = harness.add("And since when?", after=[first.id], memory=True)
    harness.open.clear()
    async with harness.working(at_once=2):
        await asyncio.to_thread(harness.held.wait, 20)
        assert harness.jobs.show(second.id).state == "waiting"
        harness.open.set()
        _, after = await harness.ended(first, second)
    record = RunRecord.read(Runs(harness.jobs.data_dir).find(after.run))
    assert record.started["options"]["continue_run"] == first.run
    assert after.started >= harness.jobs.show(first.id).ended


async def test_jobs_after_failed_job_fail_with_reason(harness):
    first = harness.add("Who?", base_url="http://127.0.0.1:9/v1", model_timeout=1)
    second = harness.add("And when?", after=[first.id])
    third = harness.add("And where?", after=[second.id])
    async with harness.working():
        ended = await harness.ended(first, second, third)
    assert [job.state for job in ended] == ["failed"] * 3
    assert ended[0].error
    assert first.id in ended[1].error
    assert second.id in ended[2].error
    harness.jobs.retry(first.id)
    assert harness.jobs.retry(second.id).state == "waiting"  # for the retried first job


async def test_parent_answer_is_passed_as_file_and_unknown_parent_refused(harness):
    first = harness.add("Who keeps the light?")
    async with harness.working():
        [done] = await harness.ended(first)
        other = harness.add("Whose is it?", after=[done.id, done.id])
        [after] = await harness.ended(other)
    folder = Runs(harness.jobs.data_dir).find(after.run)
    [path] = folder.settings_with_paths(RunRecord.read(folder).started["options"])["file"]
    told = await asyncio.to_thread(
        Path(path).read_text, encoding="utf-8"
    )  # without memory the answer is a file
    assert done.run in told
    assert "messages." in told
    with pytest.raises(UsageError):
        harness.add("And?", after=["20200101-000000-none"])


async def test_job_not_started_within_ttl_expires(harness):
    late = harness.add("Who?", ttl=0.01)
    kept = harness.add("Who now?", ttl="2h")
    async with harness.working():
        ended = await harness.ended(late, kept)
    assert [job.state for job in ended] == ["expired", "done"]
    assert not (Runs(harness.jobs.data_dir).root / late.run).exists()


async def test_job_expired_before_worker_start_does_not_block_queue(harness):
    late = harness.add("Who?", ttl=0.01)
    after = harness.add("And since when?", after=[late.id], ttl=3600)
    overdue = await harness.until(late, lambda job: job.state == "expired")
    harness.jobs.release_waiting()
    assert harness.jobs.show(after.id).error == f"its parent job {late.id} did not succeed: expired"
    assert harness.jobs.remove(overdue.id).id == late.id
    async with harness.working():
        [done] = await harness.ended(harness.add("Who now?"))
    assert (done.state, harness.asked != []) == ("done", True)
    assert not any("Who?" in question for question in harness.asked)


async def test_failed_job_is_retried_in_same_run_up_to_limit(harness):
    job = harness.add("Who?", base_url="http://127.0.0.1:9/v1", retry=1, base_delay=0.1)
    async with harness.working():
        now = await harness.until(job, lambda now: now.attempt == 2 and now.state == "failed")
    assert now.run == job.run
    assert len(harness.jobs.list()) == 1
    with pytest.raises(UsageError):
        harness.jobs.cancel(job.id)
    assert harness.jobs.retry(job.id).state == "queued"


async def test_paused_queue_starts_no_jobs_and_running_job_can_be_cancelled(harness):
    held, runs = harness.add("hold: who?"), Runs(harness.jobs.data_dir).root
    harness.open.clear()
    async with harness.working():
        await asyncio.to_thread(harness.held.wait, 20)
        harness.jobs.pause("nobody is in")
        waiting = harness.add("Who now?")
        harness.jobs.cancel(held.id)
        await harness.until(held, lambda job: RunFolder(runs / job.run).report.is_file())
        harness.open.set()
        assert harness.jobs.paused == "nobody is in"
        assert harness.jobs.show(waiting.id).state == "queued"
        harness.jobs.resume()
        [done] = await harness.ended(waiting)
    assert done.state == "done"
    assert harness.jobs.show(held.id).state == "cancelled"


async def test_stalled_run_is_abandoned_and_continued_by_next_attempt(harness):
    job = harness.add("hold: who?", base_delay=0.1)
    harness.open.clear()
    async with harness.working(stall=2.0):  # longer than a busy machine takes between two events
        await harness.until(job, lambda now: now.attempt == 2)
        harness.open.set()
        [done] = await harness.ended(job)
    assert (done.state, done.run, done.attempt) == ("done", job.run, 2)


def test_jobs_are_found_by_id_prefix_and_invalid_ones_refused(harness):
    job = harness.add("Who?")
    assert harness.jobs.show(job.id[:-2]).id == job.id
    harness.add("When?")
    for name in (job.id[:8], "none", ""):
        with pytest.raises(UsageError):
            harness.jobs.show(name)
    for bad in ({"depth": "abyss"}, {"ttl": "soon"}, {"ttl": "-1"}, {"ttl": "1h30"}, {"ttl": ""}):
        with pytest.raises(UsageError):
            harness.add("Who?", **bad)
    with pytest.raises(UsageError):
        harness.add("  ")
    assert len(harness.jobs.list()) == 2
    lengths = {"0": 0, "90": 90, "20m": 1200, "1h30m": 5400, "1d": 86400}
    assert {text: parse_duration(text) for text in lengths} == lengths


def test_enqueueing_same_id_twice_creates_one_delayed_job(harness):
    specs = [JobSpec(id="of-content", question=question) for question in ("Who?", "Who else?")]
    for spec in specs:
        harness.jobs.enqueue(spec, delay=60)
    [again] = harness.jobs.list()
    assert again.question == "Who?"
    assert again.run == specs[0].run
    assert again.state == "waiting"
    assert again.due.timestamp() > time.time() + 30


async def test_only_ended_jobs_without_dependents_are_removed(harness):
    first, second = harness.add("Who?"), harness.add("Who else?")
    async with harness.working():
        await harness.ended(first, second)
    third = harness.add("And when?", after=[second.id], delay=600)
    harness.jobs.pause()
    for name in (second.id, third.id, "none"):
        with pytest.raises(UsageError):
            harness.jobs.remove(name)
    assert harness.jobs.remove(first.id).id == first.id
    assert harness.jobs.remove_older(timedelta(0)) == []  # jobs that others wait for are kept
    harness.jobs.cancel(third.id)
    assert harness.jobs.remove_older(timedelta(days=1)) == []
    assert set(harness.jobs.remove_older(timedelta(0))) == {second.id, third.id}
    assert harness.jobs.list() == []
    assert (Runs(harness.jobs.data_dir).root / first.run).exists()


def test_removing_unknown_job_exits_2_with_hint(harness):
    with pytest.raises(UsageError) as missing:
        queue.main(
            ["--data-dir", str(harness.jobs.data_dir), "rm", "none"], "queue", standalone_mode=False
        )
    assert missing.value.exit_code == 2
    assert missing.value.hint
