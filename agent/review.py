"""The gate before an answer leaves: what does not hold goes back to the model, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.errors import ModelError
from agent.evidence import check_answer
from agent.messages import prompt
from agent.models import Task, takes
from agent.protocol import NOT_FOUND, inert
from agent.types import VerdictState

if TYPE_CHECKING:
    from agent.asking import Record
    from agent.evidence import Evidence
    from agent.loop import LoopResult
    from agent.planner import Work
    from agent.types import Sentence

REVIEW = "review"


async def reviewed(
    work: Work, result: LoopResult, evidence: Evidence, record: Record
) -> LoopResult:
    """Give the answer, after one round of repair where a sentence of it does not hold."""
    if result.limit or not takes(work.model, Task.REVIEW) or not work.budget.steps_left:
        return result
    said = objections(result.text, evidence)
    if said is None:
        return result
    record(REVIEW, REVIEW, said=said)
    return await repaired(work, result, said)


async def repaired(work: Work, result: LoopResult, said: str) -> LoopResult:
    """Let the answer be mended; the first one stands where that fails."""
    try:
        again = await work.repair(result.text, said)
    except ModelError:
        return result
    return result if again.limit or not again.text else again


def objections(answer: str, evidence: Evidence) -> str | None:
    """Say which sentences do not hold and why; None where all do, or nothing was claimed."""
    if not evidence.sources or not answer or answer.lstrip("*_`# ").startswith(NOT_FOUND):
        return None
    sentences = check_answer(answer, evidence).sentences
    wrong = [s for s in sentences if s.verdict is not VerdictState.SUPPORTED]
    if not wrong:
        return None
    return prompt(REVIEW).replace("{sentences}", "\n".join(map(_line, wrong)))


def _line(sentence: Sentence) -> str:
    reason = sentence.reason or _REASONS[sentence.verdict]
    return f"- “{inert(sentence.text)}” — {inert(reason)}"


_REASONS = {
    VerdictState.UNCITED: "no passage is cited",
    VerdictState.UNDECIDED: "the passages cited do not clearly say so",
    VerdictState.CONTRADICTED: "the passages cited say otherwise",
    VerdictState.SUPPORTED: "",
}
