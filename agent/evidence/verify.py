"""Checks a claim against the passages that it cites, in three layers.

*Literal* finds claims that stand there word for word. *Values* lists figures, dates and names that
do not stand there, and reports a contradiction where the claim equals a sentence except for one
value or negation. A *judge* (a model), if there is one, decides everything else: it may overrule
the values, but never a literal match.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from agent.evidence.facts import extract_facts
from agent.evidence.literal import StatementIndex, check_literal
from agent.evidence.values import find_contradiction, value_index
from agent.types import Passage, Verdict, VerdictState

Judge = Callable[[str, Sequence[Passage]], Verdict | None]
"""Decides a claim that does not stand in the passages literally. Returns a verdict with a literal
quote from one of them, or None if it does not decide."""


def verify_claim(
    claim: str, passages: Sequence[Passage | str], judge: Judge | None = None
) -> Verdict:
    """Check one claim against passages (or plain strings): supported, contradicted or undecided.

    The verdict's quote stands literally in a passage. The reason of an undecided verdict names the
    values that were not found.
    """
    index = statement_index(tuple(passages), ())
    verdict = check_claim(claim, index)
    if judge is None or is_literal(verdict) or not index.passages:
        return verdict
    return drop_unfounded_quote(judge(claim, index.passages), index.passages) or verdict


@functools.lru_cache(maxsize=64)
def statement_index(
    passages: tuple[Passage | str, ...], titles: tuple[tuple[int, str], ...]
) -> StatementIndex:
    """Build the index of some passages, cached; `titles` are (source number, page title) pairs."""
    return StatementIndex(passages, dict(titles))


def check_claim(claim: str, index: StatementIndex, texts: tuple[str, ...] = ()) -> Verdict:
    """Check a claim in code: literally, then by its values.

    Values are looked up in `texts`, the cited sources as a whole; without them in the passages.
    """
    if not claim.strip() or not index.statements:
        return Verdict(VerdictState.UNDECIDED, reason="there is nothing to compare")
    decided = check_literal(claim, index) or find_contradiction(claim, index)
    if decided is not None:
        return decided
    facts = extract_facts(claim)
    if not texts:
        texts = tuple(f"{passage.heading}\n{passage.text}" for passage in index.passages)
    missing = value_index(texts).missing(facts)
    reason = "it does not stand there in these words"
    if missing:
        reason = not_found(missing, "what is cited")
    elif facts.figures or facts.dates or facts.names:
        reason = "its figures, dates and names stand there, but not in these words"
    return Verdict(VerdictState.UNDECIDED, reason=reason, missing=missing)


def not_found(missing: Sequence[str], where: str) -> str:
    """Format the reason that some values of a claim do not stand in `where`."""
    quoted = [f"“{' '.join(value.split())}”" for value in missing]
    return f"{', '.join(quoted)} {'does' if len(quoted) == 1 else 'do'} not stand in {where}"


def is_literal(verdict: Verdict) -> bool:
    """Tell whether code found the claim word for word, which no judge may overrule."""
    return verdict.state is VerdictState.SUPPORTED and verdict.decided_by == "code"


def drop_unfounded_quote(verdict: Verdict | None, passages: Sequence[Passage]) -> Verdict | None:
    """Mark a verdict as a judge's, with the passage of its quote; drop a quote that is nowhere."""
    if verdict is None:
        return None
    quoted = (p.id for p in passages if verdict.quote and verdict.quote in p.text)
    passage_id = next(quoted, None)
    quote = verdict.quote if passage_id else ""
    return Verdict(verdict.state, quote, verdict.reason, "judge", passage_id)
