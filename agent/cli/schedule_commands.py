"""`research schedule`: questions that come back."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click

from agent.cli.flags import Anywhere, given, run_flags_showing
from agent.cli.job_place import SHOWN, notify_option, opened, place_options
from agent.cli.terminal import note
from browser.text.words import clean

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from agent.jobs.schedules import Schedule


@click.group(cls=Anywhere)
@place_options
@click.pass_context
def schedule(ctx: click.Context, jobs_url: str | None, data_dir: Path | None) -> None:
    """Questions that come back, or are asked later: `research worker` fires them."""
    ctx.obj = (jobs_url, data_dir)


@schedule.command()
@click.argument("when")
@click.argument("question", nargs=-1, required=True)
@click.option("--name", metavar="NAME", help="What it is called (words of the question).")
@click.option("--zone", metavar="ZONE", envvar="TZ", help="Time zone (the machine's).")
@click.option(
    "--missed",
    type=click.Choice(["once", "skip"]),
    default="once",
    show_default=True,
    help="What came while no worker ran: one run for all of it, or none.",
)
@click.option(
    "--retry",
    type=click.IntRange(0, 20),
    default=1,
    show_default=True,
    metavar="N",
    help="Try what failed again so often.",
)
@notify_option
@run_flags_showing(*SHOWN)
@click.pass_obj
def add(
    place: tuple[str | None, Path | None], /, when: str, question: tuple[str, ...], **flags: Any
) -> None:
    """Ask QUESTION at WHEN: cron's five fields, or "every weekday at 8", "in 20 minutes"."""
    flags.pop("data_dir", None)
    with opened(*place) as jobs:
        from agent.jobs.schedules import add_schedule  # noqa: PLC0415 - loads DBOS, an extra

        made = add_schedule(jobs, when, " ".join(question), **given(flags))
        coming = list(islice(made.times(made.seen), 3))
        print(made.name)
        note(f"Next: {', '.join(_local(time, made.zone) for time in coming)} ({made.zone}).")
        if not jobs.workers():
            note("No worker is running:", "`research worker` fires what is due.")


@schedule.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def list_schedules(place: tuple[str | None, Path | None], as_json: bool) -> None:  # noqa: FBT001 - click's way
    """List schedules, with when they come next."""
    with opened(*place) as jobs:
        from agent.jobs.schedules import schedules  # noqa: PLC0415 - as above

        found = schedules(jobs)
    if as_json:
        print(json.dumps([s.model_dump(mode="json") for s in found], ensure_ascii=False, indent=2))
        return
    if not found:
        note("There are no schedules.")
    for one in found:
        print(_line(one))


@schedule.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
@click.pass_obj
def rm(place: tuple[str | None, Path | None], names: tuple[str, ...]) -> None:
    """Take schedules away; jobs that they made stay."""
    with opened(*place) as jobs:
        from agent.jobs.schedules import remove_schedule  # noqa: PLC0415 - as above

        for name in names:
            remove_schedule(jobs, name)
            print(f"removed {name}")


@schedule.command()
@click.argument("name")
@click.pass_obj
def run(place: tuple[str | None, Path | None], name: str) -> None:
    """Ask the question of a schedule now, whatever it says."""
    with opened(*place) as jobs:
        from agent.jobs.schedules import run_schedule  # noqa: PLC0415 - as above

        print(run_schedule(jobs, name).id)


def _line(one: Schedule) -> str:
    comes = _local(one.next, one.zone) if one.next else "never"
    return clean(f"{one.name:<24}  {comes:<20}  {one.when:<24}  {one.question[:60]}".rstrip())


def _local(time: datetime, zone: str) -> str:
    return f"{time.astimezone(ZoneInfo(zone)):%a %Y-%m-%d %H:%M}"
