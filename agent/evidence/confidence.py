"""The probability that an answer is right and answers its question, where one can be given."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agent.types import VerdictState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import ConfidenceParts, Fit, ReportSource, Sentence

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

FITTING = (-0.85, 1.7)
"""Logistic coefficients for a sentence that rules chose: constant, and the share of the question
that it says itself times its margin over the next sentence. Fitted on 112 answers over 27 manuals,
READMEs, licences and articles and 194 over two closed webs. Fitted on the webs alone and tried on
the documents, 52 of the 55 answers from .7 on are right, and 22 of the 57 below; the other way 106
of 119 and 33 of 75. Brier .153 and .145, of a constant .224 and .203. By the share of the question
that is spoken of anywhere, which it was, 56 of 86 were right. Whether a figure, date or name stands
there where one is asked for, the heading, and a bridge to another page added nothing."""


def rate(
    parts: ConfidenceParts,
    sentences: Sequence[Sentence],
    sources: Sequence[ReportSource],
) -> float | None:
    """Rate an answer from 0 to 1 by its parts; None where nothing calibrated can be said.

    That is an answer of which no judge has spoken: that its sentences stand on the pages literally
    is no evidence that they answer the question. `sentences` are its claims.
    """
    if not sentences or not sources:
        return 0.0
    if parts.fit is not None:
        return round(parts.agreement * fitting(features(parts.fit), FITTING), 2)
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


def features(fit: Fit) -> tuple[float, ...]:
    """Give what the confidence in a sentence that rules chose is reckoned from."""
    return (fit.own * fit.margin,)


def fitting(values: Sequence[float], coefficients: Sequence[float]) -> float:
    """Reckon the logistic curve; the first coefficient is the constant."""
    constant, *weights = coefficients
    score = constant + sum(w * value for w, value in zip(weights, values, strict=True))
    return 1 / (1 + math.exp(-score))


def share_supported(sentences: Sequence[Sentence]) -> float:
    """Share of the claims that are carried; what is half certain counts half."""
    worth = [ONLY_A_RESULT if one.weak else WORTH[one.verdict] for one in sentences]
    return sum(worth) / (len(sentences) or 1)
