"""`research chrome`: start a Chrome that `research --attach` can use."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from agent.cli.flags import data_dir_option
from agent.cli.terminal import complain
from agent.config import default_data_dir, private_folder
from browser.errors import BrowserError
from browser.session.chrome import start_chrome

PORT = 9222
"""The port that `--attach` tries first."""


@click.command()
@click.option("--port", default=PORT, show_default=True, help="Debugging port on loopback; 0: any.")
@click.option("--profile", type=click.Path(path_type=Path), metavar="DIR", help="Its own profile.")
@click.option("--headless", is_flag=True, help="Without a window.")
@data_dir_option
def chrome(port: int, profile: Path | None, headless: bool, data_dir: Path | None) -> int:  # noqa: FBT001
    """Start a Chrome with a profile of its own; log in there, then run with --attach."""
    folder = profile or private_folder(data_dir or default_data_dir()) / "chrome"
    try:
        started = asyncio.run(start_chrome(folder, port=port, headless=headless))
    except BrowserError as error:
        complain(str(error), error.hint)
        return 6
    attach = "--attach" if started.cdp_url.endswith(f":{PORT}") else f"--cdp {started.cdp_url}"
    print(f"Chrome runs (process {started.pid}) at {started.cdp_url}, profile {started.profile}.")
    print(f'Open a page there, then: research {attach} "question"')
    return 0
