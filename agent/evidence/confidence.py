"""How far an answer can be trusted, as one number, and what it is made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agent.types import VerdictState
from browser.net.url import host, registrable_domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import ConfidenceParts, ReportSource, Sentence

# What a sentence is worth by its verdict. An undecided one is right about as often as not (free
# paraphrases of pages, half of them wrong, look alike in code); an uncited one has nothing behind
# it but the model; a contradicted one is wrong.
WORTH = {
    VerdictState.SUPPORTED: 1.0,
    VerdictState.UNDECIDED: 0.5,
    VerdictState.UNCITED: 0.15,
    VerdictState.CONTRADICTED: 0.0,
}

ONE_SITE = 0.97
"""Confidence in words of one site alone that speak of all that was asked: of 50 such answers
on the closed web of the benchmark, two were wrong (`tests/bench/confidence.py`)."""

EACH_FURTHER_SITE = 0.5
"""Each further independent site halves what is missing from 1."""

ONLY_A_RESULT = 0.7
"""What a sentence is worth that search results alone carry: their words are cut from their context
and may be stale."""

HALF_SPOKEN_OF = 0.64
STEEPNESS = 9.0
"""Two numbers of a logistic curve: where the quotes speak of 64 % of the question's words, half of
the answers are to the point. Fitted to 109 answers of the keyless model on the closed web, where
five folds gave 0.62-0.66 and 7-10; `tests/bench/confidence.py` prints both webs' reliability."""

WITH_CONTRADICTION = 0.5
"""Cap on an answer of which a source says the contrary."""


def rate(
    parts: ConfidenceParts, sentences: Sequence[Sentence], sources: Sequence[ReportSource]
) -> float:
    """Rate an answer from 0 to 1 by its parts, rising with each of them."""
    if not sentences or not sources:
        return 0.0
    value = parts.supported * _trust(parts.sites) * parts.agreement * _answers(parts.coverage)
    if any(sentence.verdict is VerdictState.CONTRADICTED for sentence in sentences):
        value = min(value, WITH_CONTRADICTION)
    return round(value, 2)


def share_supported(sentences: Sequence[Sentence]) -> float:
    """Share of the sentences that are carried; what is half certain counts half."""
    worth = [ONLY_A_RESULT if one.weak else WORTH[one.verdict] for one in sentences]
    return sum(worth) / (len(sentences) or 1)


def site_of(url: str) -> str:
    """Name the site of a URL: pages of one site are not independent, nor are files of one's own."""
    return registrable_domain(host(url)) or url.partition(":")[0]


def _trust(sites: int) -> float:
    return float(1 - (1 - ONE_SITE) * EACH_FURTHER_SITE ** (sites - 1))


def _answers(coverage: float) -> float:
    """Share of answers that are to the point where so much of the question is spoken of."""
    return 1 / (1 + math.exp(STEEPNESS * (HALF_SPOKEN_OF - coverage)))
