"""Several engines' results as one list: reciprocal rank, copies folded, spread over sites."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.net.url import host, registrable_domain
from browser.search.tidy import same_page_key
from browser.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from browser.types import SearchResult

# Cormack, Clarke & Büttcher (2009): reciprocal rank fusion, k = 60.
K = 60
# One site's pages beyond these come after the other sites' (engines themselves show two or three).
MOST_OF_A_SITE = 3
# Mirrors have the same title and the same words in the snippet; shorter snippets prove nothing.
_TELLING_WORDS = 10


def merge(lists: Sequence[Sequence[SearchResult]], limit: int) -> tuple[SearchResult, ...]:
    """Fuse ranked lists; of a page's copies the longest snippet is kept. Ranks start at 1.

    A single list keeps its order: its engine has weighed more than we can see.
    """
    scores: dict[str, float] = {}
    best: dict[str, SearchResult] = {}
    mirrors: dict[tuple[str, ...], str] = {}
    for results in lists:
        seen: set[str] = set()
        for rank, result in enumerate(results, 1):
            key = mirrors.setdefault(_print_of(result), same_page_key(result.url))
            best[key] = _fold(best[key], result) if key in best else result
            if key not in seen:
                scores[key] = scores.get(key, 0.0) + 1 / (K + rank)
            seen.add(key)
    ordered = [best[key] for key in sorted(scores, key=lambda key: -scores[key])]
    chosen = ordered if len(lists) < 2 else _spread(ordered)
    return tuple(replace(result, rank=n) for n, result in enumerate(chosen[:limit], 1))


def _print_of(result: SearchResult) -> tuple[str, ...]:
    """What mirrors have in common: title and snippet; the address itself where that says little."""
    said = words(result.snippet)
    if len(said) < _TELLING_WORDS:
        return (same_page_key(result.url),)
    return (*words(result.title), "|", *said)


def _fold(first: SearchResult, other: SearchResult) -> SearchResult:
    names = first.provider.split("+")
    provider = first.provider if other.provider in names else f"{first.provider}+{other.provider}"
    snippet = max(first.snippet, other.snippet, key=len)
    published = first.published or other.published
    return replace(first, snippet=snippet, provider=provider, published=published)


def _spread(results: Iterable[SearchResult]) -> list[SearchResult]:
    sites: Counter[str] = Counter()
    first: list[SearchResult] = []
    later: list[SearchResult] = []
    for result in results:
        there = host(result.url)
        site = registrable_domain(there) or there
        sites[site] += 1
        (first if sites[site] <= MOST_OF_A_SITE else later).append(result)
    return first + later
