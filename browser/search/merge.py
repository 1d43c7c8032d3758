"""Several engines' results as one list: reciprocal rank, duplicates folded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.search.tidy import same_page_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.types import SearchResult

# Cormack, Clarke & Büttcher (2009): reciprocal rank fusion, k = 60.
K = 60


def merge(lists: Sequence[Sequence[SearchResult]], limit: int) -> tuple[SearchResult, ...]:
    """Fuse ranked lists; of one page's copies the longest snippet is kept. Ranks start at 1."""
    scores: dict[str, float] = {}
    best: dict[str, SearchResult] = {}
    for results in lists:
        for rank, result in enumerate(results, 1):
            key = same_page_key(result.url)
            scores[key] = scores.get(key, 0.0) + 1 / (K + rank)
            best[key] = _fold(best[key], result) if key in best else result
    order = sorted(scores, key=lambda key: -scores[key])
    return tuple(replace(best[key], rank=n) for n, key in enumerate(order[:limit], 1))


def _fold(first: SearchResult, other: SearchResult) -> SearchResult:
    names = first.provider.split("+")
    provider = first.provider if other.provider in names else f"{first.provider}+{other.provider}"
    snippet = max(first.snippet, other.snippet, key=len)
    published = first.published or other.published
    return replace(first, snippet=snippet, provider=provider, published=published)
