"""What words of denial stand before: `did not hide` hides, `kept her from playing` plays."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.language.clauses import breaks, is_content
from agent.evidence.language.denials import find_denials
from agent.evidence.language.vocabulary import (
    CEASING,
    DENIALS,
    DENIALS_BEFORE_FROM,
    NEGATORS,
    NOBODY,
    VERBAL,
    root_set,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.language.normalise import Token

NOUN_PHRASE = 3
"""Words of meaning after `no` among which its noun is: `no industry money`."""

PASSING = root_set(
    """get have make take give manage do go act serve work use offer provide hold run become turn
    be put bring keep let"""
)
"""Verbs that say little, so that their object is denied: `will not get a shuttle`."""

_BE = frozenset("is are was were be been being".split())


class Denied(NamedTuple):
    """A word of denial, and the places of what it denies: a verb, or the words of a noun phrase."""

    root: str
    place: int
    heads: tuple[int, ...]
    verbal: bool


def denied_in(tokens: Sequence[Token]) -> list[Denied]:
    """Find what is denied in a sentence, told by places of its tokens."""
    places = [i for i, token in enumerate(tokens) if token.kind != "punct"]
    found = [(places[i], root) for i, root in find_denials([tokens[i] for i in places])]
    ended = [(i, token.root) for i, token in enumerate(tokens) if _is_ended(tokens, i)]
    return [
        Denied(root, place, tuple(_heads(tokens, place, root)), _is_verbal(root))
        for place, root in dict.fromkeys((*found, *ended))
    ]


def _is_ended(tokens: Sequence[Token], i: int) -> bool:
    """Whether a word says that its subject is there no more: `has been dropped`."""
    since = i > 0 and tokens[i - 1].form in {"been", "is", "are"}
    return since and tokens[i].root in CEASING and _is_passive(tokens, i)


def _is_passive(tokens: Sequence[Token], i: int) -> bool:
    return i > 0 and tokens[i].form.endswith(("ed", "en", "n")) and tokens[i - 1].form in _BE


def clause_around(tokens: Sequence[Token], i: int) -> Sequence[Token]:
    """Give the tokens of the clause in which a token stands."""
    start = next((j for j in range(i, 0, -1) if breaks(tokens, j)), 0)
    end = next((j for j in range(i + 1, len(tokens)) if breaks(tokens, j)), len(tokens))
    return tokens[start:end]


def _is_verbal(root: str) -> bool:
    return root in VERBAL | NOBODY or root not in NEGATORS | CEASING


def _heads(tokens: Sequence[Token], place: int, root: str) -> Iterator[int]:
    """Give the places of what a denial stands before, in its clause."""
    rest = range(place + 1, len(tokens))
    after = list(itertools.takewhile(lambda i: not breaks(tokens, i), rest))
    if root in NOBODY and place and is_content(tokens[place - 1]):
        yield place - 1  # `detected nothing`
        return
    if root in DENIALS | CEASING and _is_passive(tokens, place):
        yield from _subject(tokens, place)
        return
    if root in DENIALS_BEFORE_FROM and any(tokens[i].form == "from" for i in after):
        after = list(itertools.dropwhile(lambda i: tokens[i].form != "from", after))
    words = [i for i in after if is_content(tokens[i]) and not tokens[i].form.endswith("ly")]
    verbal = _is_verbal(root) and (root not in DENIALS or _to_verb(tokens, place))
    yield from words[: _verbs(tokens, words) if verbal else NOUN_PHRASE]


def _subject(tokens: Sequence[Token], place: int) -> Iterator[int]:
    """Give the places of the noun phrase that a passive is said of, from its last word back."""
    before = itertools.takewhile(lambda i: not breaks(tokens, i + 1), range(place - 1, -1, -1))
    words = [i for i in before if is_content(tokens[i])]
    yield from words[-NOUN_PHRASE:]


def _verbs(tokens: Sequence[Token], words: Sequence[int]) -> int:
    """Count the words that a denial reaches from its verb on: `did not intend to cut any jobs`."""
    if not words:
        return 0
    passes = tokens[words[0]].root in PASSING or _to_verb(tokens, words[0])
    any_of = any(tokens[i].form == "any" for i in range(words[0], words[-1]))
    return NOUN_PHRASE if any_of else 1 + passes


def _to_verb(tokens: Sequence[Token], place: int) -> bool:
    return [token.form for token in tokens[place + 1 : place + 2]] == ["to"]
