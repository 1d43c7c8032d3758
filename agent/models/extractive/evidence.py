"""The sentences of all passages read so far, with what ranking needs to know of each."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from browser.text import content_words, sentences

if TYPE_CHECKING:
    from agent.models.extractive.observations import Notebook

_HEADING = re.compile(r"#{1,6} ")
_ROW = re.compile(r"\|.*\|$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, word for word, and where it stands.

    `stems` are its content stems; `around` those of its passage, its headings and its page's
    title, which a reader has in mind at this point; `place` counts sentences from the page's top.
    """

    text: str
    passage: str
    source: str
    title: str
    place: int
    stems: frozenset[str] = field(repr=False)
    around: frozenset[str] = field(repr=False)
    title_stems: frozenset[str] = field(repr=False)
    order: tuple[str, ...] = field(repr=False, default=())

    @property
    def length(self) -> int:
        """Words, counted at white space."""
        return len(self.text.split())


class Evidence:
    """All sentences read, and how rare each stem is among them."""

    def __init__(self, found: list[Sentence]) -> None:
        self.sentences = found
        self._spread = Counter(s for sentence in found for s in sentence.stems)

    def idf(self, stem: str) -> float:
        """Rarity of a stem among the sentences read, as BM25 counts it."""
        seen = self._spread.get(stem, 0)
        return math.log(1 + (len(self.sentences) - seen + 0.5) / (seen + 0.5))

    def __contains__(self, stem: object) -> bool:
        return stem in self._spread


def gather(notebook: Notebook) -> Evidence:
    """Collect the sentences of every page in the messages; a page read twice counts once."""
    found: list[Sentence] = []
    seen: set[tuple[str, str]] = set()
    for observation in notebook.observations:
        title = str(observation.data.get("title", ""))
        for passage in observation.passages():
            key = (observation.url, passage.text)
            if key not in seen:
                seen.add(key)
                found += _cut(passage.id, passage.text, title, len(found))
    return Evidence(found)


@functools.lru_cache(maxsize=4096)
def _cut(passage: str, text: str, title: str, place: int) -> tuple[Sentence, ...]:
    if _HEADING.match(text):
        return ()
    around = frozenset(content_words(text))
    title_stems = frozenset(content_words(title))
    return tuple(
        Sentence(
            text=piece,
            passage=passage,
            source=passage.split("¶")[0],
            title=title,
            place=place + n,
            stems=frozenset(order),
            around=around | title_stems,
            title_stems=title_stems,
            order=order,
        )
        for n, piece in enumerate(_pieces(text))
        if (order := tuple(content_words(piece)))
    )


def _pieces(text: str) -> list[str]:
    """Cut into sentences; a table row or list item is one of its own."""
    found: list[str] = []
    for line in text.split("\n"):
        if _ROW.match(line.strip()):
            found.append(line.strip())
        else:
            found += [line[span.start : span.end] for span in sentences(line)]
    return found
