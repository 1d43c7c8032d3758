"""The answer review: sends unsupported sentences back to the model, once."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.errors import ModelError
from agent.evidence.answer import check_answer
from agent.journal.events import JUDGE, REVIEW
from agent.loop.challenge import challenge
from agent.loop.judge import find_undecided_claims
from agent.loop.primary import follow_citations
from agent.models.base import Task, takes
from agent.prompts import prompt
from agent.protocol.replies import MARKUP, gives_up, inert
from agent.types import VerdictState
from browser.text.sentences import sentences
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.evidence.store import Evidence
    from agent.loop.judge import ClaimJudge
    from agent.loop.loop import LoopResult
    from agent.loop.orchestrator import Orchestrator
    from agent.tools.context import Web
    from agent.types import Passage

MIN_SAME_SHARE = 0.6
"""A corrected sentence counts as the same one if it keeps at least this share of its words."""
NO_ANSWER = "it does not answer the question that was asked"
_CITATION_RE = re.compile(r"\[[^\]]*\]")


@dataclass(slots=True)
class AnswerReview:
    """Checks an answer with fixed rules, then with a judge, and has the model correct it once."""

    work: Orchestrator
    judge: ClaimJudge

    async def check(self, result: LoopResult) -> LoopResult:
        """Return the answer, corrected once if any of its sentences was rejected."""
        work, evidence = self.work, self.judge.evidence
        await self._judge(result.text, "judge/1")
        # The parts of a report have already been corrected individually (`check_parts`).
        final = result.limit or work.as_report
        if final or not takes(work.model, Task.REVIEW) or work.budget.steps_left <= 0:
            return result
        note = objections_note(result.text, evidence, self.judge)
        if note is None:
            return result
        supported = check_answer(result.text, evidence, self.judge).supported
        self.judge.record(REVIEW, REVIEW, said=note, kept=list(supported))
        corrected = await repair(work, result, note, supported)
        if corrected.text != result.text:
            await self._judge(corrected.text, "judge/2")
        return corrected

    async def challenge_claims(self, result: LoopResult, limit: int, web: Web | None) -> None:
        """Follow the citations of up to `limit` central claims; search for evidence against them.

        Does nothing if a limit cut the answer short.
        """
        if not limit or result.limit is not None:
            return
        if web is not None:
            await follow_citations(self.work, self.judge, web.reader.read, result.text, limit)
        await challenge(self.work, self.judge, result.text, limit)

    async def _judge(self, answer: str, place: str) -> None:
        if _makes_claims(answer, self.judge.evidence):
            await self.judge.review(answer, place)


async def check_parts(judge: ClaimJudge, parts: Mapping[str, str]) -> dict[str, str]:
    """Check parts of a report (sections, or its frame) with rules, then with one judge request.

    `parts` maps places to text. Records the objections and returns them by place.
    """
    evidence = judge.evidence
    parts = {place: text for place, text in parts.items() if _makes_claims(text, evidence)}
    claims: dict[str, Sequence[Passage]] = {}
    for text in parts.values():
        claims |= find_undecided_claims(text, evidence)
    await judge.decide(claims, f"{JUDGE}/{'-'.join(parts)}", "\n\n".join(parts.values()))
    notes: dict[str, str] = {}
    for place, text in parts.items():
        if note := objections_note(text, evidence, judge):
            judge.record(REVIEW, f"{place}/{REVIEW}", said=note)
            notes[place] = note
    return notes


async def repair(
    work: Orchestrator, result: LoopResult, note: str, supported: Sequence[str]
) -> LoopResult:
    """Have the model correct an answer according to a note; if that fails, keep the first answer.

    `supported` lists the supported sentences of the first answer. If the corrected answer lacks any
    of these sentences, they are appended to it; if the model gives up, they become the answer.
    """
    try:
        corrected = await work.follow_up(result.text, note)
    except ModelError:
        return result
    if corrected.limit or not corrected.text:
        return result
    if supported and gives_up(corrected.text):
        return replace(corrected, text="\n\n".join(supported))
    text = _CITATION_RE.sub("", corrected.text)
    new = [frozenset(content_words(text[start:end])) for start, end in sentences(text)]
    missing: list[str] = []
    for sentence in supported:
        stems = frozenset(content_words(_CITATION_RE.sub("", sentence)))
        if stems and not any(len(stems & other) >= MIN_SAME_SHARE * len(stems) for other in new):
            missing.append(sentence)
    return replace(corrected, text="\n\n".join([corrected.text, *missing]))


def objections_note(answer: str, evidence: Evidence, judge: ClaimJudge | None) -> str | None:
    """List the rejected sentences with reasons, as a note to the model; None if there are none.

    A sentence is rejected if it is contradicted, if the judge did not find it supported, or if it
    cites a passage that was not read. The entire answer is rejected if it answers a different
    question.
    """
    if not _makes_claims(answer, evidence):
        return None
    checked = check_answer(answer, evidence, judge)
    unread = {text for text, _ in checked.unread_citations}
    lines: list[str] = []
    for sentence in checked.sentences:
        if sentence.verdict.holds or sentence.about_search:
            continue
        contradicted = sentence.verdict is VerdictState.CONTRADICTED
        if contradicted or sentence.decided_by == "judge" or sentence.text in unread:
            lines.append(f"- “{inert(sentence.text)}” — {inert(sentence.reason)}")
    if not lines and judge is not None and judge.addresses_question == "no":
        lines = [f"- the whole answer — {NO_ANSWER}"]
    return prompt(REVIEW).replace("{sentences}", "\n".join(lines)) if lines else None


def _makes_claims(answer: str, evidence: Evidence) -> bool:
    return bool(answer.strip(MARKUP)) and not evidence.is_empty and not gives_up(answer)
