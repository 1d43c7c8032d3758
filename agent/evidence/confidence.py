"""The probability that an answer is right and answers its question, where one can be given."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agent.types import VerdictState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import ConfidenceParts, ReportSource, Sentence

WORTH = {
    VerdictState.SUPPORTED: 1.0,
    VerdictState.UNDECIDED: 0.5,
    VerdictState.UNCITED: 0.3,
    VerdictState.CONTRADICTED: 0.0,
}
"""What a sentence is worth by its verdict: of one that is open nothing is known."""
ONLY_A_RESULT = 0.7
"""What a sentence is worth that search results alone carry: their words are cut from their context
and may be stale."""
ANSWERED = {"fully": 0.92, "in part": 0.5, "no": 0.1}
"""How often an answer is right of which a judge says so much, less than it was on record: 51 of 53,
1 of 3 and 0 of 4 of 60 recorded answers to 20 questions over two pages. Brier .054 there, a
constant .119; fitted anew on 19 questions and tried on the twentieth, .058."""
EACH_FURTHER_SITE = 0.5
"""Each further independent site halves what is missing from 1."""
WITH_CONTRADICTION = 0.35
"""Cap on an answer with a sentence of which a source says the contrary."""

KEYLESS: tuple[float, float] | None = (-2.17, 4.28)
"""Logistic coefficients for answers that no language model wrote: constant, coverage (the share of
the question's words that is spoken of); None shows words in the place of a number. Fitted by
`tests/bench/confidence.py` on 354 answers over both closed webs; fitted on one and tried on the
other, Brier .164 and .184, a constant .205 and .223. That such an answer stands there word for
word is no evidence: it always does."""


def rate(
    parts: ConfidenceParts,
    sentences: Sequence[Sentence],
    sources: Sequence[ReportSource],
    *,
    keyless: bool = False,
) -> float | None:
    """Rate an answer from 0 to 1 by its parts; None where nothing calibrated can be said.

    That is an answer of which no judge has spoken: that its sentences stand on the pages literally
    is no evidence that they answer the question. `sentences` are its claims.
    """
    if not sentences or not sources:
        return 0.0
    if keyless:
        return None if KEYLESS is None else round(keyless_confidence(parts, KEYLESS), 2)
    if parts.answers is not None:
        value = ANSWERED[parts.answers]
    elif any(sentence.verdict is VerdictState.CONTRADICTED for sentence in sentences):
        value = WITH_CONTRADICTION
    else:
        return None
    if parts.answers != "no":
        value = 1 - (1 - value) * EACH_FURTHER_SITE ** max(0, parts.sites - 1)
    value *= parts.supported * parts.agreement
    if any(sentence.verdict is VerdictState.CONTRADICTED for sentence in sentences):
        value = min(value, WITH_CONTRADICTION)
    return round(value, 2)


def features(parts: ConfidenceParts) -> tuple[float, ...]:
    """Give what the confidence of a keyless answer is reckoned from."""
    return (parts.coverage,)


def keyless_confidence(parts: ConfidenceParts, coefficients: Sequence[float]) -> float:
    """Reckon the logistic curve; conflicts lower it by their share."""
    constant, *weights = coefficients
    pairs = zip(weights, features(parts), strict=True)
    score = constant + sum(weight * value for weight, value in pairs)
    return parts.agreement / (1 + math.exp(-score))


def share_supported(sentences: Sequence[Sentence]) -> float:
    """Share of the claims that are carried; what is half certain counts half."""
    worth = [ONLY_A_RESULT if one.weak else WORTH[one.verdict] for one in sentences]
    return sum(worth) / (len(sentences) or 1)
