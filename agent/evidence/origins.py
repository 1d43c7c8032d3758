"""Finds pages that copy one another's text: syndication, mirrors, scrapers, excerpts.

Copies do not confirm each other, so they count as one origin, which is named after the earliest
one.
"""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

from browser.net.url import host, normalize, registrable_domain
from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.evidence.store import Source

SHINGLE_WORDS: Final = 5  # words per shingle; shorter ones match by chance
MIN_SHARED_SHINGLES: Final = 0.4
"""Minimum share (0 to 1) of the shorter page's shingles (of `SHINGLE_WORDS` words) in a copy.

Tested on 40 groups of copies (complete, truncated, edited, respelt, quoted at length) and 40 groups
of independent pages about one subject, half of which quote the same statement. Any value from .35
to .45 separates the two kinds completely. The groups were written before the rule, and each half of
them yields the same range.
"""
MIN_COMMON_SHINGLES: Final = 20
"""Minimum number of common shingles: very short pages may say the same thing without copying."""
MAX_WORDS: Final = 20_000
"""Maximum number of words compared per page: copies of long documents include their beginning."""


class Origins:
    """The pages of a run, grouped by origin; a page without copies is a group of its own."""

    def __init__(self, sources: Iterable[Source]) -> None:
        pages = sorted(sources, key=lambda source: (source.published or "9999", source.n))
        self._first = {source.n: source for source in pages}
        self._cited: dict[int, Source] = {}
        runs = {source.n: _shingles(source.text) for source in pages}
        for one, other in combinations(pages, 2):
            first = self._first[one.n]
            if self._first[other.n] is not first and _is_copy(runs[one.n], runs[other.n]):
                joined = self._first[other.n]
                self._first |= {n: first for n, old in self._first.items() if old is joined}

    def earliest_copy(self, source: Source) -> Source:
        """Return the earliest page in a source's group, by publication date or order of reading."""
        return self._first.get(source.n, source)

    def cite_original(self, original: Source, sources: Iterable[Source]) -> None:
        """Record that these pages base their statements on another source, which they cite."""
        self._cited |= dict.fromkeys((source.n for source in sources), original)

    def origin_site(self, source: Source) -> str:
        """Return the site of the earliest page in the group of a source, or of the one it cites."""
        return site_name(self.earliest_copy(self._cited.get(source.n, source)).url)


def site_name(url: str) -> str:
    """Return the site of a URL: its registrable domain, or its scheme (local files are one site).

    Pages on one site do not count as independent.
    """
    return registrable_domain(host(url)) or url.partition(":")[0]


def is_duplicate(source: Source, kept: Source) -> bool:
    """Return whether a source is the same page as `kept` at another address, without more text.

    Both must be on the same site and declare the same canonical address.
    """
    addresses = {normalize(one.canonical or one.url) for one in (source, kept)}
    same_site = len({site_name(url) for url in (source.url, kept.url, *addresses)}) == 1
    return len(addresses) == 1 and same_site and all(p.text in kept.text for p in source.passages)


def _shingles(text: str) -> frozenset[int]:
    found = list(islice(words(text), MAX_WORDS))
    ends = range(SHINGLE_WORDS, len(found) + 1)
    return frozenset(hash(tuple(found[end - SHINGLE_WORDS : end])) for end in ends)


def _is_copy(one: frozenset[int], other: frozenset[int]) -> bool:
    shared = len(one & other)
    return shared >= MIN_COMMON_SHINGLES and shared >= MIN_SHARED_SHINGLES * min(
        len(one), len(other)
    )
