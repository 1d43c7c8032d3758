"""`research queue`, `worker`, `schedule` and `monitor`: questions for later, and again."""

from __future__ import annotations

import asyncio
import functools
import os
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click

from agent.cli.flags import DAYS, Anywhere, given, json_option, number_option, run_flags_showing
from agent.cli.stores import (
    SHOWN,
    host_delay_option,
    notify_option,
    open_jobs,
    place_options,
    retry_option,
)
from agent.cli.terminal import first_of, interruption, note, print_json, print_rows
from agent.config import load_options
from agent.jobs.job import parse_duration
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs
    from agent.jobs.monitors import Monitor, MonitorChange
    from agent.jobs.schedules import Schedule


def _group(name: str, told: str) -> click.Group:
    """Make a group that takes where the jobs stand, for its commands `with_jobs`."""

    @click.group(name, cls=Anywhere, help=told)
    @place_options
    @click.pass_context
    def group(ctx: click.Context, jobs_url: str | None, data_dir: Path | None) -> None:
        ctx.obj = (jobs_url, data_dir)

    return group


def with_jobs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Hand the jobs to a command, open as long as it lasts; their engine is loaded by then.

    Where they stand is the group's to say: of a command's own flags it is left out.
    """

    @click.pass_obj
    def within(place: tuple[str | None, Path | None], /, **flags: Any) -> Any:
        flags.pop("data_dir", None)
        with open_jobs(*place) as jobs:
            return command(jobs, **flags)

    return functools.update_wrapper(within, command)


_named = click.option("--name", metavar="NAME", help="What it is called (its own words).")
_zone = click.option("--zone", metavar="ZONE", envvar="TZ", help="Time zone (the machine's).")
_jobs = click.argument("job_ids", nargs=-1, required=True, metavar="JOB…")
_names = click.argument("names", nargs=-1, required=True, metavar="NAME…")

queue = _group("queue", "Questions for later: added here, answered by `research worker`.")


@queue.command()
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--priority",
    type=click.IntRange(-1_000_000, 1_000_000),
    default=0,
    metavar="N",
    help="Higher ones go first.",
)
@click.option(
    "--after",
    multiple=True,
    metavar="RUN|JOB",
    help="Begin when this one has its answer, which is handed on; repeatable.",
)
@click.option("--ttl", metavar="2h", help="Drop it when it was not begun in so long.")
@click.option("--in", "delay", metavar="20m", help="Begin no sooner than then.")
@retry_option(0)
@json_option
@notify_option
@run_flags_showing(*SHOWN)
@with_jobs
def add(
    jobs: Jobs, question: tuple[str, ...], delay: str | None, *, as_json: bool, **flags: Any
) -> None:
    """Add QUESTION to the queue, with the flags of `research ask`."""
    own = {name: flags.pop(name) for name in ("priority", "after", "ttl", "retry", "notify")}
    wait = parse_duration(delay) if delay else 0.0
    job = jobs.add(" ".join(question), delay=wait, **own, **given(flags))
    if as_json:
        print_json(job)
        return
    print(job.id)
    if not _say_paused(jobs):
        _say_who_works(jobs, "answers what is queued")


@queue.command(name="list")
@number_option(50, "How many, newest first.")
@click.option(
    "--state",
    "states",
    multiple=True,
    metavar="STATE",
    help="waiting, queued, running, done, failed, cancelled, expired; repeatable.",
)
@json_option
@with_jobs
def list_jobs(jobs: Jobs, number: int, states: tuple[str, ...], *, as_json: bool) -> None:
    """List jobs, newest first."""
    empty = "There are no such jobs." if states else "The queue is empty."
    print_rows(jobs.list(states or None, limit=number), _job, as_json=as_json, empty=[empty])
    if not as_json:
        _say_paused(jobs)


@queue.command()
@click.argument("job")
@json_option
@with_jobs
def show(jobs: Jobs, job: str, *, as_json: bool) -> None:
    """Show a job: where it stands, and its answer."""
    found = jobs.show(job)
    if as_json:
        print_json(found)
        return
    rows = found.model_dump(mode="json", exclude={"report", "options"}, exclude_defaults=True)
    for name, value in rows.items():
        shown = ", ".join(value) if isinstance(value, list) else value
        print(f"{name:<10}{clean(str(shown))}")
    if found.report is not None:
        print(f"\n{clean(found.report['answer'])}")


@queue.command()
@_jobs
@with_jobs
def cancel(jobs: Jobs, job_ids: tuple[str, ...]) -> None:
    """Cancel jobs, those under way too."""
    for name in job_ids:
        print(f"cancelled {jobs.cancel(name).id}")


@queue.command()
@_jobs
@with_jobs
def retry(jobs: Jobs, job_ids: tuple[str, ...]) -> None:
    """Try jobs again that failed; what is on record is not asked again."""
    for name in job_ids:
        print(f"queued {jobs.retry(name).id}")


@queue.command()
@click.argument("job_ids", nargs=-1, metavar="JOB…")
@click.option("--keep", type=DAYS, metavar="DAYS", help="All that ended before that.")
@with_jobs
def rm(jobs: Jobs, job_ids: tuple[str, ...], keep: int | None) -> None:
    """Take jobs that have ended off the list, by name or by age; their runs stay."""
    if not job_ids and keep is None:
        raise click.UsageError("Say which: job ids, or --keep DAYS.")
    for name in job_ids:
        print(f"removed {jobs.remove(name).id}")
    for gone in jobs.remove_older(timedelta(days=keep)) if keep is not None else ():
        print(f"removed {gone}")


@queue.command()
@with_jobs
def pause(jobs: Jobs) -> None:
    """Begin no more jobs; those under way come to their end."""
    jobs.pause()
    print("paused")


@queue.command()
@with_jobs
def resume(jobs: Jobs) -> None:
    """Begin jobs again."""
    jobs.resume()
    print("going on")


@click.command()
@place_options
@click.option(
    "-j",
    "--at-once",
    type=click.IntRange(min=1),
    metavar="N",
    help="Jobs that each worker has at a time (4; it holds for all workers).",
)
@host_delay_option
@click.option("--stall", metavar="30m", help="Give up a run that tells nothing for so long.")
@click.option("--until-empty", is_flag=True, help="End when nothing is left to do.")
@click.option("--queue", "queues", multiple=True, hidden=True)
@click.option("--with-parent", is_flag=True, hidden=True)  # ends when who started it does
def worker(
    jobs_url: str | None,
    data_dir: Path | None,
    *,
    until_empty: bool,
    with_parent: bool,
    **flags: Any,
) -> int:
    """Work through the queue until Ctrl-C; any number of workers share one.

    Killed, it loses nothing: its runs go on where they stopped, with another worker or the next.
    """
    settings = given({**flags, "stall": parse_duration(flags["stall"]) if flags["stall"] else None})
    with open_jobs(jobs_url, data_dir) as jobs:
        try:
            return asyncio.run(
                _work(jobs, settings, until_empty=until_empty, with_parent=with_parent)
            )
        except KeyboardInterrupt:
            return 130


async def _work(
    jobs: Jobs, settings: dict[str, Any], *, until_empty: bool, with_parent: bool
) -> int:
    from agent.channels.channel_runner import channel_senders  # noqa: PLC0415 - as below
    from agent.jobs.worker import Worker  # noqa: PLC0415 - loads DBOS, an extra

    stopped = interruption()
    settings["senders"] = partial(channel_senders, environ=os.environ)
    async with Worker(jobs, **settings) as working:
        note(f"Worker {working.id} takes jobs from {_where(jobs)}. Ctrl-C ends it.")
        ends = [stopped.wait(), working.cut_off(), _tell(jobs, until_empty=until_empty)]
        await first_of(*ends, *([_parent_ended()] if with_parent else []))
    return 0


async def _tell(jobs: Jobs, *, until_empty: bool) -> None:
    """Say on stderr what begins and ends; return when nothing is left, where that is wanted."""
    known: dict[str, str] = {job.id: job.state for job in await asyncio.to_thread(jobs.list)}
    while True:
        found = await asyncio.to_thread(jobs.list)
        for job in reversed(found):
            if known.get(job.id) != job.state and job.state not in ("waiting", "queued"):
                note(_job(job))
            known[job.id] = job.state
        if until_empty and not any(j.state in ("waiting", "queued", "running") for j in found):
            return
        await asyncio.sleep(1.0)


async def _parent_ended() -> None:
    parent = os.getppid()
    while True:
        if os.getppid() != parent:
            return
        await asyncio.sleep(1.0)


def _recurring(kind: str, told: str, rm_told: str, run_told: str) -> click.Group:
    """Make the group of schedules or of monitors, with what is the same of both."""
    group = _group(kind, told)

    @group.command(name="rm", help=rm_told)
    @_names
    @with_jobs
    def rm(jobs: Jobs, names: tuple[str, ...]) -> None:
        for name in names:
            _kept(jobs, kind).remove(name)
            print(f"removed {name}")

    @group.command(name="run", help=run_told)
    @click.argument("name")
    @with_jobs
    def run(jobs: Jobs, name: str) -> None:
        print(_kept(jobs, kind).run(name).id)

    return group


def _kept(jobs: Jobs, kind: str) -> Any:
    """Give the schedules or the monitors."""
    from agent.jobs.monitors import Monitors  # noqa: PLC0415 - loads DBOS, an extra
    from agent.jobs.schedules import Schedules  # noqa: PLC0415 - as above

    return Monitors(jobs) if kind == "monitor" else Schedules(jobs)


schedule = _recurring(
    "schedule",
    "Questions that come back, or are asked later: `research worker` fires them.",
    "Take schedules away; jobs that they made stay.",
    "Ask the question of a schedule now, whatever it says.",
)


@schedule.command(name="add")
@click.argument("when")
@click.argument("question", nargs=-1, required=True)
@_named
@_zone
@click.option(
    "--missed",
    type=click.Choice(["once", "skip"]),
    default="once",
    show_default=True,
    help="What came while no worker ran: one run for all of it, or none.",
)
@retry_option(1)
@notify_option
@run_flags_showing(*SHOWN)
@with_jobs
def add_schedule(jobs: Jobs, when: str, question: tuple[str, ...], **flags: Any) -> None:
    """Ask QUESTION at WHEN: cron's five fields, or "every weekday at 8", "in 20 minutes"."""
    made = _kept(jobs, "schedule").add(when, " ".join(question), **given(flags))
    coming = list(islice(made.times(made.seen), 3))
    print(made.name)
    note(f"Next: {', '.join(_local(time, made.zone) for time in coming)} ({made.zone}).")
    _say_who_works(jobs, "fires what is due")


