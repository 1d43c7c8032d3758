"""Proper names in running text, told by their capitals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.language.german import is_german
from agent.evidence.language.thesaurus import is_people, roles
from agent.evidence.language.vocabulary import (
    ARTICLES,
    FUNCTION,
    NEGATORS,
    PLACING,
    PREPOSITIONS,
    QUANTIFIERS,
    root_set,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.evidence.language.normalise import Token

_LINKS = frozenset("- of de la le von van der du da di del al ibn bin".split())
_STOPS = frozenset(". , ; : ( ) and but when while who which".split())
_NOT_NAMES = frozenset(
    """january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
    fridays saturdays sundays i mr mrs ms dr professor sir""".split()
)


TITLES = root_set(
    """president minister prime professor doctor king queen prince princess lord lady saint chief
    general captain colonel director chairman chancellor governor mayor bishop pope emperor city
    town county state river lake mount island republic university college museum church company"""
)
"""Words that may be added to a name or left out, and that many names share."""

_BEFORE_PLACES = frozenset("von aus nach in bei gegen".split())
_DEMONYM = re.compile(r"(?:an|ish|es|ese|ench|utch|elsh|ic|ss)$")
"""What the names of peoples end in, as roots: `American`, `Swedish`, `Japanes`, `French`."""


class Name(NamedTuple):
    """A name: its roots in order, as printed, its role, and where it stands.

    `role` is `subject` at the head of a clause, else the preposition before it (`by`). `acts` says
    that a verb in the third person follows: `Bosch supplies`; `qualifies` that a noun or verb does.
    """

    roots: tuple[str, ...]
    text: str
    role: str
    place: int
    first_in_sentence: bool
    acts: bool = False
    qualifies: bool = False

    @property
    def certain(self) -> bool:
        """Whether its capitals alone make it a name; one word that opens a sentence may be any."""
        return not self.first_in_sentence or len(self.roots) > 1

    @property
    def adjective(self) -> bool:
        """Whether it only says of what country or sort a thing is: `an American film`."""
        return self.qualifies and bool(_DEMONYM.search(self.roots[0])) and len(self.roots) == 1

    @property
    def of_a_people(self) -> bool:
        """Whether it names a people or their language: `in English`; a land is no people."""
        return is_people(self.roots[0]) and bool(_DEMONYM.search(self.roots[0]))

    @property
    def possessive(self) -> bool:
        """Whether it only says whose: `Brask's bridge`."""
        return self.text.endswith(("'s", "s'"))

    def may_be(self, other: Name) -> bool:
        """Whether both can name one bearer: `Vale`, `Captain Vale`, `Ann Vale`; not `Jo Vale`."""
        mine, theirs = (set(name.roots) - TITLES or set(name.roots) for name in (self, other))
        return mine <= theirs or theirs <= mine


def find_names(words: Sequence[Token]) -> list[Name]:
    """Find the names of a sentence, given as words without punctuation marks' tokens kept.

    `words` are all tokens: a name does not go on over a comma. A word that opens the sentence
    counts where another capital follows it; alone, it may be any word.
    """
    found = list(_scan(words))
    if is_german(" ".join(token.raw for token in words)):
        return [name for name in found if _names_in_german(name, words)]
    return found


def _names_in_german(name: Name, tokens: Sequence[Token]) -> bool:
    """Whether capitals name somebody where every noun has one: two in a row, or no article.

    `Karl Wenske`, `in Potsdam`; not `das Ufer` or `bis Mitternacht`.
    """
    before = tokens[name.place - 1].form if name.place else ""
    return len(name.roots) > 1 or before in _BEFORE_PLACES


def _scan(tokens: Sequence[Token]) -> Iterator[Name]:
    i = 0
    while i < len(tokens):
        if not _is_capital(tokens[i]):
            i += 1
            continue
        end = _end(tokens, i)
        start = i
        opens = _opens(tokens, i)
        while start < end and _is_ordinary(tokens[start], opens=opens):
            start += 1
        if any(token.form not in _LINKS for token in tokens[start:end]):
            yield _name(tokens, start, end, first=opens and start == i)
        i = end


def _end(tokens: Sequence[Token], start: int) -> int:
    """Index after the last capitalised word of the name that begins at `start`."""
    end = start + 1
    while end < len(tokens):
        if _is_capital(tokens[end]):
            end += 1
        elif tokens[end].form in _LINKS and _capital_at(tokens, end + 1):
            end += 2
        else:
            break
    return end


def _name(tokens: Sequence[Token], start: int, end: int, *, first: bool) -> Name:
    own = [t for t in tokens[start:end] if t.kind == "word" and t.form not in _LINKS]
    text = " ".join(token.raw for token in own)
    roots = tuple(token.root for token in own)
    following = tokens[end] if end < len(tokens) else None
    acts = following is not None and _third_person(following)
    qualifies = following is not None and following.kind == "word" and following.raw.islower()
    qualifies = qualifies and following is not None and following.root not in FUNCTION
    return Name(roots, text, _role(tokens, start), start, first, acts, qualifies)


def _third_person(token: Token) -> bool:
    plain = token.kind == "word" and token.raw.islower() and token.root not in FUNCTION
    return plain and token.form.endswith("s") and not token.form.endswith("ss")


def _role(tokens: Sequence[Token], start: int) -> str:
    """Read a name's role off the words before it: `by the amateur astronomer Greta Sund`."""
    near = tokens[max(0, start - 6) : start]
    before = ["," if token.kind == "number" else token.form for token in near]
    for distance, form in enumerate(reversed(before), 1):
        if form in _STOPS and not (form == "," and _titled(near, distance)):
            break
        if form in PREPOSITIONS | PLACING and (form == "by" or distance <= 3):
            return form
    return "subject" if len(before) < 3 or before[-1] in _STOPS else ""


def _titled(near: Sequence[Token], distance: int) -> bool:
    """Whether a part stands before a comma: `by the firm's owner, Ann Vale`."""
    before = near[-distance - 1 : -distance] if distance < len(near) else []
    return distance == 1 and bool(before) and before[0].root in roles()


def _opens(tokens: Sequence[Token], i: int) -> bool:
    return all(token.kind == "punct" for token in tokens[:i]) or tokens[i - 1].form in {".", ":"}


def _is_ordinary(token: Token, *, opens: bool) -> bool:
    """Whether a capital is only the sentence's: `All`, but not `US`, nor `Will` further on."""
    acronym = len(token.raw) > 1 and token.raw.isupper()
    common = FUNCTION | QUANTIFIERS | NEGATORS if opens else ARTICLES
    return token.root in common and not acronym


def _is_capital(token: Token) -> bool:
    return token.kind == "word" and token.raw[:1].isupper() and token.form not in _NOT_NAMES


def _capital_at(tokens: Sequence[Token], i: int) -> bool:
    return i < len(tokens) and _is_capital(tokens[i])
