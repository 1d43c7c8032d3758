"""Embeddings, where someone brings a model for them: kept by content and model, never by key.

Words find the candidates; vectors only reorder them. Where the model fails, words decide alone.
"""

from __future__ import annotations

import hashlib
import math
import statistics
from array import array
from collections.abc import Sequence
from operator import mul
from typing import TYPE_CHECKING, Protocol

import sqlalchemy as sa

from agent.memory.errors import EmbeddingFailed
from agent.memory.schema import embeddings

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.memory.store import Store

INPUT = 2_000  # characters of a text that are embedded, as in the reference engine
# Of the spread of cosines, to that of scores by words; both are brought to the same scale first.
WEIGHT = 0.5
LEAST_SPREAD = 0.1  # of the mean score: words that say the same of all leave it to the vectors

Vector = Sequence[float]
Window = Sequence[tuple[float, str]]
"""Texts, and how much each counts: a memory and its neighbours."""


class Embedder(Protocol):
    """A model that turns texts into vectors; `name` tells models apart."""

    name: str

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed texts in one call, in their order; raises `EmbeddingFailed`."""
        ...


class Vectors:
    """Vectors of texts, each computed once for each model."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    def of(self, texts: Sequence[str]) -> list[Vector] | None:
        """Give the vector of each text, None where the model fails."""
        cut = [text[:INPUT] for text in texts]
        names = [digest(text) for text in texts]
        known = self._read(names)
        missing = {n: text for n, text in zip(names, cut, strict=True) if n not in known}
        if missing:
            try:
                new = self._embedder.embed(list(missing.values()))
            except EmbeddingFailed:
                return None  # words decide alone, as promised
            known |= dict(zip(missing, new, strict=True))
            self._write({name: known[name] for name in missing})
        return [known[name] for name in names]

    def similarity(self, question: str, texts: Sequence[str]) -> Callable[[str, str], float | None]:
        """Compare entries with a question, for `build_messages`; `texts` are read in one call."""
        vectors = self.of([question, *texts])
        if vectors is None:
            return lambda _key, _text: None
        near = {t: cosine(vectors[0], v) for t, v in zip(texts, vectors[1:], strict=True)}
        return lambda _key, text: near.get(text)

    def reorder(
        self, question: str, found: Sequence[tuple[float, int]], around: Sequence[Window]
    ) -> list[tuple[float, int]]:
        """Order hits by words and vectors together: the sum of both, each on its own scale.

        `around` gives the window of each hit: what is said beside it says what it is about.
        """
        texts = list(dict.fromkeys(text for window in around for _, text in window))
        vectors = self.of([question, *texts]) if len(found) > 1 else None
        if vectors is None:
            return list(found)
        of = dict(zip(texts, vectors[1:], strict=True))
        cosines = [cosine(vectors[0], _sum([(s, of[t]) for s, t in window])) for window in around]
        scores = [score for score, _ in found]
        range_ = max(statistics.pstdev(scores), LEAST_SPREAD * statistics.mean(scores))
        spread = range_ / (statistics.pstdev(cosines) or 1.0)
        mean = statistics.mean(cosines)
        joined = [
            (score + WEIGHT * spread * (near - mean), id_)
            for (score, id_), near in zip(found, cosines, strict=True)
        ]
        return sorted(joined, key=lambda pair: (-pair[0], pair[1]))

    def _read(self, names: Sequence[str]) -> dict[str, Vector]:
        query = sa.select(embeddings.c.digest, embeddings.c.vector).where(
            embeddings.c.digest.in_(names), embeddings.c.model == self._embedder.name
        )
        with self._store.read() as connection:
            return {row.digest: array("f", row.vector) for row in connection.execute(query)}

    def _write(self, new: dict[str, Vector]) -> None:
        model = self._embedder.name
        with self._store.write() as connection:
            for name, vector in new.items():
                which = (embeddings.c.digest == name) & (embeddings.c.model == model)
                connection.execute(embeddings.delete().where(which))
                packed = array("f", vector).tobytes()
                row = {"digest": name, "model": model, "vector": packed}
                connection.execute(embeddings.insert(), row)


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


def digest(text: str) -> str:
    """Name a text, as far as it is embedded."""
    return hashlib.sha256(text[:INPUT].encode("utf-8", "surrogatepass")).hexdigest()
