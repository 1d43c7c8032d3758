"""What commands are given: numbers and words that they can do something with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


def number_option(default: int, told: str) -> Callable[[Any], Any]:
    """Make the option `-n`: how many, one at least."""
    kind = click.IntRange(min=1)
    return click.option("-n", "--number", default=default, type=kind, show_default=True, help=told)


def is_given(ctx: click.Context, name: str) -> bool:
    """Whether a person said an option of the group, rather than left it at its default."""
    group = ctx.parent or ctx
    return group.get_parameter_source(name) is not ParameterSource.DEFAULT


def require_words(text: str, what: str, hint: str = "") -> None:
    """Refuse a text that holds nothing but space; raises `UsageError`."""
    if not text.strip():
        raise UsageError(f"{what} needs words, and got none", hint=hint or None)
