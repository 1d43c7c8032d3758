"""Denials: a claim that affirms what the page denies, or denies what it affirms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.claims.acquaintance import is_topic
from agent.evidence.claims.alignment import forms_on_page
from agent.evidence.claims.findings import Finding, contradicts
from agent.evidence.claims.polarity import PERMISSION, Likeness, compare
from agent.evidence.claims.sides import told_by
from agent.evidence.language.clauses import clauses
from agent.evidence.language.dates import names_a_time
from agent.evidence.language.hints import is_plain, plainly_apart
from agent.evidence.language.thesaurus import opposites
from agent.evidence.language.vocabulary import CONTRASTS, DENIALS, LIGHT, NEGATORS, PERSONS, TURNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.evidence.claims.sides import Side
    from agent.evidence.language.clauses import Clause
    from agent.evidence.language.statements import Ground, Sentence, Statement

COVERED = 0.35
"""Share of a clause's weight that a clause of the page must have to speak of the same thing."""

COVERED_DENYING = 0.6
"""The same where the claim denies: what the page affirms is denied in part, or of others."""

CLOSE = 0.45
"""The same where the claim speaks of all that the clause says, and of more."""

NAMED = 0.6
"""Share of a thing's words by which it is named, where the page says that there is none of it."""

ELSEWHERE = 0.4
"""What a word counts that stands in another clause of the same statement."""

OPPOSED = 0.1
"""Share of what two clauses have in common that must be denied in one of them: the predicate."""

COUNTABLE = 12
"""Up to here a figure may be counted by the writer (`two brothers`), and there may be none of."""

TOPIC_SHARE = 0.3
"""What the page's topic weighs: a statement about it need not name it."""

POLARITY = 0.5
"""What a word of denial weighs, which counts as polarity before all."""

LEVEL = 0.1
"""Where another clause of the page covers nearly as much and agrees, nothing is contradicted."""


def check_negation(claim: Sentence, ground: Ground) -> Finding | None:
    """Find a clause of the claim that says the contrary of a clause of the page."""
    theirs = told_by(ground)
    missing = _missing_thing(claim, theirs)
    if missing:
        return contradicts((missing,), f"the page says the contrary: “{missing.quote}”")
    if not TURNS.isdisjoint(claim.roots) or not is_plain(claim):
        return None
    for mine in clauses(claim.tokens):
        if len(mine.content) < 2 or mine.supposed or not CONTRASTS.isdisjoint(claim.roots):
            continue
        if mine.denials and any(figure.unit is None for figure in claim.figures):
            continue  # of so many as are not, the page may say how many are
        same = [side for side in theirs if _may_be_same(mine, side, claim, ground)]
        found = (
            _opposed(mine, same, ground)
            or _denied_thing(mine, same, ground)
            or _counted_none(claim, same, ground)
        )
        if found and plainly_apart(claim, found.sentence):
            return contradicts((found,), f"the page says the contrary: “{found.quote}”")
    return None


def _missing_thing(claim: Sentence, theirs: Sequence[Side]) -> Statement | None:
    """Find that there is none of what a claim says there is, and no more: `There is a lift`."""
    if not claim.words or claim.words[0].form != "there" or not NEGATORS.isdisjoint(claim.roots):
        return None
    return next(
        (s.statement for s in theirs for head in s.clause.heads if head and head == claim.content),
        None,
    )


def _may_be_same(mine: Clause, side: Side, claim: Sentence, ground: Ground) -> bool:
    """Whether two clauses may speak of one thing: they do not name two different ones."""
    ours = _names(claim, ground) & mine.content.keys()
    theirs = _names(side.statement.sentence, ground) & side.clause.content.keys()
    return not ours or not theirs or bool(ours & theirs)


def _names(sentence: Sentence, ground: Ground) -> set[str]:
    return {root for name in sentence.names if ground.is_name(name) for root in name.roots}


def _denied_thing(mine: Clause, theirs: Sequence[Side], ground: Ground) -> Statement | None:
    """Find that the page says there is none of a thing which the claim takes to be there.

    The thing has two words at least (`no memory card`), and the claim's clause denies nothing.
    """
    if mine.denials or mine.limited:
        return None
    words = {form for root in mine.content for form in forms_on_page(root, ground)}
    for side in theirs:
        for thing in () if _is_in_part(side) else side.clause.things:
            named = sum(ground.weight(root) for root in thing & words)
            whole = sum(ground.weight(root) for root in thing)
            if len(thing & words) >= 2 and named >= NAMED * whole:
                return side.statement
    return None


def _counted_none(claim: Sentence, theirs: Sequence[Side], ground: Ground) -> Statement | None:
    """Find that there is none of what a claim counts: `three children`, `had no children`."""
    few = [f for f in claim.figures if 0 < f.value <= COUNTABLE and not f.unit]
    counted = [figure.nouns for figure in few]
    if not NEGATORS.isdisjoint(claim.roots):
        return None
    for side in (side for side in theirs if not _is_in_part(side)):
        none = [
            noun for noun in counted if any(thing == noun & thing for thing in side.clause.things)
        ]
        content = side.statement.sentence.content
        others = [root for root in claim.content if _plain(root, ground) and root.isalpha()]
        rest = [root for root in others if not any(root in noun for noun in none)]
        met = [root for root in rest if forms_on_page(root, ground).keys() & content]
        if none and rest and len(met) >= NAMED * len(rest):
            return side.statement
    return None


def _is_in_part(side: Side) -> bool:
    """Whether a side says there is none of a thing within limits only, or at some times."""
    times = any(map(names_a_time, side.statement.sentence.tokens))
    return side.whole or side.clause.limited or times


