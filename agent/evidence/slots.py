"""A value of a claim (figure, date, name) against the value that the page has in its place.

The rule is one for all three. A value that the statement in question has, is fine. If the page
has it nowhere, or only where it speaks of something else, and the statement that the claim is
about has another value of the same kind which the claim does not use, that other value was meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from agent.evidence.dates import is_month
from agent.evidence.findings import Finding, contradicts
from agent.evidence.statements import content_of
from agent.evidence.units import read_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.alignment import Alignment
    from agent.evidence.figures import Figure
    from agent.evidence.normalise import Token
    from agent.evidence.statements import Ground, Sentence

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

MARGIN = 0.35
"""How much less of the claim a statement may cover than the best one and still be meant."""

ENOUGH = 0.45
"""A statement that has the value and so much of the claim may be what the claim is about."""

NEVER = 2.0
"""A share that no statement reaches."""


class Slot(Protocol[T_contra]):
    """The place of a claim's value, with what decides which values of the page bear on it.

    `least_absent` is the share of the claim's other words that a statement must cover to be what
    the claim is about where the page has the value nowhere; `least_elsewhere`, where it has it in
    another statement, which a fair summary may have brought together with this one.
    """

    @property
    def least_absent(self) -> float:
        """Share to cover where the value is absent from the page."""
        ...

    @property
    def least_elsewhere(self) -> float:
        """Share to cover where the value stands elsewhere on the page."""
        ...

    def holds(self, value: T_contra, /) -> bool:
        """Whether a value of the page is the claim's."""
        ...

    def rivals(self, value: T_contra, /) -> bool:
        """Whether a value of the page can stand in the place of the claim's."""
        ...


def find_rival(
    slot: Slot[T], values: Sequence[Sequence[T]], alignment: Alignment
) -> tuple[int, T] | None:
    """Find the statement and the value that stand against a claim's value; None if none does.

    `values[i]` are the values of statement i.
    """
    score = alignment.score
    having = [i for i, found in enumerate(values) if any(slot.holds(v) for v in found)]
    here = max((score[i] for i in having), default=-1.0)
    best = max(score)
    if having and here >= min(best - MARGIN, ENOUGH):
        return None
    least = slot.least_elsewhere if having else slot.least_absent
    for i in sorted(range(len(values)), key=lambda i: -score[i]):
        if score[i] < max(least, here + MARGIN, best - MARGIN):
            return None
        rival = next((value for value in values[i] if slot.rivals(value)), None)
        if rival is not None:
            return i, rival
    return None


def corroborated(claim: Sentence, sentence: Sentence) -> bool:
    """Whether a sentence of the page has two or more of the claim's values together."""
    figures = sum(any(f.says(other) for other in sentence.figures) for f in claim.figures)
    dates = sum(d.stands_in(sentence.dates) for d in claim.dates)
    names = sum(any(n.may_be(other) for other in sentence.names) for n in claim.names)
    return figures + dates + names >= 2


def plain_words(claim: Sentence) -> list[str]:
    """Roots of a claim without its numbers, units and months, which are what is in question."""
    units = {unit for figure in claim.figures for unit in _unit_tokens(claim, figure)}
    words = [t for t in claim.words if t.value is None and not is_month(t) and t not in units]
    return content_of(words)


def _unit_tokens(claim: Sentence, figure: Figure) -> list[Token]:
    """Give the tokens after a figure that name its unit."""
    after = list(claim.tokens[figure.place + 1 : figure.place + 5])
    return after[: read_unit(after)[1]] if figure.unit else []


def name_roots(sentence: Sentence) -> frozenset[str]:
    """Give the roots of all names of a sentence."""
    return frozenset(root for name in sentence.names for root in name.roots)


def against(ground: Ground, i: int, there: int, claim: Sentence, here: int) -> Finding:
    """Contradict a claim's value at token `here` by statement i's at token `there`."""
    statement = ground.statements[i]
    says, claims = _around(statement.sentence, there), _around(claim, here)
    return contradicts((statement,), f"the page says “{says}”, the claim “{claims}”")


def _around(sentence: Sentence, place: int) -> str:
    """Print a value with the words beside it."""
    tokens = sentence.tokens[max(0, place - 1) : place + 3]
    return " ".join(token.raw for token in tokens if token.kind != "punct")
