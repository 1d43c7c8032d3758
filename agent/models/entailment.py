"""A judge on this machine: claims decided by a cross-encoder for entailment, without a word sent.

It takes the request that any judge is sent, claims each with their passages, and answers in the
same form; it is told nothing else and answers no questions.
"""

from __future__ import annotations

import asyncio
import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agent.errors import UsageError
from agent.models.base import ModelReply, Task
from browser.text import content_words, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.types import Message

ENTAILS: Final = 0.8
"""From here on a claim is supported. A judge that supports what is wrong costs more than one that
leaves open what is right, hence above one half. Not fitted: no weights were at hand to measure."""
CONTRADICTS: Final = 0.95
"""From here on it is contradicted, if nothing makes it likely: such models take a passage about
another matter for a contradiction more easily than for support."""
UNLIKELY: Final = 0.5
SENTENCES: Final = 2
"""Sentences of a passage that are taken together: what `it` is stands in the one before."""
WINDOWS: Final = 12
"""Pieces of its passages that a claim is held against, those with most of its words: some 30 ms
each on one core."""
_GROUP = re.compile(r"^(Claim \d+: .*?)\n<web>\n(.*?)\n</web>$", re.DOTALL | re.MULTILINE)
"""Claims, and the passages that all of them cite."""
_CLAIM = re.compile(r"^Claim (\d+): (.*?)(?=\nClaim \d+: |\Z)", re.DOTALL | re.MULTILINE)
_PLACE = re.compile(r"\(([^()]*)\) ")


class EntailmentModel:
    """Judges by the cross-encoder of a folder, or of an installed package of that name."""

    def __init__(self, name: str) -> None:
        """Load it; raises `UsageError` where it cannot be used."""
        self.name = f"entailment:{Path(name).name}"
        self._encoder = CrossEncoder(_folder(name))

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:  # noqa: ARG002 - the rules are its system prompt
        """Decide the claims of a judge's request; raises `UsageError` where asked for else."""
        groups = _GROUP.findall(messages[-1].content)
        claims = [(*claim, web) for told, web in groups for claim in _CLAIM.findall(told)]
        if not claims:
            hint = "Name it with --judge, and with --model one that answers."
            raise UsageError(f"{self.name} judges claims, and answers no questions", hint=hint)
        lines = await asyncio.to_thread(lambda: [self._line(*claim) for claim in claims])
        return ModelReply(text="\n".join(lines), model=self.name)

    def takes(self, task: Task) -> bool:
        """Judging, and nothing else."""
        return task is Task.JUDGE

    async def aclose(self) -> None:
        """Nothing is held open."""

    def _line(self, number: str, claim: str, passages: str) -> str:
        windows = _nearest(claim, [w for line in passages.splitlines() for w in _windows(line)])
        related = [(self._encoder.relation(window.premise, claim), window) for window in windows]
        if not related:
            return f"{number}: undecided"
        best, carrying = max(related, key=lambda pair: _rank(pair[0].entails, pair[1]))
        worst, against = max(related, key=lambda pair: _rank(pair[0].contradicts, pair[1]))
        if best.entails >= ENTAILS:
            return f'{number}: supported "{carrying.quote}"'
        if worst.contradicts >= CONTRADICTS and best.entails < UNLIKELY:
            return f'{number}: contradicted "{against.quote}"'
        return f"{number}: undecided"


class _Window(NamedTuple):
    """A piece of a passage: as the model reads it, and as it stands there."""

    premise: str
    quote: str


def _windows(line: str) -> Iterator[_Window]:
    """Cut a passage into its sentences, by themselves and with the next one, and give it whole.

    Each stands behind the place of the passage, which says what it is about.
    """
    found = _PLACE.match(line)
    place, text = (f"{found[1]}: ", line[found.end() :]) if found else ("", line)
    spans = sentences(text)
    ends = {(a, min(a + size, len(spans))) for a in range(len(spans)) for size in (1, SENTENCES)}
    for first, last in sorted(ends | {(0, len(spans))} if spans else ()):
        piece = text[spans[first].start : spans[last - 1].end]
        yield _Window(place + piece, piece)


def _nearest(claim: str, windows: Sequence[_Window]) -> list[_Window]:
    """Choose the pieces that have most of a claim's words, each once."""
    wanted = set(content_words(claim))
    unique = list(dict.fromkeys(windows))
    return sorted(unique, key=lambda w: -len(wanted & set(content_words(w.premise))))[:WINDOWS]


def _rank(sure: float, window: _Window) -> tuple[float, int]:
    """Of pieces that say it alike the shortest is the quote."""
    return round(sure, 3), -len(window.quote)


def _folder(name: str) -> Path:
    """Find a model's folder: a path, or the folder of an installed package."""
    folder = Path(name).expanduser()
    spec = find_spec(name) if name.isidentifier() and not folder.is_dir() else None
    return Path(spec.origin).parent if spec is not None and spec.origin else folder


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


class Entailment(NamedTuple):
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

    def relation(self, premise: str, hypothesis: str) -> Entailment:
        """Judge one pair by itself: what else is asked makes no difference."""
        import numpy as np  # noqa: PLC0415 - an extra

        logits = self._logits(premise, hypothesis)
        odds = np.exp(logits - logits.max())
        shares: Sequence[float] = (odds / odds.sum()).tolist()
        against = 0.0 if self._contradicts is None else shares[self._contradicts]
        return Entailment(shares[self._entails], against)

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
