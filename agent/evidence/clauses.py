"""Clauses of a sentence: what they speak of, and which of it they deny."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.vocabulary import (
    ARTICLES,
    AUXILIARIES,
    DENIALS,
    DENIALS_BEFORE_ING,
    DENIALS_BEFORE_TO,
    DENYING_NOUNS,
    FUNCTION,
    NEGATORS,
    PRONOUNS,
    SHORT_REACH,
    VERBAL,
    root_set,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.evidence.normalise import Token

SHORT = 4
"""Words that `without` or `lack of` reaches."""

NOUN_PHRASE = 3
"""Words of meaning after `no` or `without` among which the noun is."""

LONGEST_ITEM = 3
"""Words of an item of a list between commas; more is a clause of its own."""

_BREAKS = frozenset(
    """but while although though because which who whom where whereas until before after if
    unless whether since so when order""".split()
)
_SUBJECTS = frozenset({"he", "she", "it", "they"})
_RELATIVE = frozenset({"which", "who"})
_SUPPOSING = frozenset({"if", "whether", "unless"})
_LISTING = frozenset({"and", "or"})
_SCANT = frozenset({"little", "few"})
_MARKS = frozenset({",", ";", ":", "(", ")", "\u2026"})

# A negation beside one of these is a comparison or a limit (`no longer span`, `not until 1990`,
# `nobody but her`), not a denial.
_LIMITS = root_set("than before until except but other only else yet unless") | frozenset(
    "longer deeper higher larger bigger greater older younger faster slower better worse more less "
    "fewer earlier later stronger wider smaller".split()
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: what it speaks of, each root with whether it is denied, and the words that deny.

    `not`, `no`, `without`, `lack` deny what follows them; `rejected` or `banned` the whole clause.
    `refers` says that its subject is a pronoun, `supposed` that it is only a condition or a
    question (`if …`, `whether …`). `heads` are, for each `not` or `no`, the words it stands before,
    one of which is what it denies.
    """

    content: Mapping[str, bool]
    denials: tuple[str, ...]
    limited: bool
    refers: bool
    supposed: bool
    heads: tuple[frozenset[str], ...]


def clauses(tokens: Sequence[Token]) -> Iterator[Clause]:
    """Cut a sentence into clauses at commas, conjunctions and `in order to`.

    A relative clause begins with the noun it belongs to: `beroids, which lack tentacles`.
    """
    part: list[Token] = []
    noun: list[Token] = []
    supposed = False
    for i, token in enumerate(tokens):
        if not _breaks(tokens, i):
            part.append(token)
            continue
        yield from whole_clause(part, supposed=supposed)
        noun = [t for t in part if is_content(t)][-1:] or noun
        part = list(noun) if token.form in _RELATIVE else []
        supposed = token.form in _SUPPOSING or (supposed and token.form in _LISTING)
    yield from whole_clause(part, supposed=supposed)


def whole_clause(tokens: Sequence[Token], *, supposed: bool = False) -> Iterator[Clause]:
    """Read some tokens as one clause; none where they carry no meaning."""
    words = [token for token in tokens if token.kind != "punct"]
    denials = list(_denials(words))
    content: dict[str, bool] = {}
    for i, token in enumerate(words):
        if is_content(token) or _compares(words, i):
            count = sum(_denies(root, place, i) for place, root in denials)
            content.setdefault(token.root, count % 2 == 1)
    if content:
        limited = not _LIMITS.isdisjoint([t.root for t in words] + [t.form for t in words])
        refers = words[0].form in _SUBJECTS
        heads = tuple(_heads(words, denials))
        denied = tuple(root for _, root in denials)
        yield Clause(content, denied, limited, refers, supposed, heads)


def is_content(token: Token) -> bool:
    """Whether a token carries meaning of its own."""
    return token.kind != "punct" and token.root not in FUNCTION | NEGATORS


def _breaks(tokens: Sequence[Token], i: int) -> bool:
    token = tokens[i]
    if token.form in _LISTING:
        following = tokens[i + 1] if i + 1 < len(tokens) else None
        return following is not None and following.root in AUXILIARIES | PRONOUNS | ARTICLES
    if token.form == "," and _in_list(tokens, i):
        return False
    return token.form in _MARKS or token.form in _BREAKS


def _in_list(tokens: Sequence[Token], i: int) -> bool:
    """Whether a comma goes on with a list of short items: `tear, vermin or seepage`."""
    since = 0
    for token in tokens[i + 1 :]:
        if token.form in _LISTING:
            return since > 0
        since = 0 if token.form == "," else since + 1
        if since > LONGEST_ITEM or token.root in AUXILIARIES | PRONOUNS or token.form in _BREAKS:
            return False
    return False


def _heads(words: Sequence[Token], denials: Sequence[tuple[int, str]]) -> Iterator[frozenset[str]]:
    """Give what stands after each `not` (its verb) or `no` (its noun, with what comes before)."""
    for place, root in denials:
        if root in NEGATORS:
            after = (t.root for t in words[place + 1 :] if is_content(t))
            yield frozenset(itertools.islice(after, 1 if root in VERBAL else NOUN_PHRASE))


def _compares(words: Sequence[Token], i: int) -> bool:
    """Whether `more` or `fewer` compares things, and is not `more than` before a number."""
    after = words[i + 1].form if i + 1 < len(words) else "than"
    return words[i].form in {"more", "less", "fewer"} and after != "than"


def _denies(denial: str, place: int, i: int) -> bool:
    """Whether a word of denial at `place` reaches the word at `i` of its clause."""
    if denial in DENIALS - DENYING_NOUNS:
        return True
    return place < i and (denial not in SHORT_REACH or i <= place + SHORT)


def _denials(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Find the words that deny, with their places."""
    before = ""
    neither = any(token.form == "neither" for token in tokens)
    for i, (token, following) in enumerate(itertools.zip_longest(tokens, tokens[1:])):
        after = following.form if following else ""
        if (
            (token.root in NEGATORS | DENIALS and not (token.form == "nor" and neither))
            or (token.root in DENIALS_BEFORE_TO and after == "to")
            or (token.root in DENIALS_BEFORE_ING and after.endswith("ing"))
            or (token.raw in _SCANT and before != "a")
        ):
            yield i, token.root
        before = token.form
