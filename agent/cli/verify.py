"""`research verify`: whether a run, or the archive of one, is as it was written."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.runs import all_runs, data_dir_option
from agent.cli.say import complain
from agent.cli.stamping import blocks_option, roots_option
from agent.errors import CHECK_FAILED
from browser.text import clean

if TYPE_CHECKING:
    from agent.export.verify import Verified


@click.command()
@click.argument("run", default="last", metavar="RUN|FILE.zip")
@click.option("--head", is_flag=True, help="Only the hash that stands for the whole record.")
@click.option("--against", metavar="HASH", help="Exit 8 unless the head is this one.")
@roots_option
@blocks_option
@click.option("--json", "as_json", is_flag=True, help="What was found, as JSON.")
@data_dir_option
def verify(
    run: str,
    head: bool,  # noqa: FBT001
    against: str | None,
    roots: Path | None,
    blocks: dict[int, bytes],
    as_json: bool,  # noqa: FBT001
    data_dir: Path | None,
) -> int:
    """Check RUN offline: its chain of events, pages, report, and every quote.

    Exits 8 where anything was changed, and says what and where. Who keeps the head of a run
    elsewhere (`--head`) can tell later, with `--against`, that no event was rewritten since.
    """
    found = _verified(run, data_dir, roots, blocks)
    told = [f"{flaw.where}: {flaw.what}" for flaw in found.flaws]
    if against and against != found.head:
        told.append(f"the head is {found.head or 'not to be had'}, not {against}")
    if as_json:
        print(json.dumps({**asdict(found), "ok": not told}, indent=2))
    elif head and not told:
        print(found.head)
    else:
        print(clean("\n".join(told)) if told else _summary(found))
    if told:
        complain(f"{found.run} does not hold: {len(told)} flaw{'s' * (len(told) != 1)}")
    return CHECK_FAILED if told else 0


def _verified(
    name: str, data_dir: Path | None, roots: Path | None, blocks: dict[int, bytes]
) -> Verified:
    from agent.export.opening import is_archive, opened  # noqa: PLC0415 - `--help` needs it not
    from agent.export.verify import verify as check  # noqa: PLC0415 - as above
    from agent.export.verify import verify_archive  # noqa: PLC0415 - as above

    if is_archive(name):
        return verify_archive(Path(name), roots, blocks)
    with opened(name, all_runs(data_dir)) as folder:
        return check(folder, roots, blocks)


def _summary(found: Verified) -> str:
    return (
        f"{found.run} holds: {found.events} events in one chain, {found.blobs} blobs, "
        f"{found.sources} sources, {found.quotes} quotes that stand in their saved texts\n"
        + "\n".join([f"head {found.head}", *found.since])
    )
