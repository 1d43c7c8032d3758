"""How far an answer can be trusted, as one number, and what it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.types import VerdictState
from browser.net.url import host, registrable_domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import ReportSource, Sentence

# What a sentence is worth by its verdict. An undecided one is right about as often as not (free
# paraphrases of pages, half of them wrong, look alike in code); an uncited one has nothing behind
# it but the model; a contradicted one is wrong.
WORTH = {
    VerdictState.SUPPORTED: 1.0,
    VerdictState.UNDECIDED: 0.5,
    VerdictState.UNCITED: 0.15,
    VerdictState.CONTRADICTED: 0.0,
}

ONE_SITE = 0.85
"""Confidence in words carried by one site alone: they stand there, the site may be wrong."""

EACH_FURTHER_SITE = 0.5
"""Each further independent site halves what is missing from 1."""

SNIPPETS_ONLY = 0.7
"""A search engine's snippet is cut from its context and may be stale."""

WITH_CONTRADICTION = 0.5
"""Cap on an answer of which a source says the contrary."""


def confidence(sentences: Sequence[Sentence], sources: Sequence[ReportSource]) -> float:
    """Rate an answer from 0 to 1: share supported × independence of sources × how they were got."""
    if not sentences or not sources:
        return 0.0
    carried = sum(WORTH[sentence.verdict] for sentence in sentences) / len(sentences)
    value = carried * _independence(sources)
    if all(source.via == "snippet" for source in sources):
        value *= SNIPPETS_ONLY
    if any(sentence.verdict is VerdictState.CONTRADICTED for sentence in sentences):
        value = min(value, WITH_CONTRADICTION)
    return round(value, 2)


def _independence(sources: Sequence[ReportSource]) -> float:
    sites = len({registrable_domain(host(source.url)) or source.url for source in sources})
    return float(1 - (1 - ONE_SITE) * EACH_FURTHER_SITE ** (sites - 1))
