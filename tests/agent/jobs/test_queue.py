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


async def test_higher_priority_goes_first_a_user_before_the_machine_and_age_decides_ties(desk):
    named = {"first low": 0, "second low": 0, "urgent": 9, "machine's": 99}
    jobs = []
    for name, priority in named.items():
        lane = "autonomy" if name == "machine's" else "user"
        jobs.append(desk.add(f"{name} question", priority=priority, lane=lane))
    async with desk.working():
        ended = await desk.ended(*jobs)
    asked = "\n".join(desk.asked)
    order = ("urgent question", "first low question", "second low question", "machine's question")
    assert sorted(order, key=asked.index) == list(order)
    assert {job.status for job in ended} <= {"answered", "not_found"}


async def test_a_job_after_another_waits_and_is_handed_its_answer(desk):
    first = desk.add("hold: who keeps the light?", memory=True)
    second = desk.add("And since when?", after=[first.id], memory=True)
    desk.open.clear()
    async with desk.working(at_once=2):
        await asyncio.to_thread(desk.held.wait, 20)
        assert desk.jobs.show(second.id).state == "waiting"
        desk.open.set()
        _, after = await desk.ended(first, second)
    record = RunRecord.read(Runs(desk.jobs.data_dir).find(after.run))
    assert record.started["options"]["continue_run"] == first.run
    assert after.started >= desk.jobs.show(first.id).ended


async def test_what_comes_after_a_failed_job_fails_and_says_why(desk):
    first = desk.add("Who?", base_url="http://127.0.0.1:9/v1", model_timeout=1)
    second = desk.add("And when?", after=[first.id])
    third = desk.add("And where?", after=[second.id])
    async with desk.working():
        ended = await desk.ended(first, second, third)
    assert [job.state for job in ended] == ["failed"] * 3
    assert ended[0].error
    assert first.id in ended[1].error
    assert second.id in ended[2].error
    desk.jobs.retry(first.id)
    assert desk.jobs.retry(second.id).state == "waiting"  # for the first, anew


async def test_an_earlier_run_is_handed_on_and_one_that_is_not_there_refused(desk):
    first = desk.add("Who keeps the light?")
    async with desk.working():
        [done] = await desk.ended(first)
        other = desk.add("Whose is it?", after=[done.id, done.id])
        [after] = await desk.ended(other)
    folder = Runs(desk.jobs.data_dir).find(after.run)
    [path] = folder.settings_with_paths(RunRecord.read(folder).started["options"])["file"]
    told = await asyncio.to_thread(
        Path(path).read_text, encoding="utf-8"
    )  # without memory the answer is a file
    assert done.run in told
    assert "messages." in told
    with pytest.raises(UsageError):
        desk.add("And?", after=["20200101-000000-none"])


async def test_a_job_that_was_not_begun_in_time_is_dropped(desk):
    late = desk.add("Who?", ttl=0.01)
    kept = desk.add("Who now?", ttl="2h")
    async with desk.working():
        ended = await desk.ended(late, kept)
    assert [job.state for job in ended] == ["expired", "done"]
    assert not (Runs(desk.jobs.data_dir).root / late.run).exists()


async def test_a_job_that_is_overdue_before_a_worker_came_holds_up_nothing(desk):
    late = desk.add("Who?", ttl=0.01)
    after = desk.add("And since when?", after=[late.id], ttl=3600)
    overdue = await desk.until(late, lambda job: job.state == "expired")
    desk.jobs.release_waiting()
    assert desk.jobs.show(after.id).error == f"its parent job {late.id} did not succeed: expired"
    assert desk.jobs.remove(overdue.id).id == late.id
    async with desk.working():
        [done] = await desk.ended(desk.add("Who now?"))
    assert (done.state, desk.asked != []) == ("done", True)
    assert not any("Who?" in question for question in desk.asked)


async def test_a_job_that_failed_is_tried_again_in_the_same_run_and_no_more_often_than_told(desk):
    job = desk.add("Who?", base_url="http://127.0.0.1:9/v1", retry=1, base_delay=0.1)
    async with desk.working():
        now = await desk.until(job, lambda now: now.attempt == 2 and now.state == "failed")
    assert now.run == job.run
    assert len(desk.jobs.list()) == 1
    with pytest.raises(UsageError):
        desk.jobs.cancel(job.id)
    assert desk.jobs.retry(job.id).state == "queued"


