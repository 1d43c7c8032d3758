"""The second layer of checking: the figures, dates and names of a claim, looked for in a source.

Code names those that a source does not have. It calls contradicted only a claim that equals a
sentence of the page but for one such value, or one denial. Rounding that says so is allowed for,
and so is the sum or difference of two figures of one passage.
"""

from __future__ import annotations

import functools
import itertools
import math
from itertools import starmap
from typing import TYPE_CHECKING

from agent.evidence.facts import BOUNDS, facts_of, is_month
from agent.evidence.tokens import denies, tokens_of, words_of
from agent.types import Verdict, VerdictState
from browser.text.words import STOP_WORDS, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.evidence.facts import Date, Facts, Figure
    from agent.evidence.literal import Ground, Statement
    from agent.evidence.tokens import Token

ABOUT = 0.08
"""How far, relatively, `about 500` may be from the figure that it stands for."""
FEW = 12
"""Number words up to this are not looked for: they may count what a page only lists."""
LONGEST_VALUE = 5
"""Words of a value: `4 May 1811`, `the Bishop of Lund`."""
FEWEST_SHARED = 4
"""Words that a claim shares with a sentence which it equals but for one value."""

_DOING = frozenset({"do", "does", "did"})


class Known:
    """The figures, dates and words of cited texts: what a claim's values are looked for in."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._figures: list[list[Figure]] = []
        self._dates: list[Date] = []
        self._stems: set[str] = set()
        for text in texts:
            found = facts_of(text)
            self._figures.append(found.figures)
            self._dates += found.dates
            self._stems.update(stem(word) for word in _plain_words(text))
        self._values = {figure.value for figures in self._figures for figure in figures}
        self._values |= {float(n) for date in self._dates for n in (date.year, date.day) if n}

    def missing(self, facts: Facts) -> tuple[str, ...]:
        """Name the values of a claim that do not stand in the texts, as the claim has them."""
        few = {f for f in facts.figures if f.text.isalpha() and f.value <= FEW}
        return (
            *(f.text for f in facts.figures if not (f in few or self._has_figure(f))),
            *(date.text for date in facts.dates if not self._has_date(date)),
            *(name for name in facts.names if not self._has_name(name)),
        )

    def _has_figure(self, figure: Figure) -> bool:
        """Tell whether a figure stands there, as it is, roughly where it says so, or reckoned."""
        thousands = figure.text.partition(".")[2][:3].isdigit() and 1000 * figure.value
        if figure.value in self._values or thousands in self._values:  # 1.250 is 1250 in German
            return True
        for figures in self._figures:
            near = (math.isclose(figure.value, other.value, rel_tol=ABOUT) for other in figures)
            if figure.about and any(near):
                return True
            pairs = itertools.combinations([other.value for other in figures[:12]], 2)
            if any(figure.value in (a + b, abs(a - b)) for a, b in pairs):
                return True
        return False

    def _has_date(self, date: Date) -> bool:
        """Tell whether a date stands there, as precise as it is given."""
        alone = date.year is not None and date.month is None and float(date.year) in self._values
        return alone or any(date.agrees(other) for other in self._dates)

    def _has_name(self, name: str) -> bool:
        """Tell whether every word of a name stands there."""
        telling = (w for w in _plain_words(name) if len(w) > 1 and w not in STOP_WORDS)
        return all(stem(word) in self._stems for word in telling)


@functools.lru_cache(maxsize=64)
def known_of(texts: tuple[str, ...]) -> Known:
    """Read the values of some texts, once: the sentences of an answer share a few."""
    return Known(texts)


def _plain_words(text: str) -> Iterator[str]:
    return (t.key.removesuffix("'s") for t in words_of(tokens_of(text)) if t.kind == "word")


def one_value_wrong(claim: str, ground: Ground) -> Verdict | None:
    """Call a claim contradicted that equals a sentence of the page but for one value or denial.

    None where there is no such sentence, or where the value may be meant otherwise: it stands
    elsewhere in the passage, is said to be rough, or is a part of a longer name.
    """
    words = words_of(tokens_of(claim))
    keys = [word.key for word in words]
    for statement in ground.statements:
        shared = set(keys) & set(statement.keys)
        found = _difference(words, keys, statement) if len(shared) >= FEWEST_SHARED else None
        if found is None:
            continue
        at, own, other = found
        reason = _denied(own, other)
        if not reason and own and other and _excludes(at, own, other, words):
            printed = statement.passage.text[other[0].start : other[-1].end]
            reason = f"the page has “{printed}” there"
        if reason and not _said_elsewhere(own, words, statement, ground):
            quote, where = statement.quote.strip(), statement.passage.id
            reason = f"{reason}: “{' '.join(quote.split())}”"
            return Verdict(VerdictState.CONTRADICTED, quote, reason, passage=where)
    return None


def _difference(
    words: Sequence[Token], keys: Sequence[str], statement: Statement
) -> tuple[int, Sequence[Token], Sequence[Token]] | None:
    """Find the only place where a claim differs from the beginning of a statement.

    Gives the index of its first word, the claim's words there and the statement's; one of the two
    may be empty.
    """
    pairs = enumerate(itertools.zip_longest(keys, statement.keys))
    at = next((i for i, (mine, theirs) in pairs if mine != theirs), len(keys))
    own = words[at:]
    for of_kind in (_is_dated, _is_name):  # the claim ends with its value
        if own and all(map(of_kind, own)) and at >= FEWEST_SHARED and len(own) <= LONGEST_VALUE:
            return at, own, list(itertools.takewhile(of_kind, statement.words[at:]))
    lengths = itertools.product(range(LONGEST_VALUE + 1), repeat=2)
    for mine, theirs in sorted(lengths, key=sum)[1:]:  # the fewest words behind which both go on
        rest = tuple(keys[at + mine :])
        if rest and rest == statement.keys[at + theirs : at + theirs + len(rest)]:
            long = len(keys) - mine >= FEWEST_SHARED
            ends = at + mine, at + theirs
            return (at, words[at : ends[0]], statement.words[at : ends[1]]) if long else None
    return None


def _denied(own: Sequence[Token], other: Sequence[Token]) -> str:
    """Say that one place is the other with a denial: `not`, `did not open` for `opened`."""
    for longer, shorter, how in ((own, other, "without"), (other, own, "with")):
        denials = [word for word in longer if denies(word.key)]
        rest = [stem(w.key) for w in longer if not denies(w.key) and w.key not in _DOING]
        if len(denials) == 1 and rest == [stem(word.key) for word in shorter]:
            return f"the page says it {how} “{denials[0].key}”"
    return ""


def _excludes(
    at: int, own: Sequence[Token], other: Sequence[Token], words: Sequence[Token]
) -> bool:
    """Tell whether two values cannot both be meant: two figures or dates, or two whole names."""
    if all(map(_is_dated, (*own, *other))):
        bounded = any(word.key in BOUNDS for word in words[max(0, at - 2) : at])
        alike = [w.kind for w in own] == [w.kind for w in other]
        pairs = [(a, b) for a, b in zip(own, other, strict=False) if a.key != b.key]
        return alike and not bounded and not any(starmap(_is_rounded, pairs))
    beside = (*words[max(0, at - 1) : at], *words[at + len(own) : at + len(own) + 1])
    named = at > 0 and not any(map(_is_name, beside))
    return named and all(map(_is_name, (*own, *other)))


def _is_rounded(mine: Token, theirs: Token) -> bool:
    """Tell whether a figure may be another one rounded: 8 million for 8.2 million.

    `1.250` may be 1250, as German writes it.
    """
    a, b = mine.value or 0.0, theirs.value or 0.0
    if not a or not b:
        return False
    digits = len(f"{abs(a):.10g}".replace(".", "").strip("0"))
    rounded = round(b, digits - 1 - math.floor(math.log10(abs(b))))
    return math.isclose(rounded, a) or math.isclose(b, 1000 * a)


def _said_elsewhere(
    own: Sequence[Token], words: Sequence[Token], statement: Statement, ground: Ground
) -> bool:
    """Tell whether another sentence of the passage may give the claim's value to this matter."""
    value = {word.key for word in own}
    rest = {stem(w.key) for w in words if w.key not in value and w.key not in STOP_WORDS}
    others = (o for o in ground.statements if o.passage is statement.passage and o is not statement)
    return bool(value) and any(
        value <= set(other.keys) and len(rest & set(map(stem, other.keys))) >= len(rest) / 2
        for other in others
    )


def _is_dated(word: Token) -> bool:
    return word.value is not None or is_month(word.key)


def _is_name(word: Token) -> bool:
    return word.capital and not is_month(word.key) and word.key not in STOP_WORDS
