"""Embeddings from an endpoint that speaks the OpenAI protocol: a provider's, or Ollama here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from agent.memory.errors import EmbeddingFailed
from browser.net.transport import certificates

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS = 20.0  # a search waits no longer; words decide alone then
BATCH = 96  # texts in one request; some providers take no more


class EndpointEmbedder:
    """`Embedder` that asks `base_url`/embeddings; `key` and `proxy` are None where there is none.

    After a failure it is not asked again: a run must not wait for it at every search.
    """

    def __init__(
        self, model: str, base_url: str, key: str | None = None, proxy: str | None = None
    ) -> None:
        self.name = f"{model}@{base_url}"
        self._model = model
        self._url = base_url.rstrip("/") + "/embeddings"
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            proxy=proxy,
            timeout=SECONDS,
            trust_env=False,
            verify=certificates(),
        )
        self._failed = False

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed texts in their order; raises `EmbeddingFailed`."""
        if self._failed:
            raise EmbeddingFailed(f"{self._url} failed before")
        try:
            return [
                v for at in range(0, len(texts), BATCH) for v in self._ask(texts[at : at + BATCH])
            ]
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            self._failed = True
            raise EmbeddingFailed(f"{self._url} gave no embeddings: {error}") from error

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        """Ask once; raises `httpx.HTTPError`, or `ValueError` and the like for a bad answer."""
        asked = {"model": self._model, "input": list(texts)}
        answer = self._client.post(self._url, json=asked)
        rows: list[dict[str, Any]] = answer.raise_for_status().json()["data"]
        vectors = [list(map(float, row["embedding"])) for row in sorted(rows, key=_place)]
        if len(vectors) != len(texts):
            raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")
        return vectors


def _place(row: dict[str, Any]) -> int:
    return int(row["index"])