@schedule.command(name="list")
@json_option
@with_jobs
def list_schedules(jobs: Jobs, *, as_json: bool) -> None:
    """List schedules, with when they come next."""
    found = _kept(jobs, "schedule").all()
    print_rows(found, _schedule, as_json=as_json, empty=["There are no schedules."])


monitor = _recurring(
    "monitor",
    "Watch pages and answers: `research worker` looks, and tells what changed as a diff.",
    "Watch no longer; what was kept stays.",
    "Have a worker look now.",
)


@monitor.command(name="add")
@click.argument("target", nargs=-1, required=True, metavar="URL|QUESTION")
@_named
@click.option(
    "--every",
    default="every 15 minutes",
    show_default=True,
    metavar="WHEN",
    help="How often to look, as `research schedule` takes it.",
)
@_zone
@click.option("--words", default="", metavar="TEXT", help="Only what holds this, or stands below.")
@click.option("--css", default="", metavar="PATH", help="Only the elements of a CSS selector.")
@click.option("--ref", default="", metavar="REF", help="Only this element; `monitor refs` shows.")
@click.option(
    "--when",
    default="",
    metavar="'<100'",
    help="Tell when its first figure is so: '<100', '>=5', '10%'.",
)
@click.option(
    "--learn",
    type=click.IntRange(2, 20),
    default=3,
    show_default=True,
    metavar="N",
    help="Reads from which is learned what differs by itself.",
)
@notify_option
@run_flags_showing(*SHOWN)
@with_jobs
def add_monitor(jobs: Jobs, target: tuple[str, ...], ref: str, **flags: Any) -> None:
    """Watch the page at URL, a part of it or its figure, or the answer to QUESTION."""
    own = {name: flags.pop(name) for name in _OWN}
    element = _page(target[0], jobs, flags, ref)[1] if ref else {}
    watched = _kept(jobs, "monitor")
    made = watched.add(" ".join(target), element=element, **given(own), **given(flags))
    print(made.name)
    if ref:
        note(f"Watched: {clean(made.part)}.")
    _say_who_works(jobs, "looks")


