"""Passages as statements: sentences with their tokens, ready to be compared with a claim."""

from __future__ import annotations

import functools
import itertools
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.language.dates import Date, find_dates
from agent.evidence.language.figures import Figure, find_figures
from agent.evidence.language.names import Name, find_names
from agent.evidence.language.normalise import Token, tokenise, words_of
from agent.evidence.language.thesaurus import synonyms
from agent.evidence.language.vocabulary import FUNCTION
from agent.types import Passage
from browser.text import clean, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_COMMON_ENDING = re.compile(r"(?:ing|ion|ment|ity|ness|ship|er|or|ist)s?$")
"""What nouns that are no names end in; a word without it that opens a claim may be a name."""

CACHED_TEXTS = 4096
"""Passages whose analysis is kept: a run cites the same passages again and again."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a text, `text[start:end]`, as tokens; `words` are those but punctuation.

    `content` are the roots that carry meaning, `phrase` the pairs of them that follow each other.
    """

    start: int
    end: int
    tokens: tuple[Token, ...]
    words: tuple[Token, ...]
    roots: tuple[str, ...]
    content: frozenset[str]
    phrase: frozenset[tuple[str, str]]
    figures: tuple[Figure, ...]
    dates: tuple[Date, ...]
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a passage, at its place in reading order."""

    passage: Passage
    sentence: Sentence
    place: int

    @property
    def quote(self) -> str:
        """The sentence as it stands in the passage, literally."""
        return self.passage.text[self.sentence.start : self.sentence.end]


class Run(NamedTuple):
    """Where a sequence of words stands in a ground's stream of roots."""

    start: int
    end: int


class Ground:
    """All that a claim is compared with: the statements of the passages, in reading order."""

    def __init__(self, passages: Iterable[Passage | str]) -> None:
        self.passages = [_as_passage(p, i) for i, p in enumerate(passages, 1)]
        pairs = [(p, sentence) for p in self.passages for sentence in analyse(p.text)]
        self.statements = [Statement(p, s, place) for place, (p, s) in enumerate(pairs)]
        self._found_in = Counter(root for _, sentence in pairs for root in sentence.content)
        self._name_roots: set[str] | None = None
        self._by_beginning: dict[str, list[str]] = {}
        self.forms: dict[str, Mapping[str, float]] = {}
        """What of the page can stand for a word, by word: kept for the claims that share it."""
        self._stream, self._edges = " ", [0]
        for _, sentence in pairs:
            if sentence.roots:
                self._stream += " ".join(sentence.roots) + " "
            self._edges.append(len(self._stream) - 1)

    @functools.cached_property
    def topic(self) -> frozenset[str]:
        """Roots of what the page is about: the names of its first statement, its first heading."""
        if not self.statements:
            return frozenset()
        first = self.statements[0]
        heading = words_of(tokenise(first.passage.heading))
        names = (root for name in first.sentence.names for root in name.roots)
        return frozenset((*names, *content_of(heading)))

    @functools.cached_property
    def places(self) -> dict[str, list[tuple[int, int]]]:
        """Where each root stands: (statement, index of its token)."""
        found: dict[str, list[tuple[int, int]]] = {}
        for statement in self.statements:
            for i, token in enumerate(statement.sentence.tokens):
                if token.root in self:
                    found.setdefault(token.root, []).append((statement.place, i))
        return found

    def weight(self, root: str) -> float:
        """Rarity of a root among the statements; what stands in every one weighs little."""
        return math.log(1 + len(self.statements) / (0.5 + self._found_in[root]))

    def frequency(self, root: str) -> float:
        """Share of statements in which a root stands, 0 to 1."""
        return self._found_in[root] / len(self.statements) if self.statements else 0.0

    def occurrences(self, roots: Sequence[str]) -> Iterator[Run]:
        """Find every place where these roots stand one after the other, across sentences too."""
        wanted = f" {' '.join(roots)} "
        at = self._stream.find(wanted) if roots else -1
        while at >= 0:
            yield Run(at, at + len(wanted) - 1)
            at = self._stream.find(wanted, at + 1)

    def covering(self, run: Run) -> list[Statement]:
        """Give the statements that a run of words touches."""
        first = bisect_right(self._edges, run.start) - 1
        last = bisect_left(self._edges, run.end) - 1
        return self.statements[first : max(first, last) + 1]

    def before(self, run: Run) -> list[str]:
        """Roots between the start of the run's sentence and the run."""
        first = bisect_right(self._edges, run.start) - 1
        return self._stream[self._edges[first] : run.start].split()

    def between(self, left: Run, right: Run) -> list[str]:
        """Roots between two runs."""
        return self._stream[left.end : right.start].split()

    def vocabulary(self, beginning: str) -> Sequence[str]:
        """Roots on the page that begin with these four letters."""
        if not self._by_beginning:
            for root in self._found_in:
                self._by_beginning.setdefault(root[:4], []).append(root)
        return self._by_beginning.get(beginning, ())

    def is_name(self, name: Name) -> bool:
        """Whether a capitalised word is a name: not one that only opens its sentence."""
        if self._name_roots is None:
            found = (n for s in self.statements for n in s.sentence.names if n.certain)
            self._name_roots = {root for n in found for root in n.roots}
        return name.certain or name.roots[0] in self._name_roots or self._is_unheard(name)

    def _is_unheard(self, name: Name) -> bool:
        """Whether a word that opens a claim and does something is none that the page knows."""
        word = name.roots[0]
        known = word in self or bool(self.vocabulary(word[:4])) or len(synonyms(word)) > 1
        return name.acts and not known and not _COMMON_ENDING.search(word)

    def __contains__(self, root: str) -> bool:
        return root in self._found_in


@functools.lru_cache(maxsize=CACHED_TEXTS)
def analyse(text: str) -> tuple[Sentence, ...]:
    """Cut a text into sentences with their tokens; offsets are into `text`."""
    return tuple(_sentence(text, start, end) for start, end in sentences(text))


def read_claim(claim: str) -> Sentence:
    """Read a claim as one sentence."""
    return _sentence(claim, 0, len(claim))


def _sentence(text: str, start: int, end: int) -> Sentence:
    tokens = tokenise(clean(text[start:end]))
    words = words_of(tokens)
    roots = tuple(token.root for token in words)
    content = content_of(words)
    phrase = frozenset(itertools.pairwise(content))
    return Sentence(
        start=start,
        end=end,
        tokens=tuple(tokens),
        words=tuple(words),
        roots=roots,
        content=frozenset(content),
        phrase=phrase,
        figures=tuple(find_figures(tokens)),
        dates=tuple(find_dates(tokens)),
        names=tuple(find_names(tokens)),
    )


def _as_passage(passage: Passage | str, number: int) -> Passage:
    if isinstance(passage, Passage):
        return passage
    return Passage(id=f"S0¶{number}", source=0, text=passage, end=len(passage))


def content_of(words: Sequence[Token]) -> list[str]:
    """Roots of the words that carry meaning, in order."""
    return [token.root for token in words if token.root not in FUNCTION]
