"""The process-wide caches of parsed pages."""

from __future__ import annotations

from agent.evidence.values import value_index
from agent.evidence.verify import statement_index
from agent.keyless.ranking import split_candidates


def clear_page_caches() -> None:
    """Drop the cached pages of a finished run: in a server, thousands would otherwise accumulate.

    Active runs refill the caches.
    """
    for cached in (split_candidates, statement_index, value_index):
        cached.cache_clear()
