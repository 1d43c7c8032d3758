"""`research monitor`: pages, figures and answers that are watched."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import Anywhere, given, run_flags_showing
from agent.cli.job_place import SHOWN, notify_option, opened, place_options
from agent.cli.terminal import note
from agent.config import options
from browser.text.words import clean

if TYPE_CHECKING:
    from pathlib import Path


@click.group(cls=Anywhere)
@place_options
@click.pass_context
def monitor(ctx: click.Context, jobs_url: str | None, data_dir: Path | None) -> None:
    """Watch pages and answers: `research worker` looks, and tells what changed as a diff."""
    ctx.obj = (jobs_url, data_dir)


@monitor.command()
@click.argument("target", nargs=-1, required=True, metavar="URL|QUESTION")
@click.option("--name", metavar="NAME", help="What it is called (words of the address).")
@click.option(
    "--every",
    default="every 15 minutes",
    show_default=True,
    metavar="WHEN",
    help="How often to look, as `research schedule` takes it.",
)
@click.option("--zone", metavar="ZONE", envvar="TZ", help="Time zone (the machine's).")
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
@click.pass_obj
def add(place: tuple[str | None, Path | None], /, target: tuple[str, ...], **flags: Any) -> None:
    """Watch the page at URL, a part of it or its figure, or the answer to QUESTION."""
    flags.pop("data_dir", None)
    ref = flags.pop("ref")
    own = {name: flags.pop(name) for name in _OWN}
    with opened(*place) as jobs:
        from agent.jobs.monitors import add_monitor  # noqa: PLC0415 - loads DBOS, an extra

        element = _page(target[0], place[1], flags, ref)[1] if ref else {}
        made = add_monitor(jobs, " ".join(target), element=element, **given(own), **given(flags))
        print(made.name)
        if ref:
            note(f"Watched: {clean(made.part)}.")
        if not jobs.workers():
            note("No worker is running:", "`research worker` looks.")


_OWN = ("name", "every", "zone", "words", "css", "when", "learn", "notify")


@monitor.command()
@click.argument("url")
@run_flags_showing("--allow-private", "--proxy")
@click.pass_obj
def refs(place: tuple[str | None, Path | None], /, url: str, **flags: Any) -> None:
    """Show the page at URL with the refs that `monitor add --ref` takes."""
    flags.pop("data_dir", None)
    print(clean(_page(url, place[1], flags)[0]))


def _page(
    url: str, data_dir: Path | None, flags: dict[str, Any], ref: str = ""
) -> tuple[str, dict[str, str]]:
    opened(None, data_dir).close()  # says what is missing where the engine is
    from agent.jobs.monitor_looks import page_with_refs  # noqa: PLC0415 - loads DBOS, an extra

    settings = options({**given(flags), "data_dir": data_dir}, config=True)
    return asyncio.run(page_with_refs(url, settings, ref))


@monitor.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with the changes.")
@click.pass_obj
def list_monitors(place: tuple[str | None, Path | None], as_json: bool) -> None:  # noqa: FBT001 - click's way
    """List monitors, each with what it told last."""
    with opened(*place) as jobs:
        from agent.jobs.monitors import monitor_changes, monitors  # noqa: PLC0415 - as above

        found = [(one, monitor_changes(jobs, one.name)) for one in monitors(jobs)]
    if as_json:
        rows = [
            {**one.model_dump(mode="json"), "changes": [c.model_dump(mode="json") for c in told]}
            for one, told in found
        ]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    if not found:
        note("There are no monitors.")
    for one, told in found:
        ends = f"  until {one.until:%Y-%m-%d %H:%M} UTC" if one.until else ""
        print(clean(f"{one.name:<24}  {one.every:<20}  {one.target}{ends}"))
        for change in told[-1:]:
            print(f"  {change.at:%Y-%m-%d %H:%M} UTC")
            for line in change.diff.splitlines():
                print(clean(f"  {line}"))


@monitor.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
@click.pass_obj
def rm(place: tuple[str | None, Path | None], names: tuple[str, ...]) -> None:
    """Watch no longer; what was kept stays."""
    with opened(*place) as jobs:
        from agent.jobs.monitors import remove_monitor  # noqa: PLC0415 - as above

        for name in names:
            remove_monitor(jobs, name)
            print(f"removed {name}")


@monitor.command()
@click.argument("name")
@click.pass_obj
def run(place: tuple[str | None, Path | None], name: str) -> None:
    """Have a worker look now."""
    with opened(*place) as jobs:
        from agent.jobs.monitors import run_monitor  # noqa: PLC0415 - as above

        print(run_monitor(jobs, name).id)
