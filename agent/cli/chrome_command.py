"""`research chrome`: start a Chrome that `research --attach` can use."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from agent.cli.flags import Anywhere, data_dir_option
from agent.cli.terminal import complain
from agent.config import default_data_dir, private_folder
from agent.errors import UsageError
from browser.errors import BrowserError
from browser.session.chrome import start_chrome, stop_chrome

PORT = 9222
"""The port that `--attach` tries first."""


@click.group(cls=Anywhere, invoke_without_command=True)
@click.option("--port", default=PORT, show_default=True, help="Debugging port on loopback; 0: any.")
@click.option("--profile", type=click.Path(path_type=Path), metavar="DIR", help="Its own profile.")
@click.option("--headless", is_flag=True, help="Without a window.")
@data_dir_option
@click.pass_context
def chrome(
    ctx: click.Context,
    port: int,
    profile: Path | None,
    headless: bool,  # noqa: FBT001 - click's way
    data_dir: Path | None,
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
