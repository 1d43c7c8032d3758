"""What a check found: a state, the statements it rests on, and a reason for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.types import Verdict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.language.statements import Statement


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check in code."""

    state: VerdictState
    statements: tuple[Statement, ...]
    reason: str

    def verdict(self) -> Verdict:
        """Turn into a verdict; the quote is literal, from the first passage that carries it."""
        if not self.statements:
            return Verdict(self.state, "", self.reason)
        first, last = self.statements[0], self.statements[-1]
        passage = first.passage
        same = [s for s in self.statements if s.passage is passage]
        end = same[-1].sentence.end if last.passage is passage else len(passage.text.rstrip())
        quote = passage.text[first.sentence.start : end]
        return Verdict(self.state, quote, self.reason, passage=passage.id)


def supports(statements: Sequence[Statement], reason: str) -> Finding:
    """Carried by these statements."""
    return Finding(VerdictState.SUPPORTED, tuple(statements), reason)


def contradicts(statements: Sequence[Statement], reason: str) -> Finding:
    """Against what these statements say."""
    return Finding(VerdictState.CONTRADICTED, tuple(statements), reason)


def undecided(statements: Sequence[Statement], reason: str) -> Finding:
    """Neither carried nor contradicted, as far as code can tell."""
    return Finding(VerdictState.UNDECIDED, tuple(statements), reason)
