"""Dotted paths that locate fields in the JSON of search engines and platforms."""

from __future__ import annotations

import re

_OR_SEPARATOR = re.compile(r"\s*\|\|\s*(?![^{}]*\})")


def alternatives(paths: str) -> list[str]:
    """Split a list of alternative paths, written `a.b || c`.

    A `||` within braces is not a separator: braces contain paths of their own.
    """
    return _OR_SEPARATOR.split(paths) if paths else []


def value_at(data: object, path: str) -> object:
    """Follow object names and list indexes (`hits.0.title`).

    A name after a list is looked up in each of its entries. None if there is no value.
    """
    for step in path.split("."):
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and step.isdigit():
            data = data[int(step)] if int(step) < len(data) else None
        elif isinstance(data, list):
            found = [entry.get(step) for entry in data if isinstance(entry, dict)]
            data = [leaf for child in found for leaf in _entries(child)]
        else:
            return None
    return data


def values_at(data: object, path: str) -> list[object]:
    """Return the values at a path, one for each list entry, without missing ones."""
    return [leaf for leaf in _entries(value_at(data, path)) if leaf is not None]


def _entries(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]
