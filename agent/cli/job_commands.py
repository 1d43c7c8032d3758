"""`research queue`, `worker`, `schedule` and `monitor`: deferred and recurring jobs."""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click

from agent.cli.flags import (
    DAYS,
    data_dir_option,
    drop_unset,
    given_settings,
    host_delay_option,
    jobs_url_option,
    json_option,
    notify_option,
    number_option,
    option,
    retry_option,
    run_flags,
    several,
    switch,
)
from agent.cli.stores import JOB_FLAGS, jobs_group, open_jobs, with_jobs
from agent.cli.terminal import (
    interrupt_event,
    note,
    print_json,
    print_rows,
    print_text,
    wait_for_first,
)
from agent.config import load_options
from agent.export.report_view import saved_text
from agent.jobs.job import FINAL_STATES, parse_duration
from browser.text.words import shorten

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs
    from agent.jobs.monitors import Monitor, MonitorChange, MonitorCheck
    from agent.jobs.schedules import Schedule

_POLL_S = 1.0
"""Seconds between two checks of a worker's progress."""
_name_option = option("--name", "NAME", "Name (default: derived from the text).")
_zone_option = option("--zone", "ZONE", "Time zone (default: the system time zone).", envvar="TZ")
_job_ids = click.argument("job_ids", nargs=-1, required=True, metavar="JOB…")

queue = jobs_group("queue", "Queue questions that `research worker` answers.")


@queue.command()
@click.argument("question", nargs=-1, required=True)
@option(
    "--priority",
    "N",
    "Jobs with a higher number run first.",
    type=click.IntRange(-1_000_000, 1_000_000),
    default=0,
)
@several(
    "--after", "RUN|JOB", "Start after this run or job, with its answer as context; repeatable."
)
@option("--ttl", "2h", "Drop the job if it has not started within this time.")
@option(("--in", "delay"), "20m", "Wait this long before starting.")
@retry_option(0)
@json_option
@notify_option
@run_flags(*JOB_FLAGS)
@with_jobs
def add(
    jobs: Jobs, question: tuple[str, ...], delay: str | None, *, as_json: bool, **flags: Any
) -> None:
    """Add QUESTION to the queue. Accepts the same flags as `research ask`."""
    own = {name: flags.pop(name) for name in ("priority", "after", "ttl", "retry", "notify")}
    seconds = parse_duration(delay) if delay else 0.0
    job = jobs.add(" ".join(question), delay=seconds, **own, **given_settings(flags))
    if as_json:
        print_json(job)
        return
    print(job.id)
    if not _note_if_paused(jobs):
        _note_if_no_worker(jobs, "answers queued questions")


@queue.command(name="list")
@number_option(50, "Maximum number of jobs.")
@several(
    ("--state", "states"),
    "STATE",
    "Only waiting, queued, running, done, failed, cancelled or expired jobs; repeatable.",
)
@json_option
@with_jobs
def list_jobs(jobs: Jobs, number: int, states: tuple[str, ...], *, as_json: bool) -> None:
    """List jobs, newest first."""
    empty = "No matching jobs." if states else "The queue is empty."
    found = jobs.list(states or None, limit=number)
    print_rows(found, _format_job, as_json=as_json, empty=[empty])
    if not as_json:
        _note_if_paused(jobs)


@queue.command()
@click.argument("job")
@json_option
@with_jobs
def show(jobs: Jobs, job: str, *, as_json: bool) -> None:
    """Show a job's state and answer."""
    found = jobs.show(job)
    if as_json:
        print_json(found)
        return
    rows = found.model_dump(mode="json", exclude={"report", "options"}, exclude_defaults=True)
    for name, value in rows.items():
        text = ", ".join(value) if isinstance(value, list) else value
        print_text(f"{name:<10}{text}")
    if found.report is not None:
        print_text(f"\n{saved_text(found.report)}")


@queue.command()
@_job_ids
@with_jobs
def cancel(jobs: Jobs, job_ids: tuple[str, ...]) -> None:
    """Cancel jobs, including running ones."""
    for name in job_ids:
        print(f"cancelled {jobs.cancel(name).id}")


