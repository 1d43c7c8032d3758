"""The first layer of checking: a sentence that stands in the cited text.

Typography, ellipses, rows of tables (`Header: value`) and a question with its answer are allowed
for; other words for the same are not.
"""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.passages import HEADING_SEPARATOR, bare_title, cells_of, columns_of
from agent.evidence.tokens import denies, keys_of, tokens_of, words_of
from agent.types import Passage, Verdict, VerdictState
from browser.text.sentences import sentences
from browser.text.words import FOLDED, content_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.evidence.tokens import Token

LONGEST_GAP = 150
"""Words that an ellipsis may leave out: a long sentence or a short paragraph, not half a page."""
SHORT_GAP = 6
"""Words up to which a denial that an ellipsis leaves out belongs to the words around it."""
SHORTEST_PART = 2
"""Words of each part of an elliptic quotation: one word stands anywhere."""
SHORTEST = 3
"""Words of a sentence that is looked up as it is; fewer stand on a page by chance."""
NEAREST = 0.8
"""Share of the best sentence's score from which one is what a question is about."""
BEFORE = 0.25
"""Share of its score that the next sentence gets: the subject is often named just before. Both set
on the question-and-answer pairs of the closed web (54 of 60 carried, 2 of 60 wrong ones)."""
LONGEST_FRAGMENT = 8
"""Words of an answer such as `Ada Holm.`; a longer row of names is a list."""

_ELLIPSIS = re.compile(r"\s*[\[(]?(?:…|\.\.\.+|\. \. \.)[\])]?\s*")
# English and German; a sentence in another language is looked up as it is.
_ARTICLES = frozenset("the a an der die das".split())
_ASKING = frozenset("who whom whose what when where which why how wer was wann wo wie".split())
_JOINING = _ARTICLES | frozenset("and or of in on at by from to und oder von".split())
_QUALIFYING = frozenset(
    """may might could would if whether unless until except reportedly allegedly supposedly claimed
    believed false myth""".split()
)
"""Words that make something else than a statement of the clause beside them."""
_REPORTING = frozenset("that dass".split())
"""Right before a clause these make it what somebody says or thinks."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a passage, or a row of a table, with its words and their keys."""

    passage: Passage
    start: int
    end: int
    tokens: tuple[Token, ...]
    words: tuple[Token, ...]
    keys: tuple[str, ...]

    @property
    def quote(self) -> str:
        """The sentence as it stands in its passage."""
        return self.passage.text[self.start : self.end]


