"""Check a claim against the passages it cites: in code first, then, where undecided, by a judge."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Protocol

from agent.evidence.claims.findings import Finding, undecided
from agent.evidence.claims.free import check_free
from agent.evidence.claims.question import check_question, parse_question
from agent.evidence.claims.rows import check_rows, tells_of_several
from agent.evidence.claims.verbatim import check_verbatim
from agent.evidence.language.statements import Ground
from agent.types import Passage, Verdict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

KEPT_GROUNDS = 64
"""Sets of passages whose analysis is kept; the sentences of an answer share a few."""


class Judge(Protocol):
    """Decides a claim from the passages alone, where code could not."""

    def __call__(self, claim: str, passages: Sequence[Passage]) -> Verdict | None:
        """Give a verdict whose quote stands literally in one of the passages; None for none."""
        ...


def verify_claim(
    claim: str, passages: Sequence[Passage | str], judge: Judge | None = None
) -> Verdict:
    """Check one claim against passages (or plain strings): supported, contradicted, undecided.

    The verdict's quote stands literally in a passage. A judge is asked only what the code left
    undecided, so it never overrules a contradiction found in code.
    """
    ground = _ground(tuple(passages))
    verdict = _check(claim, ground).verdict()
    if judge is None or verdict.state is not VerdictState.UNDECIDED or not ground.passages:
        return verdict
    return _judged(judge(claim, ground.passages), ground) or verdict


async def verify_claim_async(
    claim: str,
    passages: Sequence[Passage | str],
    judge: Callable[[str, Sequence[Passage]], Awaitable[Verdict | None]] | None = None,
) -> Verdict:
    """Do what `verify_claim` does, with a judge that is awaited."""
    ground = _ground(tuple(passages))
    verdict = _check(claim, ground).verdict()
    if judge is None or verdict.state is not VerdictState.UNDECIDED or not ground.passages:
        return verdict
    return _judged(await judge(claim, ground.passages), ground) or verdict


@functools.lru_cache(maxsize=KEPT_GROUNDS)
def _ground(passages: tuple[Passage | str, ...]) -> Ground:
    return Ground(passages)


def _check(claim: str, ground: Ground) -> Finding:
    if not claim.strip() or not ground.statements:
        return undecided((), "there is nothing to compare")
    found = check_verbatim(claim, ground)
    if found:
        return found
    question = parse_question(claim)
    if question:
        return check_question(question, ground)
    return check_rows(claim, ground) or _free(claim, ground)


def _free(claim: str, ground: Ground) -> Finding:
    found = check_free(claim, ground)
    on_a_row = any(statement.passage.kind == "table" for statement in found.statements)
    if on_a_row and found.state is VerdictState.CONTRADICTED and tells_of_several(claim, ground):
        return undecided((), "it tells of several rows of a table")
    return found


def _judged(verdict: Verdict | None, ground: Ground) -> Verdict | None:
    """Take a judge's verdict; a quote that stands nowhere is not passed on."""
    if verdict is None:
        return None
    carrying = (p.id for p in ground.passages if verdict.quote and verdict.quote in p.text)
    passage = next(carrying, None)
    quote = verdict.quote if passage else ""
    return Verdict(verdict.state, quote, verdict.reason, "judge", passage)
