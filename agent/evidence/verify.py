"""Checking a claim against the passages that it cites, in three layers.

*Literal* says what stands there; *values* names the figures, dates and names that do not, and calls
contradicted only what equals a sentence of the page but for one value or one denial; a *judge*, if
there is one, decides everything else. It may overrule the values, never what is literal.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from agent.evidence.facts import facts_of
from agent.evidence.literal import Ground, check_literal
from agent.evidence.values import known_of, one_value_wrong
from agent.types import Passage, Verdict, VerdictState

Judge = Callable[[str, Sequence[Passage]], Verdict | None]
"""Decides a claim from the passages, where it does not stand there literally: gives a verdict whose
quote stands literally in one of the passages; None for none."""


def verify_claim(
    claim: str, passages: Sequence[Passage | str], judge: Judge | None = None
) -> Verdict:
    """Check one claim against passages (or plain strings): supported, contradicted, undecided.

    The verdict's quote stands literally in a passage; the reason of an undecided one names the
    values that were not found.
    """
    ground = ground_of(tuple(passages), ())
    verdict = check_claim(claim, ground)
    if judge is None or is_literal(verdict) or not ground.passages:
        return verdict
    return judged(judge(claim, ground.passages), ground.passages) or verdict


@functools.lru_cache(maxsize=64)
def ground_of(passages: tuple[Passage | str, ...], titles: tuple[tuple[int, str], ...]) -> Ground:
    """Analyse passages, once; `titles` are those of their pages, by the number of the source."""
    return Ground(passages, dict(titles))


def check_claim(claim: str, ground: Ground, texts: tuple[str, ...] = ()) -> Verdict:
    """Check a claim in code: literally, then by its values.

    `texts` are where values are looked for beside the passages: the cited sources as a whole.
    """
    if not claim.strip() or not ground.statements:
        return Verdict(VerdictState.UNDECIDED, reason="there is nothing to compare")
    decided = check_literal(claim, ground) or one_value_wrong(claim, ground)
    if decided is not None:
        return decided
    facts = facts_of(claim)
    own = tuple(f"{passage.heading}\n{passage.text}" for passage in ground.passages)
    missing = known_of(texts or own).missing(facts)
    reason = "it does not stand there in these words"
    if missing:
        reason = not_found(missing, "what is cited")
    elif facts.figures or facts.dates or facts.names:
        reason = "its figures, dates and names stand there, but not in these words"
    return Verdict(VerdictState.UNDECIDED, reason=reason, missing=missing)


def not_found(missing: Sequence[str], where: str) -> str:
    """Say which values of a claim do not stand in `where`."""
    quoted = [f"“{' '.join(value.split())}”" for value in missing]
    return f"{', '.join(quoted)} {'does' if len(quoted) == 1 else 'do'} not stand in {where}"


def is_literal(verdict: Verdict) -> bool:
    """Tell whether code found the claim's words there, which no judge overrules."""
    return verdict.state is VerdictState.SUPPORTED and verdict.decided_by == "code"


def judged(verdict: Verdict | None, passages: Sequence[Passage]) -> Verdict | None:
    """Take a judge's verdict; a quote that stands nowhere is not passed on."""
    if verdict is None:
        return None
    carrying = (p.id for p in passages if verdict.quote and verdict.quote in p.text)
    passage = next(carrying, None)
    quote = verdict.quote if passage else ""
    return Verdict(verdict.state, quote, verdict.reason, "judge", passage)
