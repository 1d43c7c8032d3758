"""`research memory seal`, `stamp`, `verify`: what is as it was written, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent.cli.flags import require_words
from agent.cli.memory import memory
from agent.cli.place import Place, opened
from agent.cli.stamping import (
    blocks_option,
    calendars_option,
    complete_option,
    require_one,
    roots_option,
    tell_missing,
)
from agent.cli.terminal import note
from agent.config import options
from agent.errors import CHECK_FAILED
from browser.text import clean

if TYPE_CHECKING:
    from pathlib import Path


@memory.command()
@click.argument("category")
@click.argument("content")
@click.pass_obj
def seal(place: Place, category: str, content: str) -> None:
    """Seal a milestone, a decision or an incident: CATEGORY and CONTENT."""
    from agent.sealing.sealed_log import SealedLog  # noqa: PLC0415 - `--help` needs no database

    require_words(content, "an entry")
    with opened(place) as store:
        sealed = SealedLog(store).append(category, content)
    print(f"sealed as entry {sealed.number}; head {sealed.hash}")


@memory.command()
@click.argument("authority", metavar="[URL]", required=False)
@calendars_option
@complete_option
@click.pass_obj
def stamp(
    place: Place,
    authority: str | None,
    calendars: tuple[str, ...],
    complete: bool,  # noqa: FBT001 - click's way
) -> None:
    """Have the head stamped with the time: by the authority at URL (RFC 3161), or by calendars.

    Calendars need some hours: --complete takes up then what they promised.
    """
    from agent.sealing.sealed_log import SealedLog  # noqa: PLC0415 - `--help` needs no database

    require_one(authority, calendars, complete=complete)
    proxy = options({}, config=True).proxy
    with opened(place) as store:
        if authority:
            stamped = SealedLog(store).stamp(authority, proxy=proxy)
            print(clean(f"entry {stamped.number} is stamped by {authority}"))
        if complete:
            missing = SealedLog(store).complete(calendars, proxy=proxy)
            tell_missing(missing)
            print("still pending" if missing else "the proofs name their blocks")
        elif calendars:
            taken, missing = SealedLog(store).anchor(calendars, proxy=proxy)
            tell_missing(missing)
            print(f"entry {taken.number} is taken down: its block comes in some hours (--complete)")


@memory.command()
@click.option("--head", metavar="HASH", help="A head that was noted before.")
@roots_option
@blocks_option
@click.pass_obj
def verify(place: Place, head: str | None, roots: Path | None, blocks: dict[int, bytes]) -> int:
    """Check that the sealed log is what was sealed, and when; exit 8 where it is not."""
    from agent.sealing.sealed_log import SealedLog  # noqa: PLC0415 - `--help` needs no database

    with opened(place) as store:
        check = SealedLog(store).verify(head, roots, blocks)
    if check.reason:
        print(clean(f"does not hold: {check.reason}"))
        return CHECK_FAILED
    if not check.entries:
        note("Nothing is sealed yet.", "`research memory seal` adds an entry.")
        return 0
    holding = "entry holds" if check.entries == 1 else "entries hold"
    print(f"{check.entries} {holding}; head {check.head}")
    for number, stamped in check.stamps:
        since = f" existed at {stamped}" if stamped.when else f": {stamped}"
        print(clean(f"entry {number}{since}"))
    return 0
