"""Which search results to read first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.keyless.asking import GENERIC
from agent.keyless.names import bare_title, name_stems
from browser.text import BM25, content_words

if TYPE_CHECKING:
    from agent.keyless.observations import Hit, Observation
    from agent.keyless.question import Question

RANK, SNIPPET, TITLE = 1.0, 1.0, 0.5
"""What the first rank, a snippet with all words, and a title that was asked for are worth."""
HALF_RANK = 3
"""Places further down at which the rank is worth half."""
GENERIC_WEIGHT = 0.4


def promising(searches: list[Observation], question: Question) -> list[Hit]:
    """Merge the results of a few searches, the most promising first, each address once.

    A result counts by its rank, by how much of its query and of the question its title and
    snippet cover (rare words more), and by whether its title is a name that was asked for.
    """
    listed = [(s, n, h) for s in searches for n, h in enumerate(s.hits())]
    texts = [content_words(f"{h.title} {h.snippet}") for _, _, h in listed]
    index = BM25(texts)
    best: dict[str, tuple[float, Hit]] = {}
    for (search, rank, hit), text in zip(listed, texts, strict=True):
        query = set(content_words(str(search.data.get("query", ""))))
        score = RANK / (1 + rank / HALF_RANK)
        score += SNIPPET * _share(query | set(question.terms), text, index)
        title = name_stems(bare_title(hit.title))
        score += TITLE * (bool(title) and title <= query | set(question.terms))
        if hit.url not in best or best[hit.url][0] < score:
            best[hit.url] = (score, hit)
    return [hit for _, hit in sorted(best.values(), key=lambda pair: -pair[0])]


def _share(wanted: set[str], text: list[str], index: BM25) -> float:
    weight = {t: index.idf(t) * (GENERIC_WEIGHT if t in GENERIC else 1.0) for t in wanted}
    total = sum(weight.values()) or 1.0
    return sum(weight[t] for t in wanted & set(text)) / total
