"""The process-wide caches of parsed pages."""

from __future__ import annotations

from agent.evidence.values import value_index
from agent.evidence.verify import statement_index
from agent.keyless.ranking import split_candidates


def clear_page_caches() -> None:
    """Drop a finished run's cached pages, which would otherwise accumulate in a server.

    Active runs refill the caches.
    """
    for cached in (split_candidates, statement_index, value_index):
        cached.cache_clear()
