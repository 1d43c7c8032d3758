"""Embeddings, where someone brings a model for them: kept by content and model, never by key.

Where the model fails, words decide alone.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import sqlalchemy as sa

from agent.memory.errors import EmbeddingFailed
from agent.memory.retrieval.meaning import cosine
from agent.memory.schema import embeddings

if TYPE_CHECKING:
    from agent.memory.store import Store

INPUT = 2_000  # characters of a text that are embedded, as in the reference engine
QUESTIONS = 100  # whose vectors are kept, by this process alone: what was asked leaves no trace

Vector = Sequence[float]
_KNOWN = sa.select(embeddings.c.digest, embeddings.c.vector).where(
    embeddings.c.digest.in_(sa.bindparam("names", expanding=True)),
    embeddings.c.model == sa.bindparam("model"),
)


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
        self.question = lru_cache(QUESTIONS)(self._question)
        """The vector of a question, None where the model fails."""

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._embedder.name

    def _question(self, text: str) -> Vector | None:
        try:
            return self._embedder.embed([text[:INPUT]])[0]
        except EmbeddingFailed:
            return None  # words decide alone, as promised

    def of(self, texts: Sequence[str]) -> dict[str, Vector] | None:
        """Give the vector of each text, None where the model fails."""
        names = {text: digest(text) for text in texts}
        known = self._read(list(names.values()))
        missing = {name: text[:INPUT] for text, name in names.items() if name not in known}
        if missing:
            try:
                new = self._embedder.embed(list(missing.values()))
            except EmbeddingFailed:
                return None
            known |= dict(zip(missing, new, strict=True))
            self._write({name: known[name] for name in missing})
        return {text: known[name] for text, name in names.items()}

    def near(self, question: str, texts: Sequence[str]) -> dict[str, float]:
        """Give the cosine of a question and each text; nothing where the model fails."""
        asked = self.question(question)
        vectors = None if asked is None else self.of(texts)
        if asked is None or vectors is None:
            return {}
        return {text: cosine(asked, vector) for text, vector in vectors.items()}

    def _read(self, names: Sequence[str]) -> dict[str, Vector]:
        with self._store.read() as connection:
            rows = connection.execute(_KNOWN, {"names": list(names), "model": self.model})
            return {row.digest: array("f", row.vector) for row in rows}

    def _write(self, new: dict[str, Vector]) -> None:
        with self._store.write() as connection:
            for name, vector in new.items():
                which = (embeddings.c.digest == name) & (embeddings.c.model == self.model)
                connection.execute(embeddings.delete().where(which))
                packed = array("f", vector).tobytes()
                row = {"digest": name, "model": self.model, "vector": packed}
                connection.execute(embeddings.insert(), row)


def digest(text: str) -> str:
    """Name a text, as far as it is embedded."""
    return hashlib.sha256(text[:INPUT].encode("utf-8", "surrogatepass")).hexdigest()