@queue.command()
@_job_ids
@with_jobs
def retry(jobs: Jobs, job_ids: tuple[str, ...]) -> None:
    """Retry failed jobs. Completed steps are not repeated."""
    for name in job_ids:
        print(f"queued {jobs.retry(name).id}")


@queue.command()
@click.argument("job_ids", nargs=-1, metavar="JOB…")
@option("--keep", "DAYS", "Remove all jobs that ended more than DAYS ago.", type=DAYS)
@with_jobs
def rm(jobs: Jobs, job_ids: tuple[str, ...], keep: int | None) -> None:
    """Remove finished jobs from the list, by id or by age. The jobs' runs are kept."""
    if not job_ids and keep is None:
        raise click.UsageError("Specify job ids, or use --keep DAYS.")
    for name in job_ids:
        print(f"removed {jobs.remove(name).id}")
    for job in jobs.remove_older(timedelta(days=keep)) if keep is not None else ():
        print(f"removed {job}")


@queue.command()
@with_jobs
def pause(jobs: Jobs) -> None:
    """Stop starting new jobs. Running jobs continue."""
    jobs.pause()
    print("paused")


@queue.command()
@with_jobs
def resume(jobs: Jobs) -> None:
    """Resume starting jobs."""
    jobs.resume()
    print("resumed")


@click.command()
@jobs_url_option
@data_dir_option
@option(
    ("-j", "--at-once"),
    "N",
    "Parallel jobs per worker (default: 4); applies to all workers.",
    type=click.IntRange(min=1),
)
@host_delay_option
@option("--stall", "30m", "Stop a run that has made no progress for this long.")
@switch("--until-empty", "Exit when no jobs are left.")
@click.option("--queue", "queues", multiple=True, hidden=True)
@click.option("--with-parent", is_flag=True, hidden=True)  # exits with its parent process
def worker(
    jobs_url: str | None, data_dir: Path, *, until_empty: bool, with_parent: bool, **flags: Any
) -> int:
    """Run queued jobs until stopped with Ctrl-C. Any number of workers can share a queue.

    If a worker is killed, another worker resumes its runs.
    """
    flags["stall"] = parse_duration(flags["stall"]) if flags["stall"] else None
    settings = drop_unset(flags)
    with open_jobs(jobs_url, data_dir) as jobs:
        work = _run_worker(jobs, settings, until_empty=until_empty, with_parent=with_parent)
        try:
            asyncio.run(work)
        except KeyboardInterrupt:
            return 130
    return 0


async def _run_worker(
    jobs: Jobs, settings: dict[str, Any], *, until_empty: bool, with_parent: bool
) -> None:
    from agent.channels.channel_runner import channel_senders  # noqa: PLC0415 - as below
    from agent.jobs.worker import Worker  # noqa: PLC0415 - loads DBOS, an extra

    interrupted = interrupt_event()
    settings["senders"] = channel_senders
    async with Worker(jobs, **settings) as running:
        note(f"Worker {running.id} is taking jobs from {_address(jobs)}. Press Ctrl-C to stop.")
        ends = [interrupted.wait(), running.cut_off(), _report_jobs(jobs, until_empty=until_empty)]
        await wait_for_first(*ends, *([_wait_for_parent_exit()] if with_parent else []))


async def _report_jobs(jobs: Jobs, *, until_empty: bool) -> None:
    """Report started and finished jobs on stderr; with `until_empty`, return once all are done."""
    states: dict[str, str] = {job.id: job.state for job in await asyncio.to_thread(jobs.list)}
    while True:
        found = await asyncio.to_thread(jobs.list)
        for job in reversed(found):  # the list is newest first
            if states.get(job.id) != job.state and job.state not in ("waiting", "queued"):
                note(_format_job(job))
            states[job.id] = job.state
        if until_empty and all(job.state in FINAL_STATES for job in found):
            return
        await asyncio.sleep(_POLL_S)


async def _wait_for_parent_exit() -> None:
    parent = os.getppid()
    while True:
        if os.getppid() != parent:  # the parent has exited, so another process is now the parent
            return
        await asyncio.sleep(_POLL_S)


