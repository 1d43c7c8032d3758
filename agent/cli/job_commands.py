"""`research queue` and `research worker`: questions for later, and who works through them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import Anywhere, given, number_option, run_flags_showing
from agent.cli.job_place import SHOWN, notify_option, opened, place_options
from agent.cli.terminal import note
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs
    from agent.jobs.worker import Handler

_json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")


@click.group(cls=Anywhere)
@place_options
@click.pass_context
def queue(ctx: click.Context, jobs_url: str | None, data_dir: Path | None) -> None:
    """Questions for later: added here, answered by `research worker`."""
    ctx.obj = (jobs_url, data_dir)


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
@click.option(
    "--retry",
    type=click.IntRange(0, 20),
    default=0,
    metavar="N",
    help="Try it again so often where that may help.",
)
@_json_option
@notify_option
@run_flags_showing(*SHOWN)
@click.pass_obj
def add(place: tuple[str | None, Path | None], /, question: tuple[str, ...], **flags: Any) -> None:
    """Add QUESTION to the queue, with the flags of `research ask`."""
    as_json, delay = flags.pop("as_json"), flags.pop("delay")
    own = {name: flags.pop(name) for name in ("priority", "after", "ttl", "retry", "notify")}
    flags.pop("data_dir", None)
    with opened(*place) as jobs:
        wait = _seconds(delay) if delay else 0.0
        job = jobs.add(" ".join(question), delay=wait, **own, **given(flags))
        if as_json:
            _print_json(job)
            return
        print(job.id)
        _say_who_works(jobs)


@queue.command(name="list")
@number_option(50, "How many, newest first.")
@click.option(
    "--state",
    "states",
    multiple=True,
    metavar="STATE",
    help="waiting, queued, running, done, failed, cancelled, expired; repeatable.",
)
@_json_option
@click.pass_obj
def list_jobs(
    place: tuple[str | None, Path | None],
    number: int,
    states: tuple[str, ...],
    as_json: bool,  # noqa: FBT001 - click's way
) -> None:
    """List jobs, newest first."""
    with opened(*place) as jobs:
        found = jobs.list(states or None, limit=number)
        if as_json:
            _print_json(found)
            return
        if not found:
            note("There are no such jobs." if states else "The queue is empty.")
        for job in found:
            print(_line(job))
        if jobs.paused:
            note(f"The queue is paused: {jobs.paused}.", "`research queue resume` goes on.")


@queue.command()
@click.argument("job")
@_json_option
@click.pass_obj
def show(place: tuple[str | None, Path | None], job: str, as_json: bool) -> None:  # noqa: FBT001
    """Show a job: where it stands, and its answer."""
    with opened(*place) as jobs:
        found = jobs.show(job)
    if as_json:
        _print_json(found)
        return
    rows = found.model_dump(mode="json", exclude={"report", "options"}, exclude_defaults=True)
    for name, value in rows.items():
        shown = ", ".join(value) if isinstance(value, list) else value
        print(f"{name:<10}{clean(str(shown))}")
    if found.report is not None:
        print(f"\n{clean(found.report['answer'])}")


@queue.command()
@click.argument("job_ids", nargs=-1, required=True, metavar="JOB…")
@click.pass_obj
def cancel(place: tuple[str | None, Path | None], job_ids: tuple[str, ...]) -> None:
    """Cancel jobs, those under way too."""
    with opened(*place) as jobs:
        for name in job_ids:
            print(f"cancelled {jobs.cancel(name).id}")


@queue.command()
@click.argument("job_ids", nargs=-1, required=True, metavar="JOB…")
@click.pass_obj
def retry(place: tuple[str | None, Path | None], job_ids: tuple[str, ...]) -> None:
    """Try jobs again that failed; what is on record is not asked again."""
    with opened(*place) as jobs:
        for name in job_ids:
            print(f"queued {jobs.retry(name).id}")


@queue.command()
@click.argument("job_ids", nargs=-1, metavar="JOB…")
@click.option("--keep", type=click.IntRange(0), metavar="DAYS", help="All that ended before that.")
@click.pass_obj
def rm(place: tuple[str | None, Path | None], job_ids: tuple[str, ...], keep: int | None) -> None:
    """Take jobs that have ended off the list, by name or by age; their runs stay."""
    if not job_ids and keep is None:
        raise click.UsageError("Say which: job ids, or --keep DAYS.")
    with opened(*place) as jobs:
        for name in job_ids:
            print(f"removed {jobs.remove(name).id}")
        for gone in jobs.remove_older(timedelta(days=keep)) if keep is not None else ():
            print(f"removed {gone}")


@queue.command()
@click.pass_obj
def pause(place: tuple[str | None, Path | None]) -> None:
    """Begin no more jobs; those under way come to their end."""
    with opened(*place) as jobs:
        jobs.pause()
    print("paused")


@queue.command()
@click.pass_obj
def resume(place: tuple[str | None, Path | None]) -> None:
    """Begin jobs again."""
    with opened(*place) as jobs:
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
@click.option(
    "--host-delay",
    type=click.FloatRange(min=0),
    metavar="S",
    help="Least seconds between two pages of one host, over all workers (0.2).",
)
@click.option("--stall", metavar="30m", help="Give up a run that tells nothing for so long.")
@click.option("--until-empty", is_flag=True, help="End when nothing is left to do.")
@click.option("--queue", "queues", multiple=True, hidden=True)
@click.option("--with-parent", is_flag=True, hidden=True)  # ends when who started it does
def worker(
    jobs_url: str | None,
    data_dir: Path | None,
    until_empty: bool,  # noqa: FBT001
    with_parent: bool,  # noqa: FBT001
    **flags: Any,
) -> int:
    """Work through the queue until Ctrl-C; any number of workers share one.

    Killed, it loses nothing: its runs go on where they stopped, with another worker or the next.
    """
    settings = given({**flags, "stall": _seconds(flags["stall"]) if flags["stall"] else None})
    with opened(jobs_url, data_dir) as jobs:
        try:
            return asyncio.run(
                _work(jobs, settings, until_empty=until_empty, with_parent=with_parent)
            )
        except KeyboardInterrupt:
            return 130


async def _work(
    jobs: Jobs, settings: dict[str, Any], *, until_empty: bool, with_parent: bool
) -> int:
    from agent.channels.running import channel_ways  # noqa: PLC0415 - as below
    from agent.jobs.monitor_looks import look  # noqa: PLC0415 - as below
    from agent.jobs.schedules import fire_due  # noqa: PLC0415 - as below
    from agent.jobs.telling import remind  # noqa: PLC0415 - as below
    from agent.jobs.worker import Worker  # noqa: PLC0415 - loads DBOS, an extra

    stopped = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stopped.set)
    settings["ways"] = partial(channel_ways, environ=os.environ)
    handlers: dict[str, Handler] = {"monitor": look, "remind": remind}
    async with Worker(jobs, handlers=handlers, upkeep=[fire_due], **settings) as working:
        note(f"Worker {working.id} takes jobs from {_where(jobs)}. Ctrl-C ends it.")
        ends = [asyncio.create_task(stopped.wait()), asyncio.create_task(working.cut_off())]
        ends.append(asyncio.create_task(_tell(jobs, until_empty=until_empty)))
        if with_parent:
            ends.append(asyncio.create_task(_parent_ended()))
        done, left = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in left:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for task in done:
            task.result()
    return 0


async def _tell(jobs: Jobs, *, until_empty: bool) -> None:
    """Say on stderr what begins and ends; return when nothing is left, where that is wanted."""
    known: dict[str, str] = {job.id: job.state for job in await asyncio.to_thread(jobs.list)}
    while True:
        found = await asyncio.to_thread(jobs.list)
        for job in reversed(found):
            if known.get(job.id) != job.state and job.state not in ("waiting", "queued"):
                note(_line(job))
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


def _where(jobs: Jobs) -> str:
    """Name the database without its password."""
    from sqlalchemy import make_url  # noqa: PLC0415 - of the extra

    return make_url(jobs.database.url).render_as_string(hide_password=True)


def _say_who_works(jobs: Jobs) -> None:
    if jobs.paused:
        note(f"The queue is paused: {jobs.paused}.", "`research queue resume` goes on.")
    elif not jobs.workers():
        note("No worker is running:", "`research worker` answers what is queued.")


def _line(job: Job) -> str:
    said = job.error if job.state in ("failed", "expired", "cancelled") else job.status
    question = " ".join(job.question.split())[:60]
    return clean(f"{job.id}  {job.state:<9}  {job.priority:>3}  {question}  {said}".rstrip())


def _print_json(found: Job | Sequence[Job]) -> None:
    rows: Any = (
        [job.model_dump(mode="json") for job in found]
        if isinstance(found, list)
        else found.model_dump(mode="json")  # type: ignore[union-attr] # a job
    )
    print(json.dumps(rows, ensure_ascii=False, indent=2))


def _seconds(text: str) -> float:
    from agent.jobs.job import seconds_of  # noqa: PLC0415 - loads nothing, but stands with jobs

    return seconds_of(text)
