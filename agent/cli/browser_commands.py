"""`research chrome` and `research habits`: the browser to attach to, and sites that want one."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path

import click

from agent.cli.flags import Anywhere, data_dir_option, json_option, port_option
from agent.cli.terminal import complain, note, print_json, print_rows
from agent.config import default_data_dir, private_folder
from agent.errors import UsageError
from browser.errors import BrowserError
from browser.read.habits import Habit, Habits
from browser.session.chrome import start_chrome, stop_chrome

PORT = 9222
"""The port that `--attach` tries first."""


@click.group(cls=Anywhere, invoke_without_command=True)
@port_option(PORT, "Debugging port on loopback; 0: any.")
@click.option("--profile", type=click.Path(path_type=Path), metavar="DIR", help="Its own profile.")
@click.option("--headless", is_flag=True, help="Without a window.")
@data_dir_option
@click.pass_context
def chrome(
    ctx: click.Context,
    port: int,
    profile: Path | None,
    data_dir: Path | None,
    *,
    headless: bool,
) -> int:
    """Start a Chrome with a profile of its own; log in there, then run with --attach."""
    folder = profile or private_folder(data_dir or default_data_dir()) / "chrome"
    ctx.obj = folder
    if ctx.invoked_subcommand is not None:
        return 0
    try:
        started = asyncio.run(start_chrome(folder, port=port, headless=headless))
    except BrowserError as error:
        complain(str(error), error.hint)
        return 6
    attach = "--attach" if started.cdp_url.endswith(f":{PORT}") else f"--cdp {started.cdp_url}"
    print(f"Chrome runs (process {started.pid}) at {started.cdp_url}, profile {started.profile}.")
    print(f'Open a page there, then: research {attach} "question"')
    return 0


@chrome.command()
@click.pass_obj
def stop(folder: Path) -> int:
    """Close the Chrome that was started so, and no other."""
    if not asyncio.run(stop_chrome(folder)):
        raise UsageError(f"no Chrome runs on the profile {folder}")
    print(f"stopped the Chrome on the profile {folder}")
    return 0


@click.command()
@click.argument("sites", nargs=-1, metavar="[SITE]…")
@click.option("--reset", is_flag=True, help="Forget the sites named, or all.")
@json_option
@data_dir_option
def habits(sites: tuple[str, ...], data_dir: Path | None, *, reset: bool, as_json: bool) -> None:
    """Show which sites only a browser reads, as runs found out; --reset forgets it."""
    learned = Habits((data_dir or default_data_dir()) / "habits.json")
    known = learned.all()
    if strange := [site for site in sites if site not in known]:
        raise UsageError(f"nothing was learned of {', '.join(strange)}", hint="`research habits`.")
    chosen = {site: habit for site, habit in known.items() if not sites or site in sites}
    if reset:
        for site in chosen:
            learned.reset(site)
        note(f"Forgot {len(chosen)} of {len(known)} sites.")
        return
    if as_json:
        rows = chosen.items()
        print_json({site: asdict(one) | {"browser_first": one.needs_browser} for site, one in rows})
        return
    print_rows(sorted(chosen.items()), _habit, empty=["Nothing was learned of any site."])


def _habit(row: tuple[str, Habit]) -> str:
    site, one = row
    how = "browser" if one.needs_browser else "http"
    return f"{site:<30} {how:<8} {one.http} by HTTP, {one.browser} by browser: {one.reason}"