def _recurring_group(kind: str, text: str, rm_text: str, run_text: str) -> click.Group:
    """Make the command group for schedules or monitors, including the commands that both share."""
    group = jobs_group(kind, text)

    @group.command(name="rm", help=rm_text)
    @click.argument("names", nargs=-1, required=True, metavar="NAME…")
    @with_jobs
    def rm(jobs: Jobs, names: tuple[str, ...]) -> None:
        for name in names:
            _schedules_or_monitors(jobs, kind).remove(name)
            print(f"removed {name}")

    @group.command(name="run", help=run_text)
    @click.argument("name")
    @with_jobs
    def run(jobs: Jobs, name: str) -> None:
        print(_schedules_or_monitors(jobs, kind).run(name).id)

    return group


def _schedules_or_monitors(jobs: Jobs, kind: str) -> Any:
    """Return the store for schedules or monitors."""
    from agent.jobs.monitors import Monitors  # noqa: PLC0415 - loads DBOS, an extra
    from agent.jobs.schedules import Schedules  # noqa: PLC0415 - as above

    return Monitors(jobs) if kind == "monitor" else Schedules(jobs)


schedule = _recurring_group(
    "schedule",
    "Ask questions later or regularly; `research worker` runs them.",
    "Remove schedules. Their jobs are kept.",
    "Run a schedule now.",
)


@schedule.command(name="add")
@click.argument("when")
@click.argument("question", nargs=-1, required=True)
@_name_option
@_zone_option
@option(
    "--missed",
    None,
    "What to do about runs missed while no worker was running: run once, or skip.",
    type=click.Choice(["once", "skip"]),
    default="once",
    show_default=True,
)
@retry_option(1)
@notify_option
@run_flags(*JOB_FLAGS)
@with_jobs
def add_schedule(jobs: Jobs, when: str, question: tuple[str, ...], **flags: Any) -> None:
    """Ask QUESTION at WHEN: five cron fields, or text such as "every weekday at 8"."""
    made = _schedules_or_monitors(jobs, "schedule").add(
        when, " ".join(question), **given_settings(flags)
    )
    times = ", ".join(_local(time, made.zone) for time in islice(made.times(made.seen), 3))
    print(made.name)
    note(f"Next: {times} ({made.zone}).")
    _note_if_no_worker(jobs, "runs scheduled questions")


@schedule.command(name="list")
@json_option
@with_jobs
def list_schedules(jobs: Jobs, *, as_json: bool) -> None:
    """List schedules and their next times."""
    found = _schedules_or_monitors(jobs, "schedule").all()
    print_rows(found, _format_schedule, as_json=as_json, empty=["No schedules."])


monitor = _recurring_group(
    "monitor",
    "Watch pages and answers; `research worker` checks them and reports changes as a diff.",
    "Remove monitors. Their recorded changes are kept.",
    "Check a monitor now, in a worker.",
)
# Flags of the monitor itself; all others are passed to the runs that it starts.
_MONITOR_FLAGS = ("name", "every", "zone", "words", "css", "when", "learn", "notify")


@monitor.command(name="add")
@click.argument("target", nargs=-1, required=True, metavar="URL|QUESTION")
@_name_option
@option(
    "--every",
    "WHEN",
    "How often to check; same syntax as in `research schedule`.",
    default="every 15 minutes",
    show_default=True,
)
@_zone_option
@option(
    "--words", "TEXT", "Watch only elements with this text, or the section below it.", default=""
)
@option("--css", "PATH", "Watch only elements that match a CSS selector.", default="")
@option("--ref", "REF", "Watch only this element; `monitor refs` lists the refs.", default="")
@option(
    "--when",
    "'<100'",
    "Notify if the first watched number meets this condition: '<100', '>=5', '10%'.",
    default="",
)
@option(
    "--learn",
    "N",
    "Number of times to read the page at first, to learn which parts always change.",
    type=click.IntRange(2, 20),
    default=3,
    show_default=True,
)
@notify_option
@run_flags(*JOB_FLAGS)
@with_jobs
def add_monitor(jobs: Jobs, target: tuple[str, ...], ref: str, **flags: Any) -> None:
    """Watch the page at URL, a part of it or a number in it, or the answer to QUESTION."""
    own = {name: flags.pop(name) for name in _MONITOR_FLAGS}
    element = _read_page(target[0], jobs, flags, ref)[1] if ref else {}
    monitors = _schedules_or_monitors(jobs, "monitor")
    made = monitors.add(
        " ".join(target), element=element, **drop_unset(own), **given_settings(flags)
    )
    print(made.name)
    if ref:
        note(f"Watched: {made.part}.")
    _note_if_no_worker(jobs, "checks monitors")


