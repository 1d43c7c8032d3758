"""The first layer of checking: a sentence that stands in the cited text.

Typography, ellipses, rows of tables (`Header: value`) and a question with its answer are allowed
for; other words for the same are not.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.passages import HEADING_SEPARATOR, cells_of, columns_of
from agent.evidence.wording import denies, keys_of, tokens_of, words_of
from agent.types import Passage, Verdict, VerdictState
from browser.text.sentences import sentences
from browser.text.words import FOLDED, content_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.evidence.wording import Token

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
    """may might could would if whether unless reportedly allegedly supposedly rumoured rumored
    claim claims claimed believe believes believed deny denies denied false myth""".split()
)
"""Words that make something else than a statement of the clause behind them."""
_REPORTING = frozenset("that dass".split())
"""Right before a clause these make it what somebody says or thinks."""
_CONDITIONS = frozenset("if unless except until".split())
_TITLE_ENDS = (" - ", " – ", " — ", " | ", " (", ": ", " · ")


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
        self.passages = [_as_passage(given, n) for n, given in enumerate(passages, 1)]
        self._titles = titles or {}
        self.statements = [one for passage in self.passages for one in _statements(passage)]
        pieces: list[str] = []
        self._starts: list[int] = []
        self._places: list[tuple[int, int]] = []
        at = 1
        before: Passage | None = None
        for number, statement in enumerate(self.statements):
            passage = statement.passage
            if before is not None and passage is not before and not _goes_on(before, passage):
                pieces.append("¶")
                at += 2
            before = passage
            for i, key in enumerate(statement.keys):
                self._starts.append(at)
                self._places.append((number, i))
                pieces.append(key)
                at += len(key) + 1
        self._text = f" {' '.join(pieces)} "

    def find(self, keys: Sequence[str], after: int = 0) -> Iterator[tuple[int, int]]:
        """Find where these words stand one after the other: first word and the one behind them."""
        wanted = f" {' '.join(keys)} "
        at = self._text.find(wanted)
        while at >= 0:
            first = bisect_right(self._starts, at)
            if first >= after:
                yield first, first + len(keys)
            at = self._text.find(wanted, at + 1)

    def place(self, word: int) -> tuple[Statement, int]:
        """Give the statement of a word, and its place there."""
        number, i = self._places[word]
        return self.statements[number], i

    def between(self, first: int, end: int) -> list[str]:
        """Give the keys of the words from `first` up to `end`."""
        found = (self.place(word) for word in range(first, end))
        return [statement.keys[i] for statement, i in found]

    def quote(self, first: int, end: int) -> tuple[str, Passage]:
        """Quote the whole sentences of some words, as far as they stand in one passage."""
        opening, closing = self.place(first)[0], self.place(end - 1)[0]
        last = closing.end if closing.passage is opening.passage else len(opening.passage.text)
        return opening.passage.text[opening.start : last], opening.passage

    def topics(self, passage: Passage) -> list[list[str]]:
        """Give what a passage may be about, as keys: its page's title and the headings above it."""
        title = self._titles.get(passage.source, "")
        for end in _TITLE_ENDS:
            title = title.partition(end)[0]
        parts = [title, *passage.heading.split(HEADING_SEPARATOR)]
        return [keys for part in parts if (keys := _without_article(keys_of(part)))]

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


def check_literal(claim: str, ground: Ground) -> Verdict | None:
    """Say that a claim is supported where it stands in the passages; None where it does not.

    What stands there behind a denial, a condition or a hedge, or with a denial left out, is no
    support: such a claim is undecided, and the reason says why.
    """
    question = _question_and_answer(claim)
    if question:
        return _check_answered(*question, ground) or _check_row(question[1], ground, named=True)
    row = _check_row(claim, ground)
    if row or is_fragment(claim):
        return row
    parts = [keys for part in _ELLIPSIS.split(claim) if (keys := keys_of(part))]
    if len(parts) > 1:
        return _check_parts(parts, ground)
    whole = parts[0] if parts else []
    if len(whole) < SHORTEST:
        return None
    return _check_run(whole, ground, "it stands there word for word")


def is_fragment(text: str) -> bool:
    """Tell whether an answer has no verb: a name, a date or a number alone, or a few of them."""
    words = words_of(tokens_of(text))
    counted = (None, *words)
    return 0 < len(words) <= LONGEST_FRAGMENT and all(
        word.capital
        or word.kind != "word"
        or word.key in _JOINING
        or (before is not None and before.kind == "number")
        for before, word in zip(counted, words, strict=False)
    )


def _as_passage(given: Passage | str, number: int) -> Passage:
    return given if isinstance(given, Passage) else Passage(f"¶{number}", 0, given)


def _goes_on(before: Passage, passage: Passage) -> bool:
    """Tell whether a passage is the next piece of one long paragraph."""
    texts = before.kind == passage.kind == "text" and before.source == passage.source
    return texts and 0 < before.end <= passage.start <= before.end + 1


def _statements(passage: Passage) -> Iterator[Statement]:
    whole = passage.kind == "table"
    spans = [(0, len(passage.text))] if whole else sentences(passage.text)
    for start, end in spans:
        start += len(FOLDED) * passage.text.startswith(FOLDED, start)  # noqa: PLW2901 - it is no word
        tokens = tuple(
            token._replace(start=token.start + start, end=token.end + start)
            for token in tokens_of(passage.text[start:end])
        )
        words = tuple(words_of(tokens))
        keys = tuple(word.key for word in words)
        yield Statement(passage, start, end, tokens, words, keys)