_OWN = ("name", "every", "zone", "words", "css", "when", "learn", "notify")


@monitor.command(name="refs")
@click.argument("url")
@run_flags_showing("--allow-private", "--proxy")
@with_jobs
def refs(jobs: Jobs, url: str, **flags: Any) -> None:
    """Show the page at URL with the refs that `monitor add --ref` takes."""
    print(clean(_page(url, jobs, flags)[0]))


def _page(url: str, jobs: Jobs, flags: dict[str, Any], ref: str = "") -> tuple[str, dict[str, str]]:
    from agent.jobs.monitor_checks import page_with_refs  # noqa: PLC0415 - as above

    settings = load_options({**given(flags), "data_dir": jobs.data_dir}, config=True)
    return asyncio.run(page_with_refs(url, settings, ref))


@monitor.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with the changes.")
@with_jobs
def list_monitors(jobs: Jobs, *, as_json: bool) -> None:
    """List monitors, each with what it told last."""
    watched = _kept(jobs, "monitor")
    found = [(one, watched.changes(one.name)) for one in watched.all()]
    if as_json:
        print_json([{**one.model_dump(mode="json"), "changes": told} for one, told in found])
        return
    print_rows(found, lambda pair: _monitor(*pair), empty=["There are no monitors."])


def _where(jobs: Jobs) -> str:
    """Name the database without its password."""
    from sqlalchemy import make_url  # noqa: PLC0415 - of the extra

    return make_url(jobs.database.url).render_as_string(hide_password=True)


