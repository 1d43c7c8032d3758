"""Several engines' results as one list: reciprocal rank, copies folded, spread over sites."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.net.url import host, registrable_domain
from browser.search.search_results import same_page_key
from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from browser.types import SearchResult

# Cormack, Clarke & Büttcher (2009): reciprocal rank fusion, k = 60.
K = 60
# One site's pages beyond these come after the other sites' (engines themselves show two or three).
MOST_OF_A_SITE = 3
# Mirrors have the same title and nearly the same words in the snippet: of ten, one or two may
# differ (a date, another cut). Shorter snippets prove nothing.
_TELLING_WORDS = 10
_SAME_WORDS = 0.8


def merge(lists: Sequence[Sequence[SearchResult]], limit: int) -> tuple[SearchResult, ...]:
    """Fuse ranked lists; of a page's copies the longest snippet is kept. Ranks start at 1.

    A single list keeps its order: its engine has weighed more than we can see.
    """
    scores: dict[str, float] = {}
    best: dict[str, SearchResult] = {}
    mirrors = _Mirrors()
    for results in lists:
        seen: set[str] = set()
        for rank, result in enumerate(results, 1):
            key = mirrors.key_of(result)
            best[key] = _fold(best[key], result) if key in best else result
            if key not in seen:
                scores[key] = scores.get(key, 0.0) + 1 / (K + rank)
            seen.add(key)
    ordered = [best[key] for key in sorted(scores, key=lambda key: -scores[key])]
    chosen = ordered if len(lists) < 2 else _spread(ordered)
    return tuple(replace(result, rank=n) for n, result in enumerate(chosen[:limit], 1))


class _Mirrors:
    """Knows pages that were met before under another address, by their title and snippet."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._titled: dict[tuple[str, ...], list[tuple[frozenset[str], str]]] = {}

    def key_of(self, result: SearchResult) -> str:
        """Give the key of the first page that this one is a copy of, its own where it is none."""
        own = same_page_key(result.url)
        if own in self._known:
            return self._known[own]
        said = frozenset(words(result.snippet))
        twins = self._titled.setdefault(tuple(words(result.title)), [])
        key = next((k for other, k in twins if _alike(said, other)), own)
        self._known[own] = key
        twins.append((said, key))
        return key


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two snippets say the same, but for where they are cut and a date before them."""
    if min(len(one), len(other)) < _TELLING_WORDS:
        return False
    return len(one & other) >= _SAME_WORDS * len(one | other)


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
