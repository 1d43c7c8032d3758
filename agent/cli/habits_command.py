"""`research habits`: what was learned of sites, and forgetting it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agent.cli.flags import data_dir_option
from agent.cli.terminal import note
from agent.config import default_data_dir
from agent.errors import UsageError
from browser.read.habits import Habits
from browser.text.words import clean

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("sites", nargs=-1, metavar="[SITE]…")
@click.option("--reset", is_flag=True, help="Forget the sites named, or all.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@data_dir_option
def habits(sites: tuple[str, ...], reset: bool, as_json: bool, data_dir: Path | None) -> None:  # noqa: FBT001 - click's way
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
        rows = {
            site: asdict(one) | {"browser_first": one.wants_browser} for site, one in chosen.items()
        }
        print(json.dumps(rows, indent=2))
        return
    for site, one in sorted(chosen.items()):
        how = "browser" if one.wants_browser else "http"
        print(
            clean(f"{site:<30} {how:<8} {one.http} by HTTP, {one.browser} by browser: {one.reason}")
        )
    if not chosen:
        note("Nothing was learned of any site.")
