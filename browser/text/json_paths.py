"""Dotted paths into JSON, in which search engines and platforms say where their fields are."""

from __future__ import annotations

import re

_OR = re.compile(r"\s*\|\|\s*(?![^{}]*\})")


def alternatives(paths: str) -> list[str]:
    """Split paths that are tried in turn, written `a.b || c`.

    A `||` within braces does not count: braces hold paths of their own.
    """
    return _OR.split(paths) if paths else []


def value_at(data: object, path: str) -> object:
    """Follow names of objects and numbers of a list's entries (`hits.0.title`).

    A name behind a list is looked up in each of its entries. None if there is nothing.
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
    """Return what a path leads to, each of a list's entries, without what is missing."""
    return [leaf for leaf in _entries(value_at(data, path)) if leaf is not None]


def _entries(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]
