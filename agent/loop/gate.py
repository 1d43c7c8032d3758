"""The gate before an answer leaves: what does not hold goes back to the model, once."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent.errors import ModelError, ReplayDiverged, ResearchError
from agent.evidence.answer import check_answer
from agent.guard.model_client import ModelClient
from agent.journal.events import REVIEW
from agent.loop.judge import Verdicts, judge, judge_system, open_claims
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol.replies import MARKUP, gives_up, inert
from agent.types import VerdictState
from browser.text.sentences import sentences
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.evidence.store import Evidence
    from agent.guard.model_client import Record
    from agent.loop.loop import LoopResult
    from agent.loop.orchestrator import Orchestrator
    from agent.models.base import Model
    from agent.types import Passage

SAME = 0.6
"""Share of a supported sentence's words in a sentence of the second answer that stands for it."""
NO_ANSWER = "it does not answer the question that was asked"
_CITATION = re.compile(r"\[[^\]]*\]")


@dataclass(slots=True)
class Gate:
    """Checks an answer before it leaves: code first, then a judge, then one round of repair.

    `judge` decides what code leaves open; None leaves it open. `verdicts` are its decisions.
    """

    work: Orchestrator
    evidence: Evidence
    record: Record
    judge: Model | None = None
    verdicts: Verdicts = field(default_factory=Verdicts)

    async def check(self, result: LoopResult) -> LoopResult:
        """Give the answer, mended once where a sentence of it is refused."""
        await self._judge(result.text, "judge/1")
        work = self.work
        reviewed = result.limit or work.as_report  # the sections of a report have been
        if reviewed or not takes(work.model, Task.REVIEW) or work.budget.steps_left <= 0:
            return result
        said = objections(result.text, self.evidence, self.verdicts)
        if said is None:
            return result
        kept = check_answer(result.text, self.evidence, self.verdicts).supported
        self.record(REVIEW, REVIEW, said=said, kept=list(kept))
        again = await repair(work, result, said, kept)
        await self._judge(again.text, "judge/2")
        return again

    async def _judge(self, answer: str, place: str) -> None:
        if _claims_something(answer, self.evidence):
            await self.decide(open_claims(answer, self.evidence), place, answer)

    async def decide(
        self, claims: Mapping[str, Sequence[Passage]], place: str, answer: str = ""
    ) -> Verdicts:
        """Let the judge decide claims in one request; gives all verdicts that there are now.

        Those decided before are not asked again. Where the judge fails they stay open, with a note.
        """
        claims = self.verdicts.undecided(claims)
        if self.judge is None or not claims or not takes(self.judge, Task.JUDGE):
            return self.verdicts
        system, budget = judge_system(self.evidence.question), self.work.budget
        asker = ModelClient(self.judge, system, budget, self.record)
        try:
            async with asyncio.timeout(budget.seconds_left(reserve=False)):
                decided = await judge(asker, place, claims, self.evidence, answer)
        except ReplayDiverged:
            raise
        except (ResearchError, TimeoutError) as error:
            self.record("note", place, text=f"the judge failed: {error or 'timeout'}")
            return self.verdicts
        if not answer:  # claims of their own say nothing of the answer
            decided.answers = None
        self.verdicts = self.verdicts.merge(decided)
        self.record("judge", place, verdicts=decided.rows())
        return self.verdicts


@dataclass(frozen=True, slots=True)
class SectionGate:
    """Says what does not hold in a section of a report, and puts that on record."""

    evidence: Evidence
    record: Record

    def __call__(self, text: str, place: str) -> str | None:
        """Check a section by code alone; what code leaves open is judged in the whole report."""
        said = objections(text, self.evidence)
        if said is not None:
            self.record(REVIEW, f"{place}/{REVIEW}", said=said)
        return said


async def repair(
    work: Orchestrator, result: LoopResult, said: str, kept: Sequence[str] = ()
) -> LoopResult:
    """Let the answer be mended; the first one stands where that fails.

    `kept` are the first answer's supported sentences: one that the second leaves out is put behind
    it, and where it gives up they are the answer.
    """
    try:
        again = await work.follow_up(result.text, said)
    except ModelError:
        return result
    if again.limit or not again.text:
        return result
    if kept and gives_up(again.text):
        return replace(again, text="\n\n".join(kept))
    text = _CITATION.sub("", again.text)
    told = [frozenset(content_words(text[start:end])) for start, end in sentences(text)]
    lost: list[str] = []
    for sentence in kept:
        wanted = frozenset(content_words(_CITATION.sub("", sentence)))
        if wanted and not any(len(wanted & stems) >= SAME * len(wanted) for stems in told):
            lost.append(sentence)
    return replace(again, text="\n\n".join([again.text, *lost]))


def objections(answer: str, evidence: Evidence, verdicts: Verdicts | None = None) -> str | None:
    """Say which sentences are refused and why; None where none is, or nothing was claimed.

    Refused is what code or the judge found contradicted, what the judge did not find carried, what
    cites a passage that was not read, and an answer to another question.
    """
    if not _claims_something(answer, evidence):
        return None
    checked = check_answer(answer, evidence, verdicts)
    unread = {text for text, _ in checked.unread_citations}
    lines: list[str] = []
    for one in checked.sentences:
        wrong = one.verdict is VerdictState.CONTRADICTED or one.decided_by == "judge"
        refused = one.verdict is not VerdictState.SUPPORTED and (wrong or one.text in unread)
        if refused and not one.about_search:
            lines.append(f"- “{inert(one.text)}” — {inert(one.reason)}")
    if not lines and verdicts is not None and verdicts.answers == "no":
        lines = [f"- the whole answer — {NO_ANSWER}"]
    return prompt(REVIEW).replace("{sentences}", "\n".join(lines)) if lines else None


def _claims_something(answer: str, evidence: Evidence) -> bool:
    return bool(answer.strip(MARKUP)) and not evidence.is_empty and not gives_up(answer)
