"""Denials: a claim that affirms what the page denies, or denies what it affirms."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.alignment import SYNONYM, forms_on_page
from agent.evidence.findings import Finding, contradicts
from agent.evidence.name_check import is_topic
from agent.evidence.thesaurus import opposites
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
    root_set,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.evidence.normalise import Token
    from agent.evidence.statements import Ground, Sentence, Statement

COVERED = 0.6
"""Share of a clause's weight that a clause of the page must have to speak of the same thing."""

OPPOSED = 0.3
"""Share of what two clauses have in common that must be denied in one of them: the predicate."""

LEVEL = 0.1
"""Where another clause of the page covers nearly as much and agrees, nothing is contradicted."""

_BREAKS = frozenset(
    """but while although though because which who whom where whereas until before after if
    unless since so when order""".split()
)
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
    """

    content: Mapping[str, bool]
    denials: tuple[str, ...]
    limited: bool


def clauses(tokens: Sequence[Token]) -> Iterator[Clause]:
    """Cut a sentence into clauses at commas, conjunctions and `in order to`."""
    part: list[Token] = []
    for token, following in itertools.zip_longest(tokens, tokens[1:]):
        if _breaks(token, following):
            yield from _clause(part)
            part = []
        else:
            part.append(token)
    yield from _clause(part)


def _breaks(token: Token, following: Token | None) -> bool:
    if token.form in _LISTING:
        return following is not None and following.root in AUXILIARIES | PRONOUNS | ARTICLES
    return token.form in _MARKS or token.form in _BREAKS


def check_negation(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a clause of the claim that says the contrary of a clause of the page."""
    theirs = [(s, clause) for s in ground.statements for clause in clauses(s.sentence.tokens)]
    for mine in clauses(claim.tokens):
        wanted = [root for root in mine.content if not is_topic((root,), ground)]
        if len(wanted) < 2 or mine.limited:
            continue
        found = _opposed(mine, wanted, theirs, ground)
        if found:
            return contradicts((found,), f"the page says the contrary: “{found.quote}”")
    return None


def _clause(tokens: Sequence[Token]) -> Iterator[Clause]:
    words = [token for token in tokens if token.kind != "punct"]
    denials = list(_denials(words))
    content: dict[str, bool] = {}
    for i, token in enumerate(words):
        if token.root not in FUNCTION | NEGATORS:
            count = sum(_denies(root, place, i) for place, root in denials)
            content.setdefault(token.root, count % 2 == 1)
    if content:
        limited = not _LIMITS.isdisjoint([t.root for t in words] + [t.form for t in words])
        yield Clause(content, tuple(root for _, root in denials), limited)


def _denies(denial: str, place: int, i: int) -> bool:
    """Whether a word of denial at `place` reaches the word at `i` of its clause."""
    if denial in DENIALS - DENYING_NOUNS:
        return True
    return place < i and (denial not in SHORT_REACH or i <= place + 4)


def _denials(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Find the words that deny, with their places."""
    before = ""
    for i, (token, following) in enumerate(itertools.zip_longest(tokens, tokens[1:])):
        after = following.form if following else ""
        if (
            token.root in NEGATORS | DENIALS
            or (token.root in DENIALS_BEFORE_TO and after == "to")
            or (token.root in DENIALS_BEFORE_ING and after.endswith("ing"))
            or (token.raw in _SCANT and before != "a")
        ):
            yield i, token.root
        before = token.form


def _opposed(
    mine: Clause,
    wanted: Sequence[str],
    theirs: Sequence[tuple[Statement, Clause]],
    ground: Ground,
) -> Statement | None:
    """Find the statement whose best clause covers the claim's and has the other polarity."""
    forms = {root: forms_on_page(root, ground) for root in wanted}
    total = sum(ground.weight(root) for root in wanted if root not in DENIALS) or 1.0
    against = agreeing = 0.0
    found: Statement | None = None
    for statement, clause in theirs:
        likeness = _compare(mine, forms, clause, ground)
        share = likeness.weight / total
        if likeness.opposed < OPPOSED or clause.limited:
            agreeing = max(agreeing, share)
        elif share > against and likeness.words >= 2:
            against, found = share, statement
    return found if against >= COVERED and against > agreeing + LEVEL else None


class _Likeness(NamedTuple):
    """What two clauses share: its weight, how many words, and the share on which they disagree."""

    weight: float
    words: int
    opposed: float


def _compare(
    mine: Clause, forms: Mapping[str, Mapping[str, float]], other: Clause, ground: Ground
) -> _Likeness:
    shared = opposed = 0.0
    words = flips = 0
    denied = [*mine.denials, *other.denials]
    for root, known in forms.items():
        theirs = max(known.keys() & other.content.keys(), key=known.__getitem__, default="")
        contrary = next(iter(opposites(root) & other.content.keys()), "")
        if contrary and known.get(theirs, 0.0) < 1:
            differ = _own(mine, root) == _own(other, contrary)
            denied = [word for word in denied if word not in {root, contrary}]
            flips += 1
            strength = SYNONYM
        elif theirs:
            strength = known[theirs]
            differ = mine.content[root] != other.content[theirs]
        else:
            continue
        weight = strength * ground.weight(root)
        words += 1
        opposed += weight if differ else 0.0
        shared += weight if root not in DENIALS else 0.0
    contrary_sense = (len(denied) + flips) % 2 == 1
    return _Likeness(shared, words, opposed / shared if shared and contrary_sense else 0.0)


def _own(clause: Clause, root: str) -> bool:
    """Whether a word is denied in its clause by others than itself: `not rejected`."""
    return clause.content[root] != (root in DENIALS - DENYING_NOUNS)
