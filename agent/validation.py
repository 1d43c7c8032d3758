"""Bounds and conversions of the values that users set, as metadata of annotations.

Pydantic asks each for its validator. This module does without pydantic, so that `research --help`
need not load it.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable


Depth = Literal["quick", "standard", "deep"]
"""How thorough a run is; `EFFORTS` in `agent/limits.py` says what each spends."""


class Bounds:
    """Metadata of an annotation: the least (`ge`, or more than `gt`) and the greatest value."""

    def __init__(self, **bounds: float) -> None:
        self.bounds = bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Build the validator."""
        return {**handler(source), **self.bounds}


class Before:
    """Metadata of an annotation: convert a value with this function before it is validated."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self.convert = convert

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Build the validator."""
        from pydantic_core import core_schema  # noqa: PLC0415 - `--help` needs none of it

        return core_schema.no_info_before_validator_function(self.convert, handler(source))


def split_list(value: str) -> tuple[str, ...]:
    """Split a list at commas and white space, except between quotes.

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
    """Split a list of paths at commas only: a path may contain spaces."""
    return tuple(part.strip() for part in value.split(",") if part.strip())
