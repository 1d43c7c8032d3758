"""The second stage of checking: a model decides what code left open, from the passages alone.

It sees neither the question nor the conversation that wrote the claims, and never what the code
found contradicted. One call judges all claims of an answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.evidence import check_answer
from agent.messages import prompt
from agent.models import Message
from agent.protocol import inert
from agent.types import Verdict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.asking import Asker
    from agent.evidence import Evidence
    from agent.types import Passage

JUDGE = "judge"
_MOST_PASSAGES = 6
"""Passages shown with a claim; an answer cites one or two, a whole source may stand for more."""
_LINE = re.compile(
    r"^\W*(\d+)\W+(supported|contradicted|undecided)\b[\s\W]*?(?:[\"“](.*?)[\"”])?\s*$",
    re.IGNORECASE | re.MULTILINE,
)


class Verdicts:
    """A judge that has decided already: gives its verdicts by claim."""

    def __init__(self, decided: Mapping[str, Verdict]) -> None:
        self._decided = decided

    def __call__(self, claim: str, passages: Sequence[Passage]) -> Verdict:  # noqa: ARG002 - seen
        """Give the verdict on a claim; undecided where there was none."""
        return self._decided.get(claim, _OPEN)


class _Docket:
    """Stands in for a judge and notes what it would be asked."""

    def __init__(self) -> None:
        self.claims: dict[str, Sequence[Passage]] = {}

    def __call__(self, claim: str, passages: Sequence[Passage]) -> Verdict:
        self.claims[claim] = passages
        return _OPEN


def open_claims(answer: str, evidence: Evidence) -> dict[str, Sequence[Passage]]:
    """Find the sentences that code leaves undecided, with the passages that they cite."""
    docket = _Docket()
    check_answer(answer, evidence, docket)
    return docket.claims


async def judge(asker: Asker, place: str, claims: Mapping[str, Sequence[Passage]]) -> Verdicts:
    """Ask a model about claims; what it does not answer stays undecided. Raises `ModelError`."""
    reply = await asker.ask(place, [Message("user", _request(claims))])
    return Verdicts(_read(reply.text, list(claims)))


def judge_system() -> str:
    """The judge's own system prompt."""
    return prompt(JUDGE)


def _request(claims: Mapping[str, Sequence[Passage]]) -> str:
    blocks = []
    for number, (claim, passages) in enumerate(claims.items(), 1):
        shown = "\n".join(" ".join(p.text.split()) for p in passages[:_MOST_PASSAGES])
        blocks.append(f"Claim {number}: {inert(claim)}\n<web>\n{inert(shown)}\n</web>")
    return "\n\n".join(blocks)


def _read(text: str, claims: Sequence[str]) -> dict[str, Verdict]:
    decided: dict[str, Verdict] = {}
    for match in _LINE.finditer(text):
        index = int(match[1]) - 1
        if 0 <= index < len(claims):
            state = VerdictState(match[2].lower())
            decided[claims[index]] = Verdict(state, match[3] or "", _REASONS[state], "judge")
    return decided


_OPEN = Verdict(VerdictState.UNDECIDED, reason="the passages do not clearly say so")
_REASONS = {
    VerdictState.SUPPORTED: "the passages say it in other words",
    VerdictState.CONTRADICTED: "the passages say otherwise",
    VerdictState.UNDECIDED: "the passages do not clearly say so",
}