def _check_run(keys: Sequence[str], ground: Ground, said: str) -> Verdict | None:
    found: Verdict | None = None
    for first, end in ground.find(keys):
        quote, passage = ground.quote(first, end)
        qualifier = _qualifier(ground, first, end)
        if qualifier is None:
            return _supported(quote, passage, said)
        reason = f"the page qualifies these words with “{qualifier}”"
        found = Verdict(VerdictState.UNDECIDED, quote, reason, passage=passage.id)
    return found


def _qualifier(ground: Ground, first: int, end: int) -> str | None:
    """Find what turns words cut out of their sentence into something else than a statement."""
    opening, i = ground.place(first)
    closing, last = ground.place(end - 1)
    before = (key for key in opening.keys[:i] if denies(key) or key in _QUALIFYING)
    said_by = (key for key in opening.keys[max(0, i - 1) : i] if key in _REPORTING)
    after = (key for key in closing.keys[last + 1 : last + 2] if key in _CONDITIONS)
    return next(itertools.chain(before, said_by, after), None)


def _check_parts(parts: Sequence[Sequence[str]], ground: Ground) -> Verdict | None:
    if any(len(part) < SHORTEST_PART for part in parts):
        return None
    for first, end in ground.find(parts[0]):
        last, gaps = end, []
        for part in parts[1:]:
            run = next(ground.find(part, last), None)
            if run is None or run[0] - last > LONGEST_GAP:
                break
            gaps.append(ground.between(last, run[0]))
            last = run[1]
        else:
            quote, passage = ground.quote(first, last)
            short = itertools.chain(*(gap for gap in gaps if len(gap) <= SHORT_GAP))
            hidden = [key for key in short if denies(key) or key in _QUALIFYING]
            if not hidden:
                return _supported(quote, passage, "its parts stand there in this order")
            reason = f"the ellipsis leaves out “{hidden[0]}”"
            return Verdict(VerdictState.UNDECIDED, quote, reason, passage=passage.id)
    return None


def row_parts(claim: str) -> list[list[str]]:
    """Cut a claim such as `First lit: 1829 (Hesk Light)` where its marks are."""
    parts: list[list[str]] = [[]]
    for token in tokens_of(claim):
        if token.kind != "mark":
            parts[-1].append(token.key)
        elif token.key in ":;,|()–—=" and parts[-1]:
            parts.append([])
    return [part for part in parts if part]


def _check_row(claim: str, ground: Ground, *, named: bool = False) -> Verdict | None:
    """Look for the row that a claim reads out; `named` asks for the name of a column in it."""
    parts = row_parts(claim)
    if len(parts) < 2:
        return None
    for statement in ground.statements:
        if named and not any(keys_of(n) in parts for n, _ in columns_of(statement.passage)):
            continue
        if statement.passage.kind == "table" and _reads_row(parts, statement, ground):
            said = "the row of the table says so"
            return _supported(statement.quote.strip(), statement.passage, said)
    return None


def _reads_row(parts: Sequence[Sequence[str]], row: Statement, ground: Ground) -> bool:
    """Tell whether the parts are cells of a row, each behind its column's name or in order."""
    columns = [(keys_of(name), keys_of(cell)) for name, cell in columns_of(row.passage)]
    cells = [cell for _, cell in columns] or [keys_of(cell) for cell in cells_of(row.passage.text)]
    heads = [name for name, _ in columns]
    topics = ground.topics(row.passage)
    met, at = 0, 0
    rest = [list(part) for part in parts]
    while rest:
        part = rest.pop(0)
        if part in heads and rest and rest[0] == cells[heads.index(part)]:
            rest.pop(0)
            met += 1
        elif part in cells[at:]:
            at += cells[at:].index(part) + 1
            met += 1
        elif part not in topics:
            return False
    return met > 1 or (met == 1 and bool(heads))


def _question_and_answer(claim: str) -> tuple[str, str] | None:
    """Take a claim in the form of a question and its answer apart."""
    asked, mark, answer = claim.partition("?")
    if not (mark and answer.strip()):
        asked, mark, answer = claim.rpartition(": ")
    asking = mark and _ASKING & set(keys_of(asked))
    return (asked, answer) if asking and keys_of(answer) else None


def _check_answered(asked: str, answer: str, ground: Ground) -> Verdict | None:
    """Say that an answer is supported where it stands in the statement nearest to its question."""
    wanted, given = frozenset(content_words(asked)), keys_of(answer)
    if set(given) <= set(keys_of(asked)):
        return None
    spread = Counter(stem for stems in ground.stems for stem in stems & wanted)
    weight = {stem: math.log(1 + len(ground.stems) / spread[stem]) for stem in spread}
    own = [sum(weight[stem] for stem in stems & wanted) for stems in ground.stems]
    scores = [a + BEFORE * b for a, b in zip(own, [0.0, *own], strict=False)]
    enough = max(NEAREST * max(scores, default=0.0), 1e-9)
    for statement, score in zip(ground.statements, scores, strict=True):
        if score >= enough and _holds(statement.keys, given):
            said = "it stands in the sentence that the question is about"
            return _supported(statement.quote, statement.passage, said)
    return None


def _holds(keys: Sequence[str], wanted: Sequence[str]) -> bool:
    return f" {' '.join(wanted)} " in f" {' '.join(keys)} "


def _without_article(keys: Sequence[str]) -> list[str]:
    return list(keys[1:] if keys and keys[0] in _ARTICLES else keys)


def _supported(quote: str, passage: Passage, said: str) -> Verdict:
    return Verdict(VerdictState.SUPPORTED, quote, said, passage=passage.id)