def _say_paused(jobs: Jobs) -> bool:
    if paused := jobs.paused:
        note(f"The queue is paused: {paused}.", "`research queue resume` goes on.")
    return bool(paused)


def _say_who_works(jobs: Jobs, does: str) -> None:
    if not jobs.workers():
        note("No worker is running:", f"`research worker` {does}.")


def _job(job: Job) -> str:
    said = job.error if job.state in ("failed", "expired", "cancelled") else job.status
    question = " ".join(job.question.split())[:60]
    return clean(f"{job.id}  {job.state:<9}  {job.priority:>3}  {question}  {said}".rstrip())


def _schedule(one: Schedule) -> str:
    comes = _local(one.next, one.zone) if one.next else "never"
    return f"{one.name:<24}  {comes:<25}  {one.when:<24}  {one.question[:60]}".rstrip()


def _monitor(one: Monitor, told: list[MonitorChange]) -> str:
    ends = f"  until {one.until:%Y-%m-%d %H:%M} UTC" if one.until else ""
    lines = [f"{one.name:<24}  {one.every:<20}  {one.target}{ends}"]
    for change in told[-1:]:
        lines += [f"{change.at:%Y-%m-%d %H:%M} UTC", *change.diff.splitlines()]
    return "\n  ".join(lines)


def _local(time: datetime, zone: str) -> str:
    return f"{time.astimezone(ZoneInfo(zone)):%a %Y-%m-%d %H:%M %Z}"
