"""Ordering by words and by meaning together."""

from __future__ import annotations

import math
import statistics
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.memory.embeddings import Vector

    Window = Sequence[tuple[float, str]]
    """Texts, and how much each counts: a memory and its neighbours."""

# Of the spread of cosines, to that of scores by words; both are brought to the same scale first.
WEIGHT = 0.5
LEAST_SPREAD = 0.1  # of the mean score: words that say the same of all leave it to the vectors
ALONE = 0.05  # the spread where no word says anything: an order, and no claim to bear on it


def reorder(
    question: Vector,
    found: Sequence[tuple[float, int]],
    around: Sequence[Window],
    vectors: Mapping[str, Vector],
) -> list[tuple[float, int]]:
    """Order hits by the sum of both scores, each on its own scale.

    `around` gives the window of each hit, since what is said beside it says what it is about;
    `vectors` those of all its texts.
    """
    if len(found) < 2:
        return list(found)
    cosines = [cosine(question, _sum([(s, vectors[text]) for s, text in w])) for w in around]
    scores = [score for score, _ in found]
    spread = max(statistics.pstdev(scores), LEAST_SPREAD * statistics.mean(scores)) or ALONE
    scale, mean = spread / (statistics.pstdev(cosines) or 1.0), statistics.mean(cosines)
    joined = [
        (score + WEIGHT * scale * (near - mean), id_)
        for (score, id_), near in zip(found, cosines, strict=True)
    ]
    return [(max(0.0, s), id_) for s, id_ in sorted(joined, key=lambda pair: (-pair[0], pair[1]))]


def cosine(one: Vector, other: Vector) -> float:
    """Compare two vectors; 0 where one is empty or their lengths differ."""
    if len(one) != len(other):
        return 0.0
    size = math.sqrt(_dot(one, one) * _dot(other, other))
    return _dot(one, other) / size if size else 0.0


def _dot(one: Vector, other: Vector) -> float:
    return float(sum(map(mul, one, other)))


def _sum(parts: Sequence[tuple[float, Vector]]) -> Vector:
    share, first = parts[0]
    total = [share * x for x in first]
    for share, vector in parts[1:]:
        if len(vector) == len(total):
            total = [x + share * y for x, y in zip(total, vector, strict=True)]
    return total
