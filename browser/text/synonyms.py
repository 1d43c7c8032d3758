"""Common English words that can stand for each other in a paraphrase of a plain fact."""

from __future__ import annotations

import functools
from importlib import resources


@functools.cache
def synonym_groups() -> tuple[tuple[str, ...], ...]:
    """Give the groups, as words; they stand in `synonyms.txt`, one a line, notes behind #."""
    text = resources.files("browser.text").joinpath("synonyms.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(tuple(line.split()) for line in lines)
