"""`research memory seal`, `stamp`, `verify`: what is as it was written, and since when."""

from __future__ import annotations

from pathlib import Path

import click

from agent.cli.memory import memory
from agent.cli.place import Place, opened
from agent.config import options
from agent.errors import CHECK_FAILED
from browser.text.hygiene import clean

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@memory.command()
@click.argument("category")
@click.argument("content")
@click.pass_obj
def seal(place: Place, category: str, content: str) -> None:
    """Seal a milestone, a decision or an incident: CATEGORY and CONTENT."""
    with opened(place) as store:
        sealed = store.seal(category, content)
    print(f"sealed as entry {sealed.number}; head {sealed.hash}")


@memory.command()
@click.argument("authority", metavar="URL")
@click.pass_obj
def stamp(place: Place, authority: str) -> None:
    """Have the head stamped with the time by the authority at URL (RFC 3161)."""
    with opened(place) as store:
        stamped = store.stamp(authority, proxy=options({}, config=True).proxy)
    print(clean(f"entry {stamped.number} is stamped by {authority}"))


@memory.command()
@click.option("--head", metavar="HASH", help="A head that was noted before.")
@click.option("--roots", type=_FILE, metavar="FILE", help="Certificates that vouch for stamps.")
@click.pass_obj
def verify(place: Place, head: str | None, roots: Path | None) -> int:
    """Check that the sealed log is what was sealed, and when; exit 8 where it is not."""
    with opened(place) as store:
        check = store.verify(head, roots)
    if not check.holds:
        print(clean(f"does not hold: {check.reason}"))
        return CHECK_FAILED
    print(f"{check.entries} entries hold; head {check.head}")
    for stamped in check.stamps:
        when = f"{stamped.when:%Y-%m-%d %H:%M:%S} UTC"
        print(clean(f"entry {stamped.number} existed at {when}, says {stamped.authority}"))
    return 0
