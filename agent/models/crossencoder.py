"""A cross-encoder on this machine: whether one text follows from another, or contradicts it.

A model lies in a folder as Hugging Face lays out ONNX exports: `config.json` with the names of its
labels (`id2label`), `tokenizer.json`, and `model.onnx` (or `onnx/model.onnx`, or their quantized
forms). Nothing is downloaded.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TOKENS: Final = 512
"""Of both texts together: what such models are trained on at most."""
WEIGHTS: Final = (
    *("model.onnx", "onnx/model.onnx"),
    *("model_quantized.onnx", "onnx/model_quantized.onnx"),
)
"""Where exports have their weights, looked for in this order."""
_ENTAILS = frozenset({"entailment", "entails", "entail"})
_CONTRADICTS = frozenset({"contradiction", "contradicts", "contradict"})
_ONLY_ERRORS = 3  # onnxruntime's level; on some machines it warns of devices that nobody asked for
_LAYOUT = "It is a folder with config.json, tokenizer.json and model.onnx, as exports to ONNX are."
_EXTRA = "pip install 'urchin-research[entailment]', or name a language model."
_LABELS = "Write the names of the labels into id2label: entailment, neutral, contradiction."


class Relation(NamedTuple):
    """How sure the model is, 0 to 1, that a hypothesis follows, and that it is contradicted."""

    entails: float
    contradicts: float


class CrossEncoder:
    """The model of a folder; raises `UsageError` for what is missing in it, or not to be used."""

    def __init__(self, folder: Path) -> None:
        config = _config(folder)
        self._entails, self._contradicts = _labels(config, folder)
        self._tokens = _tokenizer(folder)
        self._model = _session(folder)
        self._inputs = [asked.name for asked in self._model.get_inputs()]
        self._try_out(folder, len(config["id2label"]))

    def relation(self, premise: str, hypothesis: str) -> Relation:
        """Judge one pair by itself: what else is asked makes no difference."""
        import numpy as np  # noqa: PLC0415 - an extra

        logits = self._logits(premise, hypothesis)
        odds = np.exp(logits - logits.max())
        shares: Sequence[float] = (odds / odds.sum()).tolist()
        against = 0.0 if self._contradicts is None else shares[self._contradicts]
        return Relation(shares[self._entails], against)

    def _logits(self, premise: str, hypothesis: str) -> Any:
        import numpy as np  # noqa: PLC0415 - an extra

        encoded = self._tokens.encode(premise, hypothesis)
        known = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        asked = {name: np.array([known[name]], dtype=np.int64) for name in self._inputs}
        return self._model.run(None, asked)[0][0]

    def _try_out(self, folder: Path, labels: int) -> None:
        """Judge a pair, so that a model that does not fit is told of before the first claim."""
        unfit: tuple[type[Exception], ...] = (KeyError, *_faults())
        try:
            outputs = self._logits("It is so.", "It is so.").shape
        except unfit as error:
            raise UsageError(
                f"the model in {folder} takes no texts: {error}", hint=_LAYOUT
            ) from error
        if outputs != (labels,):
            told = f"the model in {folder} gives {outputs}, and id2label names {labels} labels"
            raise UsageError(told, hint=_LAYOUT)


def _config(folder: Path) -> Mapping[str, Any]:
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", hint=_LAYOUT)
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{folder} has no config.json: {error.strerror}", hint=_LAYOUT) from error
    except ValueError as error:
        raise UsageError(f"{folder / 'config.json'} is no JSON: {error}", hint=_LAYOUT) from error
    return config if isinstance(config, dict) else {}


def _labels(config: Mapping[str, Any], folder: Path) -> tuple[int, int | None]:
    """Find which output says entailment, and which contradiction; models of two have none."""
    rows = config.get("id2label")
    named = {str(name).casefold(): int(n) for n, name in rows.items()} if rows else {}
    entails = next((n for name, n in named.items() if name in _ENTAILS), None)
    if entails is None:
        told = ", ".join(named) or "no labels"
        raise UsageError(f"{folder / 'config.json'} names {told}, and no entailment", hint=_LABELS)
    return entails, next((n for name, n in named.items() if name in _CONTRADICTS), None)


def _tokenizer(folder: Path) -> Any:
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError("judging by entailment is not installed", hint=_EXTRA) from error
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise UsageError(f"{folder} has no tokenizer.json", hint=_LAYOUT)
    try:
        found = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise UsageError(f"{path} is no tokenizer: {error}", hint=_LAYOUT) from error
    found.no_padding()
    found.enable_truncation(TOKENS)
    return found


def _session(folder: Path) -> Any:
    try:
        import onnxruntime  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError("judging by entailment is not installed", hint=_EXTRA) from error
    weights = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if weights is None:
        raise UsageError(f"{folder} has none of {', '.join(WEIGHTS)}", hint=_LAYOUT)
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = _ONLY_ERRORS
    try:
        return onnxruntime.InferenceSession(
            str(weights), settings, providers=["CPUExecutionProvider"]
        )
    except _faults() as error:
        raise UsageError(f"{weights} cannot be used: {error}", hint=_LAYOUT) from error


def _faults() -> tuple[type[Exception], ...]:
    """What onnxruntime raises for a model that it cannot use."""
    from onnxruntime.capi import onnxruntime_pybind11_state as fault  # noqa: PLC0415 - an extra

    unfit = (fault.Fail, fault.InvalidProtobuf, fault.InvalidGraph, fault.InvalidArgument)
    return (*unfit, fault.NotImplemented, fault.RuntimeException)