@monitor.command(name="refs")
@click.argument("url")
@run_flags("--allow-private", "--proxy")
@with_jobs
def refs(jobs: Jobs, url: str, **flags: Any) -> None:
    """Show the page at URL with the refs for `monitor add --ref`."""
    print_text(_read_page(url, jobs, flags)[0])


def _read_page(
    url: str, jobs: Jobs, flags: dict[str, Any], ref: str = ""
) -> tuple[str, dict[str, str]]:
    """Read a page; return its snapshot with refs, and the locator of the element `ref`."""
    from agent.jobs.monitor_checks import page_with_refs  # noqa: PLC0415 - as above

    settings = load_options({**drop_unset(flags), "data_dir": jobs.data_dir}, config=True)
    return asyncio.run(page_with_refs(url, settings, ref))


@monitor.command(name="list")
@switch(("--json", "as_json"), "Print as JSON, with the changes.")
@with_jobs
def list_monitors(jobs: Jobs, *, as_json: bool) -> None:
    """List monitors, with their last checks and last notifications."""
    monitors = _schedules_or_monitors(jobs, "monitor")
    found = [
        (one, monitors.last_check(one.name), monitors.changes(one.name)) for one in monitors.all()
    ]
    if as_json:
        rows = [
            {**one.model_dump(mode="json"), "last_check": check, "changes": changes}
            for one, check, changes in found
        ]
        print_json(rows)
        return
    print_rows(found, lambda row: _format_monitor(*row), empty=["No monitors."])


def _address(jobs: Jobs) -> str:
    """Return the database address without its password."""
    from sqlalchemy import make_url  # noqa: PLC0415 - part of the `jobs` extra

    return make_url(jobs.database.url).render_as_string(hide_password=True)


def _note_if_paused(jobs: Jobs) -> bool:
    if reason := jobs.paused:
        note(f"The queue is paused: {reason}.", "`research queue resume` resumes the queue.")
    return bool(reason)


def _note_if_no_worker(jobs: Jobs, purpose: str) -> None:
    if not jobs.workers():
        note("No worker is running:", f"`research worker` {purpose}.")


def _format_job(job: Job) -> str:
    outcome = (
        job.error if job.state in ("failed", "expired", "cancelled") else job.badge or job.status
    )
    question = shorten(job.question, 60)
    return f"{job.id}  {job.state:<9}  {job.priority:>3}  {question}  {outcome}".rstrip()


def _format_schedule(one: Schedule) -> str:
    next_time = _local(one.next, one.zone) if one.next else "never"
    return f"{one.name:<24}  {next_time:<25}  {one.when:<24}  {shorten(one.question, 60)}".rstrip()


def _format_monitor(one: Monitor, check: MonitorCheck | None, changes: list[MonitorChange]) -> str:
    ends = f"  until {one.until:%Y-%m-%d %H:%M} UTC" if one.until else ""
    lines = [f"{one.name:<24}  {one.every:<20}  {one.target}{ends}"]
    if check is not None:
        result = ": ".join(filter(None, (check.state, check.status, check.error)))
        lines.append(f"last check {check.at:%Y-%m-%d %H:%M} UTC, {result}")
    for change in changes[-1:]:
        lines += [f"{change.at:%Y-%m-%d %H:%M} UTC", *change.diff.splitlines()]
    return "\n  ".join(lines)


def _local(time: datetime, zone: str) -> str:
    return f"{time.astimezone(ZoneInfo(zone)):%a %Y-%m-%d %H:%M %Z}"
