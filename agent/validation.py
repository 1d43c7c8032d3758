"""Bounds and conversions for the values that users set, as annotation metadata.

Pydantic builds a validator from each annotation. This module does not import pydantic, so that
`research --help` does not load it.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable


Depth = Literal["quick", "standard", "deep"]
"""How thorough a run is; `DEPTH_LIMITS` in `agent/limits.py` defines the limits of each depth."""


class Bounds:
    """Annotation metadata: the minimum (`ge`, or exclusive `gt`) and maximum value."""

    def __init__(self, **bounds: float) -> None:
        self.bounds = bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Build the validator."""
        return {**handler(source), **self.bounds}


class Before:
    """Annotation metadata: convert a value with this function before it is validated."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self.convert = convert

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Build the validator."""
        from pydantic_core import core_schema  # noqa: PLC0415 - `--help` needs none of it

        return core_schema.no_info_before_validator_function(self.convert, handler(source))


def split_list(value: str) -> tuple[str, ...]:
    """Split a list at commas and whitespace, except inside quotes.

    Raises `ValueError` if a quote is not closed.
    """
    words = shlex.shlex(value, posix=True)
    words.whitespace += ","
    words.whitespace_split = True
    words.commenters = words.escape = ""  # Windows paths contain backslashes
    words.quotes = '"'
    try:
        return tuple(words)
    except ValueError as error:  # an unclosed quote
        raise ValueError(f"{value!r} is not a valid list: {error}") from error


def split_paths(value: str) -> tuple[str, ...]:
    """Split a list of paths at commas only, since a path may contain spaces."""
    return tuple(part.strip() for part in value.split(",") if part.strip())