async def test_a_paused_queue_begins_nothing_and_a_running_job_can_be_cancelled(desk):
    held, runs = desk.add("hold: who?"), Runs(desk.jobs.data_dir).root
    desk.open.clear()
    async with desk.working():
        await asyncio.to_thread(desk.held.wait, 20)
        desk.jobs.pause("nobody is in")
        waiting = desk.add("Who now?")
        desk.jobs.cancel(held.id)
        await desk.until(held, lambda job: RunFolder(runs / job.run).report.is_file())
        desk.open.set()
        assert desk.jobs.paused == "nobody is in"
        assert desk.jobs.show(waiting.id).state == "queued"
        desk.jobs.resume()
        [done] = await desk.ended(waiting)
    assert done.state == "done"
    assert desk.jobs.show(held.id).state == "cancelled"


async def test_a_run_that_tells_nothing_is_given_up_and_another_attempt_goes_on_with_it(desk):
    job = desk.add("hold: who?", base_delay=0.1)
    desk.open.clear()
    async with desk.working(stall=2.0):  # longer than a busy machine takes between two events
        await desk.until(job, lambda now: now.attempt == 2)
        desk.open.set()
        [done] = await desk.ended(job)
    assert (done.state, done.run, done.attempt) == ("done", job.run, 2)


def test_jobs_are_found_by_the_beginning_of_their_id_and_bad_ones_refused(desk):
    job = desk.add("Who?")
    assert desk.jobs.show(job.id[:-2]).id == job.id
    desk.add("When?")
    for name in (job.id[:8], "none", ""):
        with pytest.raises(UsageError):
            desk.jobs.show(name)
    for bad in ({"depth": "abyss"}, {"ttl": "soon"}, {"ttl": "-1"}, {"ttl": "1h30"}, {"ttl": ""}):
        with pytest.raises(UsageError):
            desk.add("Who?", **bad)
    with pytest.raises(UsageError):
        desk.add("  ")
    assert len(desk.jobs.list()) == 2
    lengths = {"0": 0, "90": 90, "20m": 1200, "1h30m": 5400, "1d": 86400}
    assert {text: parse_duration(text) for text in lengths} == lengths


def test_the_same_id_is_one_job_and_a_delayed_one_waits(desk):
    specs = [JobSpec(id="of-content", question=question) for question in ("Who?", "Who else?")]
    for spec in specs:
        desk.jobs.enqueue(spec, delay=60)
    [again] = desk.jobs.list()
    assert again.question == "Who?"
    assert again.run == specs[0].run
    assert again.state == "waiting"
    assert again.due.timestamp() > time.time() + 30


async def test_jobs_that_ended_are_taken_off_the_list_by_name_or_age_and_no_others(desk):
    first, second = desk.add("Who?"), desk.add("Who else?")
    async with desk.working():
        await desk.ended(first, second)
    third = desk.add("And when?", after=[second.id], delay=600)
    desk.jobs.pause()
    for name in (second.id, third.id, "none"):
        with pytest.raises(UsageError):
            desk.jobs.remove(name)
    assert desk.jobs.remove(first.id).id == first.id
    assert desk.jobs.remove_older(timedelta(0)) == []  # what another waits for stays
    desk.jobs.cancel(third.id)
    assert desk.jobs.remove_older(timedelta(days=1)) == []
    assert set(desk.jobs.remove_older(timedelta(0))) == {second.id, third.id}
    assert desk.jobs.list() == []
    assert (Runs(desk.jobs.data_dir).root / first.run).exists()


def test_a_command_on_a_job_that_is_not_there_ends_as_one_on_a_run_that_is_not_there(desk):
    with pytest.raises(UsageError) as missing:
        queue.main(
            ["--data-dir", str(desk.jobs.data_dir), "rm", "none"], "queue", standalone_mode=False
        )
    assert missing.value.exit_code == 2
    assert missing.value.hint
