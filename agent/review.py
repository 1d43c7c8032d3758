"""The gate before an answer leaves: what does not hold goes back to the model, once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.errors import ModelError, ResearchError
from agent.evidence import check_answer
from agent.judge import Verdicts, judge, judge_system, open_claims
from agent.model_client import ModelClient
from agent.models import Task, takes
from agent.prompts import prompt
from agent.protocol import NOT_FOUND, inert
from agent.types import VerdictState

if TYPE_CHECKING:
    from agent.evidence import Evidence
    from agent.loop import LoopResult
    from agent.model_client import Record
    from agent.models import Model
    from agent.planner import Work
    from agent.types import Sentence

REVIEW = "review"
SURELY_WRONG = frozenset({VerdictState.CONTRADICTED, VerdictState.UNCITED})
NOT_SUPPORTED = SURELY_WRONG | {VerdictState.UNDECIDED}


@dataclass(slots=True)
class Gate:
    """Checks an answer before it leaves: code first, then a judge, then one round of repair.

    `judge` decides what code leaves open; None leaves it open. `verdicts` are its decisions.
    """

    work: Work
    evidence: Evidence
    record: Record
    judge: Model | None = None
    verdicts: Verdicts = field(default_factory=Verdicts)

    async def passed(self, result: LoopResult) -> LoopResult:
        """Give the answer, mended once where a sentence of it does not hold."""
        await self._judge(result.text, "judge/1")
        work = self.work
        reviewed = result.limit or work.as_report  # the sections of a report have been
        if reviewed or not takes(work.model, Task.REVIEW) or work.budget.steps_left <= 0:
            return result
        said = objections(result.text, self.evidence, self.verdicts)
        if said is None:
            return result
        self.record(REVIEW, REVIEW, said=said)
        again = await repaired(work, result, said)
        await self._judge(again.text, "judge/2")
        return again

    async def _judge(self, answer: str, place: str) -> None:
        """Let the judge decide what is open; where that fails it stays open, with a note."""
        if self.judge is None or not _claims_something(answer, self.evidence):
            return
        claims = self.verdicts.without_decided(open_claims(answer, self.evidence))
        if not claims or not takes(self.judge, Task.JUDGE):
            return
        asker = ModelClient(self.judge, judge_system(), self.work.budget, self.record)
        try:
            async with asyncio.timeout(self.work.budget.seconds_left(reserve=False)):
                decided = await judge(asker, place, claims, self.evidence)
        except (ResearchError, TimeoutError) as error:
            self.record("note", place, text=f"the judge failed: {error or 'timeout'}")
            return
        self.verdicts = self.verdicts.joined(decided)
        self.record("judge", place, verdicts=decided.rows())


@dataclass(frozen=True, slots=True)
class SectionGate:
    """Says what does not hold in a section of a report, and puts that on record."""

    evidence: Evidence
    record: Record

    def __call__(self, text: str, place: str) -> str | None:
        """Check a section by code alone; what code leaves open is judged in the whole report."""
        said = objections(text, self.evidence, wrong=SURELY_WRONG)
        if said is not None:
            self.record(REVIEW, f"{place}/{REVIEW}", said=said)
        return said


async def repaired(work: Work, result: LoopResult, said: str) -> LoopResult:
    """Let the answer be mended; the first one stands where that fails."""
    try:
        again = await work.go_on(result.text, said)
    except ModelError:
        return result
    return result if again.limit or not again.text else again


def objections(
    answer: str,
    evidence: Evidence,
    verdicts: Verdicts | None = None,
    *,
    wrong: frozenset[VerdictState] = NOT_SUPPORTED,
) -> str | None:
    """Say which sentences do not hold and why; None where all do, or nothing was claimed."""
    if not _claims_something(answer, evidence):
        return None
    sentences = check_answer(answer, evidence, verdicts).sentences
    found = [sentence for sentence in sentences if sentence.verdict in wrong]
    if not found:
        return None
    return prompt(REVIEW).replace("{sentences}", "\n".join(map(_line, found)))


def _claims_something(answer: str, evidence: Evidence) -> bool:
    said = answer.lstrip("*_`# ")
    return bool(said) and not evidence.is_empty and not said.startswith(NOT_FOUND)


def _line(sentence: Sentence) -> str:
    reason = sentence.reason or _REASONS[sentence.verdict]
    return f"- “{inert(sentence.text)}” — {inert(reason)}"


_REASONS = {
    VerdictState.UNCITED: "no passage is cited",
    VerdictState.UNDECIDED: "the passages cited do not clearly say so",
    VerdictState.CONTRADICTED: "the passages cited say otherwise",
    VerdictState.SUPPORTED: "",
}