def _opposed(mine: Clause, theirs: Sequence[Side], ground: Ground) -> Statement | None:
    """Find the statement whose best clause covers the claim's and has the other polarity."""
    forms = {root: forms_on_page(root, ground) for root in mine.content}
    weights = {root: _weight(root, ground) for root in mine.content}
    total = sum(weights.values()) or 1.0
    subject = next((root for root in mine.content if _plain(root, ground)), "")
    agreeing: dict[bool, float] = {True: 0.0, False: 0.0}
    against = 0.0
    found: Statement | None = None
    about = False
    told: list[Statement] = []
    for side in theirs:
        likeness = compare(mine, forms, side.clause, weights)
        share = likeness.weight / (total - _permitted(mine, side.clause, likeness, weights))
        if likeness.neutral or (side.whole and _has_both(forms, side.clause)):
            continue
        same_subject = subject in likeness.met or side.clause.refers
        if likeness.opposed < OPPOSED:
            agreeing[same_subject] = max(agreeing[same_subject], share)
            contrary = any(opposites(root) & side.clause.content.keys() for root in mine.content)
            told += [side.statement] if contrary and share >= CLOSE else []
            continue
        share += _besides(likeness, side, forms, weights) / total
        if share > against and _tells(likeness, mine, side, theirs, ground):
            against, found, about = share, side.statement, subject in likeness.met
            least = CLOSE if _is_all(side.clause, likeness) else COVERED
            least = max(least, COVERED_DENYING) if mine.denials else least
            found = found if share >= least else None
    if found in told:
        return None
    agrees = agreeing[True] if about else max(agreeing.values())
    return found if against > agrees + LEVEL else None


def _permitted(
    mine: Clause, other: Clause, likeness: Likeness, weights: Mapping[str, float]
) -> float:
    """Weight of the claim's deed or doer that a clause need not have to deny it."""
    if not _denies_all(mine, other):
        return 0.0
    return max((w for root, w in weights.items() if root not in likeness.met), default=0.0)


def _denies_all(mine: Clause, other: Clause) -> bool:
    """Whether a clause need not have the claim's deed or doer: `is not allowed`, `nobody was`."""
    barred = mine.permits and any(head & PERMISSION for head in other.heads)
    return barred or not PERSONS.isdisjoint(other.denials)


def _besides(
    likeness: Likeness,
    side: Side,
    forms: Mapping[str, Mapping[str, float]],
    weights: Mapping[str, float],
) -> float:
    """Weight of the claim's other words that stand in the other clauses of a side's statement."""
    content = side.statement.sentence.content
    rest = [root for root, known in forms.items() if known.keys() & content]
    return sum(ELSEWHERE * weights[root] for root in rest if root not in likeness.met)


def _is_all(other: Clause, likeness: Likeness) -> bool:
    """Whether the claim has a word, or its contrary, for all that a clause of the page says."""
    return len(other.content) == likeness.words


def _has_both(forms: Mapping[str, Mapping[str, float]], other: Clause) -> bool:
    """Whether a clause has a word of the claim's, or what it may be, and the contrary of one.

    It sets two things apart: `the fire destroyed the barn but spared the house`.
    """
    return any(
        opposites(form) & other.content.keys()
        for root, known in forms.items()
        for form in (root, *known)
    )


def _tells(
    likeness: Likeness, mine: Clause, side: Side, theirs: Sequence[Side], ground: Ground
) -> bool:
    """Whether a clause of the other polarity may be set against the claim's."""
    allowed = _denies_all(mine, side.clause)
    if likeness.words + allowed < 2 or not _answers(mine, side):
        return False
    plain = {root for root in mine.content if _plain(root, ground)}
    least = 1 if allowed else min(2, len(plain))
    return len(plain & likeness.met) >= least and not _also_agrees(mine, side, theirs, ground)


def _plain(root: str, ground: Ground) -> bool:
    """Whether a word is neither the page's topic nor one that says next to nothing."""
    return root not in LIGHT and root not in DENIALS and not is_topic((root,), ground)


def _also_agrees(mine: Clause, side: Side, theirs: Sequence[Side], ground: Ground) -> bool:
    """Whether another clause of the same statement says what the claim does of a thing it names.

    `The herons grew in number, those on the lake declined` sets two things against each other.
    """
    poles = {r for r in mine.content if opposites(r) & side.clause.content.keys()}
    others = [s for s in theirs if s.statement is side.statement and s.clause is not side.clause]
    for other in others if poles else ():
        theirs_too = other.clause.content.keys()
        met = {r for r in mine.content if forms_on_page(r, ground).keys() & theirs_too}
        plain = {r for r in met - poles if _plain(r, ground)}
        if poles & met and plain and not other.clause.denials and not other.whole:
            return True
    return False


def _answers(mine: Clause, side: Side) -> bool:
    """Whether a clause may be set against the claim's, given what its statement denies."""
    if not mine.denials:
        return not side.whole
    one, other = set(mine.denials), set(side.clause.denials)
    if not one - {root for root in one if opposites(root) & side.clause.content.keys()}:
        return not side.whole
    if other == {"without"} and one <= DENIALS:
        return True
    return not side.denies or bool(other and (one < other or other < one))


def _weight(root: str, ground: Ground) -> float:
    """Rarity of a root; the topic is implied everywhere, and a denial is counted as polarity."""
    if root in DENIALS:
        return POLARITY
    if root in LIGHT:
        return TOPIC_SHARE
    return ground.weight(root) * (TOPIC_SHARE if is_topic((root,), ground) else 1.0)
