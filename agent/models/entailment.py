"""A judge on this machine: claims decided by a cross-encoder for entailment, without a word sent.

It takes the request that any judge is sent, claims each with their passages, and answers in the
same form; it is told nothing else and answers no questions.
"""

from __future__ import annotations

import asyncio
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from agent.errors import UsageError
from agent.models.base import ModelReply, Task
from agent.models.crossencoder import CrossEncoder
from browser.text import content_words, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.models.base import Message

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
