"""`research chrome` and `research habits`: start a browser to attach to; show fetch histories."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import click

from agent.cli.flags import (
    PATH,
    data_dir_option,
    json_option,
    option,
    port_option,
    switch,
)
from agent.cli.terminal import note, print_error, print_json, print_rows
from agent.config import load_options, private_folder
from agent.errors import UsageError, WebOutOfReach
from browser.errors import BrowserError
from browser.read.habits import Habit, Habits
from browser.session.chrome import start_chrome, stop_chrome

if TYPE_CHECKING:
    from pathlib import Path

PORT = 9222
"""The port that `--attach` tries first."""


@click.group(invoke_without_command=True)
@port_option(PORT, "Debugging port on loopback; 0 chooses a free one.")
@option("--profile", "DIR", "Chrome profile folder.", type=PATH)
@switch("--headless", "Run without a window.")
@data_dir_option
@click.pass_context
def chrome(
    ctx: click.Context, port: int, profile: Path | None, data_dir: Path, *, headless: bool
) -> int:
    """Start Chrome with a separate profile. Log in to sites there, then use --attach."""
    ctx.obj = folder = profile or private_folder(data_dir) / "chrome"
    if ctx.invoked_subcommand is not None:
        return 0
    try:
        started = asyncio.run(start_chrome(folder, port=port, headless=headless))
    except BrowserError as error:
        print_error(str(error), error.hint)
        return WebOutOfReach.exit_code
    attach = "--attach" if started.cdp_url.endswith(f":{PORT}") else f"--cdp {started.cdp_url}"
    print(
        f"Started Chrome (process {started.pid}) at {started.cdp_url}, profile {started.profile}."
    )
    print(f'Open a page there, then run: research {attach} "question"')
    return 0


@chrome.command()
@click.pass_obj
def stop(folder: Path) -> int:
    """Stop the Chrome instance that `research chrome` started."""
    if not asyncio.run(stop_chrome(folder)):
        raise UsageError(f"no Chrome is running with the profile {folder}")
    print(f"stopped the Chrome with the profile {folder}")
    return 0


@click.command()
@click.argument("sites", nargs=-1, metavar="[SITE]…")
@switch("--reset", "Delete the history of the given sites, or of all sites.")
@json_option
@data_dir_option
def habits(sites: tuple[str, ...], data_dir: Path, *, reset: bool, as_json: bool) -> None:
    """Show what past runs learned about sites; --reset deletes it.

    Lists the sites that need a browser, have a longer or shorter timeout, or have failed.
    """
    store = Habits(data_dir / "habits.json")
    known = store.all()
    if unknown := [site for site in sites if site not in known]:
        hint = "`research habits` lists the known sites."
        raise UsageError(f"no fetch history for {', '.join(unknown)}", hint=hint)
    chosen = {site: habit for site, habit in known.items() if not sites or site in sites}
    if reset:
        for site in chosen:
            store.reset(site)
        note(f"Deleted the history of {len(chosen)} of {len(known)} sites.")
        return
    usual = load_options({"data_dir": data_dir}, config=True).limits.read_seconds
    if as_json:
        rows = chosen.items()
        print_json(
            {
                site: asdict(one)
                | {"browser_first": one.needs_browser, "read_seconds": one.deadline(usual)}
                for site, one in rows
            }
        )
    else:
        format_row = partial(_format, usual=usual)
        print_rows(sorted(chosen.items()), format_row, empty=["There is no fetch history yet."])


def _format(row: tuple[str, Habit], usual: float) -> str:
    site, habit = row
    first = "browser" if habit.needs_browser else "http"
    notes = [f"{habit.http} by HTTP, {habit.browser} by browser: {habit.reason}".rstrip(": ")]
    if habit.failed:
        notes.append(f"{habit.failed.replace('_', ' ')} {habit.times} times in a row")
    if (seconds := habit.deadline(usual)) != usual:
        notes.append(f"timeout {seconds:.0f} s instead of {usual:.0f}")
    return f"{site:<30} {first:<8} {'; '.join(notes)}"
