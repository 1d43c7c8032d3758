"""BM25 over token lists that fit in memory."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Robertson & Zaragoza (2009) give k1 1.2-2.0, b 0.5-0.8 for long documents; passages vary less in
# length, so length counts for less.
K1 = 1.2
B = 0.5


class BM25:
    """An index over documents given as token lists; `scores(query)` gives one score for each."""

    def __init__(self, documents: Iterable[Sequence[str]], *, k1: float = K1, b: float = B) -> None:
        self._k1, self._b = k1, b
        self._lengths: list[int] = []
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, tokens in enumerate(documents):
            self._lengths.append(len(tokens))
            for token, count in Counter(tokens).items():
                self._postings[token].append((number, count))
        self._mean = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0

    def __len__(self) -> int:
        return len(self._lengths)

    def idf(self, token: str) -> float:
        """Inverse document frequency of a token, never negative."""
        found = len(self._postings.get(token, ()))
        return math.log(1 + (len(self) - found + 0.5) / (found + 0.5))

    def scores(self, query: Iterable[str]) -> list[float]:
        """One score per document, in the order in which they came; 0 where nothing matches."""
        result = [0.0] * len(self)
        for token in set(query):
            idf = self.idf(token)
            for number, count in self._postings.get(token, ()):
                norm = 1 - self._b + self._b * self._lengths[number] / (self._mean or 1.0)
                result[number] += idf * count * (self._k1 + 1) / (count + self._k1 * norm)
        return result

    def best(self, query: Iterable[str], limit: int) -> list[tuple[int, float]]:
        """Find the `limit` best documents as (number, score), best first, ties by number."""
        ranked = sorted(enumerate(self.scores(query)), key=lambda pair: (-pair[1], pair[0]))
        return [pair for pair in ranked[:limit] if pair[1] > 0]
