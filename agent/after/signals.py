"""Satisfaction, read from what the person writes next."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from agent.memory.layers import SKILL_SCORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.memory import Turn

# The reference engine's weights.
COMPLAINT, PRAISE = -15, 10
FIRST_WITHOUT_PRAISE, LONG_CONVERSATION = -3, 5
FIRST_TURNS, LONG_TURNS = 2, 8
LEAST, MOST = -20, 15
_COMPLAINTS = re.compile(
    r"\bno\b.*\bwrong\b|\bstop\b.*\bdoing\b|\bdon'?t\b.*\bdo that\b|\bnot what i\b"
    r"|\bi didn'?t ask\b|\btry again\b|\bincorrect\b|\bwrong\b|\bnot helpful\b|\buseless\b"
    r"|\bno[,.]?\s*(?:that|this) is|\bactually[,.]?\s*(?:i|it|the)\b",
    re.ASCII,
)
_PRAISE = re.compile(
    r"\b(?:thanks?|perfect|great|exactly|nice|awesome|good job|love it|nailed it)\b", re.ASCII
)
_ABOUT_SOMETHING = re.compile(r"\bwhat(?:'s| is| went| goes)\s+(?:\w+\s+)?wrong\b", re.ASCII)
"""Asking what is wrong with something is no complaint."""


def signal(history: Sequence[Turn]) -> int:
    """Weigh the newest thing the person wrote, and how long the conversation has lasted.

    Each message is weighed in its own turn only: one complaint counts once.
    """
    said = next((turn.text.lower() for turn in reversed(history) if turn.role == "user"), "")
    complains = bool(_COMPLAINTS.search(_ABOUT_SOMETHING.sub("", said)))
    praises = bool(_PRAISE.search(said))
    total = COMPLAINT * complains + PRAISE * praises
    if len(history) <= FIRST_TURNS and not praises:
        total += FIRST_WITHOUT_PRAISE
    if len(history) >= LONG_TURNS:
        total += LONG_CONVERSATION
    return total


def weighed(
    skills: Iterable[dict[str, Any]], shown: Sequence[str], weight: int, now_ms: int
) -> list[dict[str, Any]]:
    """Give the skills that the run was given, their scores moved by the signal."""
    delta = max(LEAST, min(MOST, weight))
    return [
        {
            **skill,
            "score": clamped(score_of(skill) + delta),
            "lastSignalAt": now_ms,
            "signalCount": (skill.get("signalCount") or 0) + 1,
        }
        for skill in skills
        if skill.get("name") in shown
    ]


def score_of(skill: dict[str, Any]) -> float:
    """A skill's score; one that has none stands in the middle."""
    score = skill.get("score")
    return float(score) if isinstance(score, int | float) else float(SKILL_SCORE)


def clamped(score: float) -> int:
    """Round half up, as the scores have always been rounded, and keep within 0 to 100."""
    return max(0, min(100, rounded(score)))


def rounded(number: float) -> int:
    """Round half up."""
    return math.floor(number + 0.5)
