"""Options that timestamps share: who stamps, and who is believed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.terminal import complain

if TYPE_CHECKING:
    from collections.abc import Iterable

_BLOCK = re.compile(r"(\d{1,9})=([0-9a-fA-F]{160})")

calendars_option = click.option(
    "--calendar",
    "calendars",
    multiple=True,
    metavar="URL",
    help="Whose calendar (OpenTimestamps): a URL, or `public` for the project's own; repeatable.",
)
complete_option = click.option(
    "--complete", is_flag=True, help="Ask calendars for the Bitcoin blocks that they promised."
)
roots_option = click.option(
    "--roots",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Certificates that vouch for authorities.",
)


def _headers(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[int, bytes]:
    found = [_BLOCK.fullmatch(value) for value in values]
    if not all(found):
        raise click.BadParameter("a block is HEIGHT=HEADER, its header being 80 bytes in hex.")
    return {int(block[1]): bytes.fromhex(block[2]) for block in found if block}


blocks_option = click.option(
    "--block",
    "blocks",
    multiple=True,
    callback=_headers,
    metavar="HEIGHT=HEADER",
    help="The header of a Bitcoin block that a proof names (80 bytes in hex); repeatable.",
)


def require_one(authority: str | None, calendars: tuple[str, ...], *, complete: bool) -> None:
    """Refuse to stamp by nobody; raises `click.UsageError`."""
    if not (authority or calendars or complete):
        raise click.UsageError("Say who stamps: an authority's URL, --calendar, or --complete.")


def tell_missing(missing: Iterable[str]) -> None:
    """Say which calendars gave nothing, and why."""
    for told in missing:
        complain(told)
