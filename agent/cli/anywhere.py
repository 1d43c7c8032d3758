"""A group whose `--data-dir` may stand before or after the name of its command."""

from __future__ import annotations

import click

_OPTION = "--data-dir"


class Anywhere(click.Group):
    """Takes `--data-dir DIR` wherever it stands, as people write it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move the option to the front, where the group reads it."""
        return super().parse_args(ctx, _moved(args))


def _moved(args: list[str]) -> list[str]:
    front: list[str] = []
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == _OPTION:
            front += [word, *[value for value in [next(words, None)] if value is not None]]
        elif word.startswith(f"{_OPTION}="):
            front.append(word)
        else:
            rest.append(word)
    return [*front, *rest]
