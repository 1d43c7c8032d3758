"""Options of place, `--data-dir` and `--namespace`, may stand before or after a command's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Collection

PLACES = ("--data-dir", "--namespace")


class Anywhere(click.Group):
    """Takes those of these options that it has wherever they stand, as people write them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move them to the front, where the group reads them."""
        own = {name for parameter in self.params for name in parameter.opts}
        return super().parse_args(ctx, _moved(args, own.intersection(PLACES)))


def command_first(args: list[str], commands: Collection[str]) -> list[str]:
    """Put the name of a command before the options of place that stand before it."""
    at = 0
    while at < len(args) and args[at].partition("=")[0] in PLACES:
        at += 1 if "=" in args[at] else 2
    if 0 < at < len(args) and args[at] in commands:
        return [args[at], *args[:at], *args[at + 1 :]]
    return args


def _moved(args: list[str], names: Collection[str]) -> list[str]:
    front: list[str] = []
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--":  # what follows are words, however they look
            rest += [word, *words]
        elif word in names:
            front += [word, *[value for value in [next(words, None)] if value is not None]]
        elif word.partition("=")[0] in names:
            front.append(word)
        else:
            rest.append(word)
    return [*front, *rest]
