"""Rank passages against a query, and find the words in them that come nearest to a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.text.sentences import sentences
from browser.text.words import BM25, content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.types import Passage

HEADING_WEIGHT = 0.5
"""A query word in the headings above counts half its rarity: it says the topic, not the fact."""

NEIGHBOUR_WEIGHT = 0.25
"""Share of a neighbour's score that a passage gets: an answer's subject is often named just
before it (`He was born …`), and scoring such windows finds 15 points more on long dialogues."""


class PassageIndex:
    """An index over the passages of sources, given as (title, passages) in order."""

    def __init__(self, sources: Iterable[tuple[str, Sequence[Passage]]]) -> None:
        self._passages: list[Passage] = []
        self._headings: list[frozenset[str]] = []
        for title, passages in sources:
            topic = frozenset(content_words(title))
            cache: dict[str, frozenset[str]] = {}
            for passage in passages:
                if passage.heading not in cache:
                    cache[passage.heading] = topic | set(content_words(passage.heading))
                self._passages.append(passage)
                self._headings.append(cache[passage.heading])
        self._bm25 = BM25(content_words(passage.text) for passage in self._passages)

    def search(self, query: str, limit: int, source: int | None = None) -> list[Passage]:
        """Give the `limit` best passages; headings alone and repeated texts are left out."""
        scores = self._scores(content_words(query))
        ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
        found: dict[str, Passage] = {}
        for i in ranked:
            if scores[i] <= 0 or len(found) == limit:
                break
            passage = self._passages[i]
            if passage.kind != "heading" and source in (None, passage.source):
                found.setdefault(passage.text, passage)
        return list(found.values())

    def _scores(self, query: list[str]) -> list[float]:
        own = self._bm25.scores(query)
        rarity = {token: self._bm25.idf(token) for token in set(query)}
        for i, heading in enumerate(self._headings):
            if own[i] > 0:
                own[i] += HEADING_WEIGHT * sum(rarity[t] for t in rarity.keys() & heading)
        return [score + NEIGHBOUR_WEIGHT * self._around(own, i) for i, score in enumerate(own)]

    def _around(self, own: list[float], i: int) -> float:
        source = self._passages[i].source
        near = (j for j in (i - 1, i + 1) if 0 <= j < len(own))
        return max((own[j] for j in near if self._passages[j].source == source), default=0.0)


def nearest_quote(sentence: str, passages: Sequence[Passage]) -> str:
    """Give the sentence of the passages that shares most with `sentence`; empty if none does."""
    pieces = [
        passage.text[start:end]
        for passage in passages
        for start, end in (
            [(0, len(passage.text))] if passage.kind == "table" else sentences(passage.text)
        )
    ]
    index = BM25(content_words(piece) for piece in pieces)
    best = index.best(content_words(sentence), 1)
    return pieces[best[0][0]].strip() if best and best[0][1] > 0 else ""
