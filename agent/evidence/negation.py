"""Denials: a claim that affirms what the page denies, or denies what it affirms."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
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

OPPOSED = 0.2
"""Share of what two clauses have in common that must be denied in one of them: the predicate."""

SUBJECT = 3
"""Words at the head of a statement among which its subject is."""

TOPIC_SHARE = 0.3
"""What the page's topic weighs: a statement about it need not name it."""

LEVEL = 0.1
"""Where another clause of the page covers nearly as much and agrees, nothing is contradicted."""

_BREAKS = frozenset(
    """but while although though because which who whom where whereas until before after if
    unless since so when order""".split()
)
_SUBJECTS = frozenset({"he", "she", "it", "they"})
_RELATIVE = frozenset({"which", "who"})
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
    `refers` says that its subject is a pronoun.
    """

    content: Mapping[str, bool]
    denials: tuple[str, ...]
    limited: bool
    refers: bool


def clauses(tokens: Sequence[Token]) -> Iterator[Clause]:
    """Cut a sentence into clauses at commas, conjunctions and `in order to`.

    A relative clause begins with the noun it belongs to: `beroids, which lack tentacles`.
    """
    part: list[Token] = []
    noun: list[Token] = []
    for token, following in itertools.zip_longest(tokens, tokens[1:]):
        if not _breaks(token, following):
            part.append(token)
            continue
        yield from _clause(part)
        noun = [t for t in part if _is_content(t)][-1:] or noun
        part = list(noun) if token.form in _RELATIVE else []
    yield from _clause(part)


def _is_content(token: Token) -> bool:
    return token.kind != "punct" and token.root not in FUNCTION | NEGATORS


def _breaks(token: Token, following: Token | None) -> bool:
    if token.form in _LISTING:
        return following is not None and following.root in AUXILIARIES | PRONOUNS | ARTICLES
    return token.form in _MARKS or token.form in _BREAKS


def check_negation(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a clause of the claim that says the contrary of a clause of the page."""
    theirs = [side for statement in ground.statements for side in _sides(statement, ground)]
    for mine in clauses(claim.tokens):
        if len(mine.content) < 2:
            continue
        found = _opposed(mine, theirs, ground)
        if found:
            return contradicts((found,), f"the page says the contrary: “{found.quote}”")
    return None


class _Side(NamedTuple):
    """A clause of the page in its statement, or (`whole`) all of a statement that denies nothing.

    `denies` says whether any clause of the statement denies something.
    """

    statement: Statement
    clause: Clause
    denies: bool
    whole: bool


def _sides(statement: Statement, ground: Ground) -> list[_Side]:
    """Give a statement's clauses, and the whole of it where nothing in it is denied."""
    parts = [_with_subject(part, ground, statement) for part in clauses(statement.sentence.tokens)]
    denies = any(part.denials for part in parts)
    whole = [] if denies or len(parts) < 2 else _clause(statement.sentence.tokens)
    sides = [_Side(statement, part, denies, whole=False) for part in parts]
    return sides + [_Side(statement, part, denies, whole=True) for part in whole]


def _clause(tokens: Sequence[Token]) -> Iterator[Clause]:
    words = [token for token in tokens if token.kind != "punct"]
    denials = list(_denials(words))
    content: dict[str, bool] = {}
    for i, token in enumerate(words):
        if _is_content(token) or _compares(words, i):
            count = sum(_denies(root, place, i) for place, root in denials)
            content.setdefault(token.root, count % 2 == 1)
    if content:
        limited = not _LIMITS.isdisjoint([t.root for t in words] + [t.form for t in words])
        refers = words[0].form in _SUBJECTS
        yield Clause(content, tuple(root for _, root in denials), limited, refers)


def _compares(words: Sequence[Token], i: int) -> bool:
    """Whether `more` or `fewer` compares things, and is not `more than` before a number."""
    after = words[i + 1].form if i + 1 < len(words) else "than"
    return words[i].form in {"more", "less", "fewer"} and after != "than"


def _denies(denial: str, place: int, i: int) -> bool:
    """Whether a word of denial at `place` reaches the word at `i` of its clause."""
    if denial in DENIALS - DENYING_NOUNS:
        return True
    return place < i and (denial not in SHORT_REACH or i <= place + 4)


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


def _opposed(mine: Clause, theirs: Sequence[_Side], ground: Ground) -> Statement | None:
    """Find the statement whose best clause covers the claim's and has the other polarity."""
    forms = {root: forms_on_page(root, ground) for root in mine.content}
    weights = {root: _weight(root, ground) for root in mine.content}
    total = sum(weights.values()) or 1.0
    against = agreeing = 0.0
    found: Statement | None = None
    for side in theirs:
        likeness = _compare(mine, forms, side.clause, weights)
        share = likeness.weight / total
        if likeness.opposed < OPPOSED:
            agreeing = max(agreeing, share)
        elif share > against and likeness.words >= 2 and _answers(mine, side):
            against, found = share, side.statement
    return found if against >= COVERED and against > agreeing + LEVEL else None


def _with_subject(clause: Clause, ground: Ground, statement: Statement) -> Clause:
    """Give a clause about `it` or `they` the words of the statement before, which name it."""
    if not clause.refers or not statement.place:
        return clause
    before = ground.statements[statement.place - 1].sentence
    named = itertools.islice((t.root for t in before.words if _is_content(t)), SUBJECT)
    return replace(clause, content={**dict.fromkeys(named, False), **clause.content})


def _answers(mine: Clause, side: _Side) -> bool:
    """Whether a clause may be set against the claim's, given what its statement denies."""
    return not side.denies if mine.denials else not side.whole


def _weight(root: str, ground: Ground) -> float:
    """Rarity of a root; the topic is implied everywhere, and a denial is counted as polarity."""
    if root in DENIALS:
        return 0.0
    return ground.weight(root) * (TOPIC_SHARE if is_topic((root,), ground) else 1.0)


class _Likeness(NamedTuple):
    """What two clauses share: its weight, how many words, and the share on which they disagree."""

    weight: float
    words: int
    opposed: float


def _compare(
    mine: Clause,
    forms: Mapping[str, Mapping[str, float]],
    other: Clause,
    weights: Mapping[str, float],
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
        words += 1
        shared += strength * weights[root]
        opposed += strength * weights[root] if differ else 0.0
    contrary_sense = (len(denied) + flips) % 2 == 1
    limited = (mine.limited or other.limited) and not NEGATORS.isdisjoint(denied)
    decided = shared and contrary_sense and not limited
    return _Likeness(shared, words, opposed / shared if decided else 0.0)


def _own(clause: Clause, root: str) -> bool:
    """Whether a word is denied in its clause by others than itself: `not rejected`."""
    return clause.content[root] != (root in DENIALS - DENYING_NOUNS)
