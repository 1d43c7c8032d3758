"""The first layer of claim checking: finds sentences that appear literally in the cited text.

It accepts typographic differences, quotations with ellipses, table rows (`Header: value`), and a
question with its answer, but not paraphrases.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.evidence.facts import extract_facts
from agent.evidence.passages import HEADING_SEPARATOR, bare_title, named_cells, split_row
from agent.evidence.tokens import is_negation, runs_on, token_keys, tokenize, word_tokens
from agent.types import Passage, Verdict, VerdictState
from browser.text.sentences import sentences
from browser.text.words import BM25, FOLDED, content_words, unspaced_characters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.evidence.tokens import Token

MAX_GAP_WORDS = 150
"""Maximum number of words that an ellipsis leaves out: a long sentence or a short paragraph."""
MAX_SHORT_GAP_WORDS = 6
"""Maximum number of omitted words that are checked for a negation or hedge."""
MIN_PART_WORDS = 2
"""Minimum number of words between ellipses in a quotation: a single word may match by chance."""
MIN_CLAIM_WORDS = 3
"""Minimum number of words in a sentence to look up: fewer can appear on a page by chance."""
MIN_QUESTION_SCORE = 0.8
"""Minimum score of a statement that matches the question, as a share of the best score."""
PREVIOUS_WEIGHT = 0.25
"""Share of a statement's score that is added to the next one's: the subject is often named just
before. Both were set on the closed web's question-answer pairs (54 of 60 right answers and 2 of 60
wrong ones are supported)."""
MIN_SUBJECT_SHARE = 2 / 3
"""Minimum share of the words in a question's names that must appear around a statement about its
subject. On two closed webs, this reduces the number of wrong names that are supported as answers
from 844 to 310 (of 3,052), and the number of right ones from 225 to 211 (of 260)."""
MAX_FRAGMENT_WORDS = 8
"""Maximum number of words in an answer without a verb (`Ada Holm.`); a longer one is a list."""

_ELLIPSIS = re.compile(r"\s*[\[(]?(?:…|\.\.\.+|\. \. \.)[\])]?\s*")
# English and German only; sentences in other languages are looked up literally.
_ARTICLES = frozenset("the a an der die das".split())
_QUESTION_WORDS = frozenset(
    "who whom whose what when where which why how wer was wann wo wie".split()
)
_CONNECTIVES = _ARTICLES | frozenset("and or of in on at by from to und oder von".split())
_QUALIFIERS = frozenset(
    """may might could would if whether unless until except reportedly allegedly supposedly claimed
    believed false myth""".split()
)
"""Words that make the adjacent clause uncertain."""
_REPORTING_WORDS = frozenset("that dass".split())
"""Words that turn the clause directly after them into reported speech."""
_EQUIVALENT_CHARS = ("'’‘`", '"“”„', "-–—‐‑−")
"""Characters that count as identical in a quotation."""
_QUOTE_EDGES = ' \t\n.,;:!?…*_"“”'
"""Characters at the ends of a quotation that may be missing from the text."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence in a passage, or a table row; `start` and `end` are offsets in the passage."""

    passage: Passage
    start: int
    end: int
    words: tuple[Token, ...]
    keys: tuple[str, ...]

    @property
    def quote(self) -> str:
        """The sentence as it appears in its passage."""
        return self.passage.text[self.start : self.end]