class Ground:
    """Passages, cut into statements: what a claim is held against.

    `titles` are the titles of the pages by their source's number.
    """

    def __init__(
        self, passages: Sequence[Passage | str], titles: Mapping[int, str] | None = None
    ) -> None:
        self.passages = [
            given if isinstance(given, Passage) else Passage(f"¶{n}", 0, given)
            for n, given in enumerate(passages, 1)
        ]
        self._titles = titles or {}
        self.statements = [one for passage in self.passages for one in _statements(passage)]
        # All keys in one string, so that a run of words is found by a search for text.
        self._words: list[tuple[Statement, int]] = []
        self._offsets: list[int] = []
        self._text = " "
        pieces, at, before = [""], 1, None
        for statement in self.statements:
            if statement.passage is not before:
                pieces.append("¶")  # a quotation does not go from one passage to the next
                at += 2
            before = statement.passage
            for i, key in enumerate(statement.keys):
                self._words.append((statement, i))
                self._offsets.append(at)
                pieces.append(key)
                at += len(key) + 1
        self._text = " ".join([*pieces, ""])

    def find(self, keys: Sequence[str], after: int = 0) -> Iterator[tuple[int, int]]:
        """Find where these words stand one after the other: first word and the one behind them."""
        wanted = f" {' '.join(keys)} "
        at = self._text.find(wanted)
        while at >= 0:
            first = bisect_right(self._offsets, at)
            if first >= after:
                yield first, first + len(keys)
            at = self._text.find(wanted, at + 1)

    def between(self, first: int, end: int) -> list[str]:
        """Give the keys of the words from `first` up to `end`."""
        return [statement.keys[i] for statement, i in self._words[first:end]]

    def around(self, first: int, end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Give the keys of the sentence that stand before some words, and of that behind them."""
        (opening, i), (closing, last) = self._words[first], self._words[end - 1]
        return opening.keys[:i], closing.keys[last + 1 :]

    def quote(self, first: int, end: int) -> tuple[str, Passage]:
        """Quote the whole sentences of some words, as far as they stand in one passage."""
        opening, closing = self._words[first][0], self._words[end - 1][0]
        passage = opening.passage
        last = closing.end if closing.passage is passage else len(passage.text)
        return passage.text[opening.start : last], passage

    def topics(self, passage: Passage) -> list[list[str]]:
        """Give what a passage may be about, as keys: its page's title and the headings above it."""
        title = bare_title(self._titles.get(passage.source, ""))
        found = map(keys_of, [title, *passage.heading.split(HEADING_SEPARATOR)])
        return [keys[keys[0] in _ARTICLES :] for keys in found if keys]

    @functools.cached_property
    def stems(self) -> list[frozenset[str]]:
        """The stems of each statement's content words, with those of its headings and title."""
        above = {
            passage.id: frozenset(
                content_words(f"{self._titles.get(passage.source, '')} {passage.heading}")
            )
            for passage in self.passages
        }
        return [frozenset(content_words(s.quote)) | above[s.passage.id] for s in self.statements]


def _statements(passage: Passage) -> Iterator[Statement]:
    whole = passage.kind == "table"
    for start, end in [(0, len(passage.text))] if whole else sentences(passage.text):
        if passage.text.startswith(FOLDED, start):
            start += len(FOLDED)  # noqa: PLW2901 - it is no word of the sentence
        tokens = tuple(
            token._replace(start=token.start + start, end=token.end + start)
            for token in tokens_of(passage.text[start:end])
        )
        words = tuple(words_of(tokens))
        yield Statement(passage, start, end, tokens, words, tuple(word.key for word in words))


def check_literal(claim: str, ground: Ground) -> Verdict | None:
    """Say that a claim is supported where it stands in the passages; None where it does not.

    What stands there behind a denial, a condition or a hedge, or with a denial left out, is no
    support: such a claim is undecided, and the reason says why.
    """
    asked, mark, answer = claim.partition("?")
    if not (mark and answer.strip()):
        asked, mark, answer = claim.rpartition(": ")
    if mark and _ASKING & set(keys_of(asked)) and keys_of(answer):
        return _check_answered(asked, answer, ground) or _check_row(answer, ground, named=True)
    row = _check_row(claim, ground)
    if row or is_fragment(claim):
        return row
    parts = [keys for part in _ELLIPSIS.split(claim) if (keys := keys_of(part))]
    if len(parts) == 1:
        return _check_quoted(parts, ground) if len(parts[0]) >= SHORTEST else None
    fits = parts and min(map(len, parts)) >= SHORTEST_PART
    return _check_quoted(parts, ground) if fits else None


def is_fragment(text: str) -> bool:
    """Tell whether an answer has no verb: a name, a date or a number alone, or a few of them."""
    words = words_of(tokens_of(text))
    return 0 < len(words) <= LONGEST_FRAGMENT and all(
        word.capital
        or word.kind != "word"
        or word.key in _JOINING
        or (before is not None and before.kind == "number")
        for before, word in zip([None, *words], words, strict=False)
    )


def _check_quoted(parts: Sequence[Sequence[str]], ground: Ground) -> Verdict | None:
    """Find a quotation, its parts in their order where an ellipsis stands between them."""
    qualified: Verdict | None = None
    for first, end in ground.find(parts[0]):
        last, hidden = end, list[str]()
        for part in parts[1:]:
            run = next(ground.find(part, last), None)
            if run is None or run[0] - last > LONGEST_GAP:
                break
            if run[0] - last <= SHORT_GAP:
                hidden += ground.between(last, run[0])
            last = run[1]
        else:
            quote, passage = ground.quote(first, last)
            before, behind = ground.around(first, last)
            words = [key for key in before if denies(key) or key in _QUALIFYING]
            words += [key for key in before[-1:] if key in _REPORTING]
            words += [key for key in behind[:1] if key in _QUALIFYING]
            left_out = [key for key in hidden if denies(key) or key in _QUALIFYING]
            if not (left_out or words):
                how = "it stands there word for word"
                how = how if len(parts) == 1 else "its parts stand there in this order"
                return Verdict(VerdictState.SUPPORTED, quote, how, passage=passage.id)
            reason = f"the page qualifies these words with “{next(iter(words), '')}”"
            if left_out:
                reason = f"the ellipsis leaves out “{left_out[0]}”"
            qualified = Verdict(VerdictState.UNDECIDED, quote, reason, passage=passage.id)
    return qualified


def _check_row(claim: str, ground: Ground, *, named: bool = False) -> Verdict | None:
    """Look for the row that a claim such as `First lit: 1829 (Hesk Light)` reads out.

    `named` asks for the name of a column in it.
    """
    parts: list[list[str]] = [[]]
    for token in tokens_of(claim):
        if token.kind != "mark":
            parts[-1].append(token.key)
        elif token.key in ":;,|()–—=":
            parts.append([])
    parts = [part for part in parts if part]
    for statement in ground.statements if len(parts) > 1 else ():
        passage = statement.passage
        names = [keys_of(name) for name, _ in columns_of(passage)]
        if passage.kind != "table" or (named and not any(name in parts for name in names)):
            continue
        if _reads_row(parts, names, passage, ground.topics(passage)):
            quote, how = statement.quote.strip(), "the row of the table says so"
            return Verdict(VerdictState.SUPPORTED, quote, how, passage=passage.id)
    return None


def _reads_row(
    parts: Sequence[list[str]],
    names: Sequence[list[str]],
    row: Passage,
    topics: Sequence[list[str]],
) -> bool:
    """Tell whether the parts are cells of a row, each behind its column's name or in order."""
    cells = [keys_of(cell) for cell in cells_of(row.text)]
    met, at = 0, 0
    rest = list(parts)
    while rest:
        part = rest.pop(0)
        if part in names and rest and rest[0] == cells[names.index(part)]:
            rest.pop(0)
            met += 1
        elif part in cells[at:]:
            at += cells[at:].index(part) + 1
            met += 1
        elif part not in topics:
            return False
    return met > 1 or (met == 1 and bool(names))


def _check_answered(asked: str, answer: str, ground: Ground) -> Verdict | None:
    """Say that an answer is supported where it stands in the statement nearest to its question."""
    wanted, given = frozenset(content_words(asked)), keys_of(answer)
    if set(given) <= set(keys_of(asked)):
        return None
    spread = Counter(stem for stems in ground.stems for stem in stems & wanted)
    weight = {stem: math.log(1 + len(ground.stems) / spread[stem]) for stem in spread}
    own = [sum(weight[stem] for stem in stems & wanted) for stems in ground.stems]
    scores = [score + BEFORE * before for score, before in zip(own, [0.0, *own], strict=False)]
    enough = max(NEAREST * max(scores, default=0.0), 1e-9)
    said = f" {' '.join(given)} "
    for statement, score in zip(ground.statements, scores, strict=True):
        if score >= enough and said in f" {' '.join(statement.keys)} ":
            how = "it stands in the sentence that the question is about"
            where = statement.passage.id
            return Verdict(VerdictState.SUPPORTED, statement.quote, how, passage=where)
    return None
