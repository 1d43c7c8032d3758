"""One namespace that all others read: what is kept in `shared` is found from everywhere.

Nothing is ever written there but by who opens it, and nothing of it is changed or deleted from
elsewhere. Where nobody opened it yet, it costs a lookup of its name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from agent.memory.entries import Entries
    from agent.memory.types import Hit

SHARED = "shared"
"""The name of that namespace."""


def search_all(
    entries: Entries,
    text: str,
    limit: int,
    kinds: Collection[str] | None,
    *,
    associations: bool = True,
) -> list[Hit]:
    """Search a namespace and the shared one, ranked together; hits of the latter say so."""
    found = entries.search(text, limit, kinds, associations=associations)
    other = entries.other(SHARED)
    if other is None:
        return found
    theirs = other.search(text, limit, kinds, associations=associations)
    every = [*found, *(replace(hit, shared=True) for hit in theirs)]
    return sorted(every, key=lambda hit: -hit.score)[:limit]
