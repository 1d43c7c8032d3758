"""The worth of skills: scored by the model now and then, the useless ones dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent import jsvalues as js
from agent.after.signals import rounded, score_of
from agent.after.turn import transcript
from agent.prompts import prompt
from agent.protocol.replies import loose_object

if TYPE_CHECKING:
    from agent.after.turn import Ask, TurnDone

EVALUATE = "evaluate"
TURNS, UNITS = 10, 400
OLD_WEIGHT, NEW_WEIGHT = 0.6, 0.4
# Dropped: judged bad twice; used often and still bad; a month old and never used.
BAD_SCORE, BAD_TIMES = 10, 2
POOR_SCORE, POOR_USES = 20, 30
MONTH_MS = 30 * 24 * 60 * 60 * 1000
Skill = dict[str, Any]


async def evaluated(ask: Ask, skills: list[Skill], turn: TurnDone) -> dict[str, float] | None:
    """Ask for scores of the skills that were given; None where the reply holds none."""
    given = [skill for skill in skills if skill.get("name") in turn.shown]
    if not given:
        return None
    listed = "\n".join(
        f"- {skill['name']}: {js.to_string(skill.get('instruction', ''))} "
        f"(used {skill.get('usageCount') or 0} times, score {rounded(score_of(skill))})"
        for skill in given
    )
    said = transcript(turn.history[-TURNS:], UNITS)
    request = f"Instructions:\n{listed}\n\nConversation:\n{said}"
    scores = loose_object(await ask(EVALUATE, prompt(EVALUATE), request)).get("scores")
    return _numbers(scores) if isinstance(scores, dict) else None


def rescored(skills: list[Skill], scores: dict[str, float], now_ms: int) -> list[Skill]:
    """Mix new scores into the old ones."""
    changed = []
    for skill in skills:
        new = scores.get(str(skill.get("name")))
        if new is not None:
            mixed = score_of(skill) * OLD_WEIGHT + max(0.0, min(100.0, new)) * NEW_WEIGHT
            count = (skill.get("evalCount") or 0) + 1
            changed.append(
                {**skill, "score": rounded(mixed), "lastEvalAt": now_ms, "evalCount": count}
            )
    return changed


def useless(skill: Skill, now_ms: int) -> bool:
    """Tell whether a skill has had its chance."""
    score, uses = score_of(skill), skill.get("usageCount") or 0
    if score <= BAD_SCORE and (skill.get("evalCount") or 0) >= BAD_TIMES:
        return True
    if uses > POOR_USES and score <= POOR_SCORE:
        return True
    return now_ms - (skill.get("learnedAt") or 0) > MONTH_MS and uses == 0


def _numbers(scores: dict[str, Any]) -> dict[str, float]:
    return {
        name: float(score)
        for name, score in scores.items()
        if isinstance(score, int | float) and not isinstance(score, bool)
    }
