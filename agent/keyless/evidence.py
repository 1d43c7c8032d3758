"""The sentences of all passages read so far, with what ranking needs to know of each."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.keyless.implied import implied
from agent.keyless.names import bare_title
from browser.text import content_words, sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.keyless.notebook import Notebook
    from agent.keyless.observations import Cited, Observation

_HEADING = re.compile(r"#{1,6} +(.*)")
_ROW = re.compile(r"\|.*\|")
_BULLET = re.compile(r"^(?:[-*•‣◦]|\d{1,3}[.)])\s+")
_ENDS = re.compile(r"[.!?。！？|][\"'”’)\]»]*$")
_CUT = "…"
_TRAIL = re.compile(r"^[^.!?|]{1,60}(?: [›»] [^.!?|]{1,60})+$")
BROUGHT = 150
"""Words that an action brings, up to which they are taken to speak of one thing."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, word for word, and where it stands.

    `stems` are its content stems in order; `own` the same as a set; `implied` those of what its
    notation says without words; `around` those of its passage, of the headings above it and of
    its page's title, which a reader has in mind there; `length` counts words at white space.
    """

    text: str
    passage: str
    source: str
    title: str
    length: int
    stems: tuple[str, ...] = field(repr=False)
    own: frozenset[str] = field(repr=False)
    implied: frozenset[str] = field(repr=False)
    around: frozenset[str] = field(repr=False)
    title_stems: frozenset[str] = field(repr=False)

    @property
    def is_whole(self) -> bool:
        """Whether it ends as a sentence does, or is a row of a table."""
        return _ENDS.search(self.text) is not None

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return self.text.startswith("|")

    def speaks_of(self, stems: frozenset[str]) -> bool:
        """Whether all these stems stand in the sentence or in its page's title."""
        return stems <= self.own | self.title_stems


class Evidence:
    """All sentences read, and how rare each stem is among them."""

    def __init__(self, found: list[Sentence]) -> None:
        self.sentences = found
        self.vocabulary = frozenset(s for sentence in found for s in sentence.around)
        self._spread = Counter(s for sentence in found for s in sentence.own)

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """All words read, case-folded, as they are written."""
        return frozenset(w for sentence in self.sentences for w in words(sentence.text))

    def idf(self, stem: str) -> float:
        """Rarity of a stem among the sentences read, as BM25 counts it."""
        seen = self._spread.get(stem, 0)
        return math.log(1 + (len(self.sentences) - seen + 0.5) / (seen + 0.5))

    def sources_of(self, stems: frozenset[str]) -> int:
        """How many sources have a sentence that speaks of all these stems."""
        return len({s.source for s in self.sentences if s.speaks_of(stems)})


def gather(notebook: Notebook) -> Evidence:
    """Collect the sentences of every page in the messages; a page read twice counts once."""
    titles = {o.data.get("source"): o.title for o in notebook.observations if o.title}
    by_url = {o.url: o.title for o in notebook.observations if o.title}
    headers: dict[tuple[str, int], str] = {}
    found: dict[tuple[str, str], Sentence] = {}
    for observation in notebook.observations:
        title = titles.get(observation.data.get("source")) or by_url.get(observation.url, "")
        for passage, near in _with_surroundings(observation, headers):
            for sentence in _cut(passage.id, passage.text, title, near):
                found.setdefault((sentence.source, sentence.text), sentence)
    return Evidence(list(found.values()))


def _with_surroundings(
    observation: Observation, headers: dict[tuple[str, int], str]
) -> Iterator[tuple[Cited, str]]:
    """Each passage but headings, with what a reader has in mind there.

    That is the heading above it, for table rows the table's first row, and for text that an
    action brought what was done and the rest of it, if that is little. Rows that an action
    brought without a header go under the page's earlier one of as many cells: `headers`.
    """
    passages = observation.passages()
    brought = " ".join(p.text for p in passages) if observation.tool != "READ" else ""
    brought = brought if len(brought.split()) <= BROUGHT else ""
    brought = f"{brought} {observation.data.get('did', '')}"
    acted = observation.tool != "READ"
    heading, header = "", ""
    for passage in passages:
        above = _HEADING.fullmatch(passage.text)
        if above:
            heading = above[1]
            continue
        row = _ROW.fullmatch(passage.text.strip()) is not None
        kind = (observation.url, passage.text.count("|"))
        if row and not header:
            header = headers.setdefault(kind, passage.text) if acted else passage.text
            headers.setdefault(kind, header)
        header = header if row else ""
        yield passage, f"{heading} {header} {brought}"


@functools.lru_cache(maxsize=8192)
def _cut(passage: str, text: str, title: str, near: str) -> tuple[Sentence, ...]:
    title_stems = frozenset(content_words(bare_title(title)))
    around = frozenset(content_words(f"{text} {near} {title}"))
    return tuple(
        Sentence(
            text=piece,
            passage=passage,
            source=passage.partition("¶")[0],
            title=title,
            length=len(piece.split()),
            stems=stems,
            own=frozenset(stems),
            implied=implied(piece),
            around=around,
            title_stems=title_stems,
        )
        for piece in _pieces(text)
        if (stems := tuple(content_words(piece)))
    )


def _pieces(text: str) -> list[str]:
    """Cut into sentences; a table row is one of its own, and one that was cut short is none."""
    found: list[str] = []
    for line in text.split("\n"):
        bare = _BULLET.sub("", line.strip())
        if _ROW.fullmatch(bare):
            found.append(bare)
        else:
            found += [bare[span.start : span.end] for span in sentences(bare)]
    return [piece for piece in found if not piece.endswith(_CUT) and not _TRAIL.search(piece)]
