"""What a claim says beside its values, and how a value of the page is set against one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.claims.findings import Finding, contradicts
from agent.evidence.language.dates import is_month
from agent.evidence.language.statements import content_of
from agent.evidence.language.units import read_unit

if TYPE_CHECKING:
    from agent.evidence.language.figures import Figure
    from agent.evidence.language.normalise import Token
    from agent.evidence.language.statements import Ground, Sentence


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
