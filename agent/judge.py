"""The second stage of checking: a model decides what code left open, from the passages alone.

It sees neither the question nor the conversation that wrote the claims, and never what the code
found contradicted. One call judges all claims of an answer.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from agent.evidence import check_answer
from agent.evidence.placed import placed
from agent.models import Message
from agent.prompts import prompt
from agent.protocol import inert
from agent.types import Verdict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.evidence import Evidence
    from agent.model_client import ModelClient
    from agent.types import Passage

JUDGE = "judge"
_MOST_PASSAGES = 6
"""Passages shown with a claim; an answer cites one or two, a whole source may stand for more."""
_LINE = re.compile(
    r"^\W*(?:claim\W+)?(\d+)\W+(supported|contradicted|undecided)\b(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""Number, word, and whatever a model says after it: many give a reason beside the quote."""
_MARKS = frozenset('"“”')


Case = tuple[str, str]
"""A claim, and the ids of the passages that it cites."""


class Verdicts:
    """A judge that has decided already: gives its verdicts by claim and what the claim cites.

    The same sentence with another citation is another question.
    """

    def __init__(self, decided: Mapping[Case, Verdict] | None = None) -> None:
        self._decided = dict(decided or {})

    def __call__(self, claim: str, passages: Sequence[Passage]) -> Verdict | None:
        """Give the verdict on a claim that cites these passages; None for none."""
        return self._decided.get(_case(claim, passages))

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, str]]) -> Verdicts:
        """Take verdicts back from the record."""
        return cls(
            {
                (row["claim"], row.get("cited", "")): Verdict(
                    VerdictState(row["state"]), row["quote"], row["reason"], "judge"
                )
                for row in rows
            }
        )

    def rows(self) -> list[dict[str, str]]:
        """The verdicts as the record keeps them."""
        return [
            {
                "claim": claim,
                "cited": cited,
                "state": v.state.value,
                "quote": v.quote,
                "reason": v.reason,
            }
            for (claim, cited), v in self._decided.items()
        ]

    def without_decided(
        self, claims: Mapping[str, Sequence[Passage]]
    ) -> dict[str, Sequence[Passage]]:
        """Leave out the claims that are decided already."""
        return {
            claim: cited
            for claim, cited in claims.items()
            if _case(claim, cited) not in self._decided
        }

    def joined(self, other: Verdicts) -> Verdicts:
        """Add the verdicts of another round."""
        return Verdicts({**self._decided, **other._decided})


def _case(claim: str, passages: Sequence[Passage]) -> Case:
    return claim, " ".join(passage.id for passage in passages)


class _Docket:
    """Stands in for a judge and notes what it would be asked."""

    def __init__(self) -> None:
        self.claims: dict[str, Sequence[Passage]] = {}

    def __call__(self, claim: str, passages: Sequence[Passage]) -> None:
        self.claims[claim] = passages


def open_claims(answer: str, evidence: Evidence) -> dict[str, Sequence[Passage]]:
    """Find the sentences that code leaves undecided, with the passages that they cite."""
    docket = _Docket()
    check_answer(answer, evidence, docket)
    return docket.claims


async def judge(
    asker: ModelClient, place: str, claims: Mapping[str, Sequence[Passage]], evidence: Evidence
) -> Verdicts:
    """Ask a model about claims; what it does not answer stays undecided. Raises `ModelError`."""
    reply = await asker.ask(place, [Message("user", judge_request(claims, evidence))])
    return read_verdicts(reply.text, claims)


def judge_system() -> str:
    """The judge's own system prompt."""
    return prompt(JUDGE)


def judge_request(claims: Mapping[str, Sequence[Passage]], evidence: Evidence) -> str:
    """Write what a judge is asked: the claims, numbered from 1, before the passages they cite.

    Claims that cite the same passages stand together, so that these are shown once.
    """
    groups: dict[str, list[str]] = {}
    for number, (claim, passages) in enumerate(claims.items(), 1):
        shown = "\n".join(placed(passage, evidence) for passage in passages[:_MOST_PASSAGES])
        groups.setdefault(shown, []).append(f"Claim {number}: {inert(claim)}")
    blocks = (
        "\n".join(group) + f"\n<web>\n{inert(shown)}\n</web>" for shown, group in groups.items()
    )
    return "\n\n".join(blocks)


def read_verdicts(reply: str, claims: Mapping[str, Sequence[Passage]]) -> Verdicts:
    """Read a judge's reply: a line a claim, by its number; a claim without one stays open."""
    cases = list(claims.items())
    decided: dict[Case, Verdict] = {}
    for match in _LINE.finditer(reply):
        index = int(match[1]) - 1
        if 0 <= index < len(cases):
            state = VerdictState(match[2].lower())
            quote = _quote(match[3], cases[index][1])
            decided[_case(*cases[index])] = Verdict(state, quote, _REASONS[state], "judge")
    return Verdicts(decided)


def _quote(rest: str, passages: Sequence[Passage]) -> str:
    """Find the words quoted in the rest of a line that stand in a passage, the longest first.

    The words may have quotation marks of their own, and several places may be quoted.
    """
    marks = [i for i, character in enumerate(rest) if character in _MARKS]
    spans = [rest[a + 1 : b] for a, b in itertools.combinations(marks, 2)]
    quoted = sorted((span.strip() for span in spans), key=len, reverse=True)
    found = (q for q in quoted if q and any(q in passage.text for passage in passages))
    return next(found, "")


_REASONS = {
    VerdictState.SUPPORTED: "the passages say it in other words",
    VerdictState.CONTRADICTED: "the passages say otherwise",
    VerdictState.UNDECIDED: "the passages do not clearly say so",
}