class StatementIndex:
    """An index of the statements in some passages, for finding sequences of words.

    `titles` maps source numbers to page titles. Positions are word indexes across all passages.
    """

    def __init__(
        self, passages: Sequence[Passage | str], titles: Mapping[int, str] | None = None
    ) -> None:
        self.passages = [
            passage if isinstance(passage, Passage) else Passage(f"¶{n}", 0, passage)
            for n, passage in enumerate(passages, 1)
        ]
        self._titles = titles or {}
        self.statements = [
            statement for passage in self.passages for statement in _statements(passage)
        ]
        # All keys in one string, so that a plain text search finds consecutive words. `_offsets[i]`
        # is the offset of word `i` in it.
        self._words: list[tuple[Statement, int]] = []
        self._offsets: list[int] = []
        pieces, at, previous = [""], 1, None
        for statement in self.statements:
            if statement.passage is not previous:
                pieces.append("¶")  # a quotation does not continue in the next passage
                at += 2
            previous = statement.passage
            for i, key in enumerate(statement.keys):
                self._words.append((statement, i))
                self._offsets.append(at)
                pieces.append(key)
                at += len(key) + 1
        self._text = " ".join([*pieces, ""])

    def find(self, keys: Sequence[str], after: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the (start, end) positions of these consecutive words, from `after` on."""
        wanted = f" {' '.join(keys)} "
        at = self._text.find(wanted)
        while at >= 0:
            first = bisect_right(self._offsets, at)
            if first >= after:
                yield first, first + len(keys)
            at = self._text.find(wanted, at + 1)

    def keys_between(self, first: int, end: int) -> list[str]:
        """Return the keys of the words from `first` up to `end`, exclusive."""
        return [statement.keys[i] for statement, i in self._words[first:end]]

    def keys_around(self, first: int, end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the keys before a span in its first sentence, and those after it in its last."""
        (opening, i), (closing, last) = self._words[first], self._words[end - 1]
        return opening.keys[:i], closing.keys[last + 1 :]

    def is_cut(self, first: int, end: int) -> bool:
        """Return whether a span may begin or end within a word, in a script without spaces."""
        (opening, i), (closing, last) = self._words[first], self._words[end - 1]
        pairs = [*pairwise(opening.words[max(0, i - 1) : i + 1])]
        pairs += pairwise(closing.words[last : last + 2])
        return any(runs_on(*pair) for pair in pairs)

    def quote(self, first: int, end: int) -> tuple[str, Passage]:
        """Return the full sentences that contain a span, within one passage, and the passage."""
        opening, closing = self._words[first][0], self._words[end - 1][0]
        passage = opening.passage
        last = closing.end if closing.passage is passage else len(passage.text)
        return passage.text[opening.start : last], passage

    def topics(self, passage: Passage) -> list[list[str]]:
        """Return the keys of a passage's page title and of each heading, without articles."""
        title = bare_title(self._titles.get(passage.source, ""))
        topics = map(token_keys, [title, *passage.heading.split(HEADING_SEPARATOR)])
        return [keys[1:] if keys[0] in _ARTICLES else keys for keys in topics if keys]

    @functools.cached_property
    def ranking(self) -> BM25:
        """The BM25 ranking of the statements, each with its headings and page title."""
        return BM25(content_words(f"{self._above(s)} {s.quote}") for s in self.statements)

    def context(self, number: int) -> str:
        """Return a statement with its page's title, its headings and the statement before it."""
        before = self.statements[number - 1].quote if number else ""
        statement = self.statements[number]
        return f"{self._above(statement)} {before} {statement.quote}"

    def _above(self, statement: Statement) -> str:
        passage = statement.passage
        return f"{self._titles.get(passage.source, '')} {passage.heading}"


def _statements(passage: Passage) -> Iterator[Statement]:
    is_row = passage.kind == "table"
    for start, end in [(0, len(passage.text))] if is_row else sentences(passage.text):
        if passage.text.startswith(FOLDED, start):
            start += len(FOLDED)  # noqa: PLW2901 - the mark is not a word of the sentence
        tokens = [
            token._replace(start=token.start + start, end=token.end + start)
            for token in tokenize(passage.text[start:end])
        ]
        words = tuple(word_tokens(tokens))
        yield Statement(passage, start, end, words, tuple(word.key for word in words))


def check_literal(claim: str, index: StatementIndex) -> Verdict | None:
    """Look up a claim in the passages; returns None if it does not occur there.

    The verdict is undecided, instead of supported, if the claim's words follow a negation,
    condition or hedge on the page, or if an ellipsis omits one; the reason names it.
    """
    question, mark, answer = claim.partition("?")
    if not (mark and answer.strip()):
        question, mark, answer = claim.rpartition(": ")
    if mark and _QUESTION_WORDS & set(token_keys(question)) and token_keys(answer):
        found = _check_question_answer(question, answer, index)
        return found or _check_row(answer, index, needs_column=True)
    row = _check_row(claim, index)
    if row or is_fragment(claim):
        return row
    parts = [keys for part in _ELLIPSIS.split(claim) if (keys := token_keys(part))]
    if len(parts) == 1:
        return _check_quoted(parts, index) if len(parts[0]) >= MIN_CLAIM_WORDS else None
    fits = parts and min(map(len, parts)) >= MIN_PART_WORDS
    return _check_quoted(parts, index) if fits else None


def is_fragment(text: str) -> bool:
    """Return whether `text` has no verb, only names, dates, and numbers with units."""
    words = word_tokens(tokenize(text))
    if not 0 < len(words) <= MAX_FRAGMENT_WORDS:
        return False
    after_number = False
    for word in words:
        is_value = word.capital or word.kind != "word"
        if not (is_value or word.key in _CONNECTIVES or after_number):
            return False
        after_number = word.kind == "number"
    return True


def _check_quoted(parts: Sequence[Sequence[str]], index: StatementIndex) -> Verdict | None:
    """Look up a quotation; `parts` are the keys between its ellipses, in order."""
    qualified: Verdict | None = None
    for first, end in index.find(parts[0]):
        last, omitted = end, list[str]()
        for part in parts[1:]:
            run = next(index.find(part, last), None)
            if run is None or run[0] - last > MAX_GAP_WORDS:
                break
            if run[0] - last <= MAX_SHORT_GAP_WORDS:
                omitted += index.keys_between(last, run[0])
            last = run[1]
        else:
            if index.is_cut(first, last):  # the rest of the word may negate it
                continue
            quote, passage = index.quote(first, last)
            before, behind = index.keys_around(first, last)
            words = [key for key in before if is_negation(key) or key in _QUALIFIERS]
            words += [key for key in before[-1:] if key in _REPORTING_WORDS]
            words += [key for key in behind[:1] if key in _QUALIFIERS]
            left_out = [key for key in omitted if is_negation(key) or key in _QUALIFIERS]
            if not (left_out or words):
                reason = "the passage contains it word for word"
                if len(parts) > 1:
                    reason = "the passage contains its parts in this order"
                return Verdict(VerdictState.SUPPORTED, quote, reason, passage=passage.id)
            if left_out:
                reason = f"the ellipsis leaves out “{left_out[0]}”"
            else:
                reason = f"the page qualifies these words with “{words[0]}”"
            qualified = Verdict(VerdictState.UNDECIDED, quote, reason, passage=passage.id)
    return qualified


def _check_row(claim: str, index: StatementIndex, *, needs_column: bool = False) -> Verdict | None:
    """Look for a table row that says the same as a claim such as `First lit: 1829 (Hesk Light)`.

    With `needs_column` the claim must name one of the row's columns.
    """
    parts: list[list[str]] = [[]]
    for token in tokenize(claim):
        if token.kind != "mark":
            parts[-1].append(token.key)
        elif token.key in ":;,|()–—=":
            parts.append([])
    parts = [part for part in parts if part]
    if len(parts) < 2:
        return None
    for statement in index.statements:
        passage = statement.passage
        names = [token_keys(name) for name, _ in named_cells(passage)]
        if passage.kind != "table" or (needs_column and not any(n in parts for n in names)):
            continue
        if _restates_row(parts, names, passage, index.topics(passage)):
            quote, reason = statement.quote.strip(), "it matches the table row"
            return Verdict(VerdictState.SUPPORTED, quote, reason, passage=passage.id)
    return None


def _restates_row(
    parts: Sequence[list[str]],
    names: Sequence[list[str]],
    row: Passage,
    topics: Sequence[list[str]],
) -> bool:
    """Return whether a claim's parts are cells of a row, in order or after their column names.

    Any other parts must be topics: the page's title or headings.
    """
    cells = [token_keys(cell) for cell in split_row(row.text)]
    matched, at = 0, 0
    rest = list(parts)
    while rest:
        part = rest.pop(0)
        if part in names and rest and rest[0] == cells[names.index(part)]:
            rest.pop(0)
            matched += 1
        elif part in cells[at:]:
            at += cells[at:].index(part) + 1
            matched += 1
        elif part not in topics:
            return False
    # A single cell is a statement only if its column has a name.
    return matched > 1 or (matched == 1 and bool(names))


def _check_question_answer(question: str, answer: str, index: StatementIndex) -> Verdict | None:
    """Look for an answer in the statements that best match its question.

    The statement must be about the question's subject: the names in the question must appear in the
    statement, in the one before it, in the headings or in the page's title.
    """
    answer_keys = token_keys(answer)
    if set(answer_keys) <= set(token_keys(question)):
        return None  # it only repeats the question
    subject = {stem for name in extract_facts(question).names for stem in content_words(name)}
    own = index.ranking.scores(content_words(question))
    scores = [n + PREVIOUS_WEIGHT * previous for n, previous in zip(own, [0.0, *own], strict=False)]
    threshold = max(MIN_QUESTION_SCORE * max(scores, default=0.0), 1e-9)
    wanted = f" {' '.join(answer_keys)} "
    for number, (statement, score) in enumerate(zip(index.statements, scores, strict=True)):
        if score < threshold or wanted not in f" {' '.join(statement.keys)} ":
            continue
        shared = subject & set(content_words(index.context(number)))
        if len(shared) >= MIN_SUBJECT_SHARE * len(subject):
            reason = "a sentence that matches the question contains it"
            passage_id = statement.passage.id
            return Verdict(VerdictState.SUPPORTED, statement.quote, reason, passage=passage_id)
    return None


def split_ellipses(quotation: str) -> list[str]:
    """Split a quotation at its ellipses; empty parts are left out."""
    return [part for part in _ELLIPSIS.split(quotation) if part.strip()]


def find_words(quotation: str, text: str) -> str:
    """Find quoted words in `text`; returns them as they appear there, or "".

    Spacing, case, emphasis marks, and the style of quotation marks and dashes may differ. A
    quotation of stop words alone is never found, since these words appear everywhere.
    """
    pieces = quotation.strip(_QUOTE_EDGES).split()
    if not (content_words(quotation) or any(token.value for token in tokenize(quotation))):
        return ""
    found = _quotation_pattern(tuple(pieces)).search(text)
    if not found:
        return ""
    end = found.end() + (text[found.end() : found.end() + 1] == quotation.rstrip()[-1:])
    return text[found.start() : end]


@functools.lru_cache(maxsize=256)
def _quotation_pattern(pieces: tuple[str, ...]) -> re.Pattern[str]:
    spelt = ("".join(map(_char_pattern, piece.strip("*_"))) for piece in pieces)
    pattern = r"[*_]*\s+[*_]*".join(filter(None, spelt))
    # Only entire words match: “this” does not contain “is”. In scripts without spaces, any
    # characters do.
    if not pattern:
        return re.compile(r"(?!)")
    text = "".join(pieces).strip("*_")
    start = "" if unspaced_characters(text[0]) else r"(?<!\w)"
    end = "" if unspaced_characters(text[-1]) else r"(?!\w)"
    return re.compile(start + pattern + end, re.IGNORECASE)


def _char_pattern(character: str) -> str:
    for alike in _EQUIVALENT_CHARS:
        if character in alike:
            return f"[{re.escape(alike)}]"
    return re.escape(character)
