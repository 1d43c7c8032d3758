"""Scores of skills, and skills that come and go by them.

A skill outlives its run: it rests on what the person wrote and on which tools were used, never on a
page, a query or an answer, and must not carry the web's words into later runs.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Literal

from agent import jsvalues as js
from agent.memory.layers import SKILL_SCORE, transcript
from agent.prompts import prompt
from agent.protocol.replies import inert, loose_object
from agent.tools.skill_tools import LONGEST_NAME, LONGEST_SKILL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from agent.memory.memory_types import Turn
    from agent.memory.storage import Upkeep

    Ask = Callable[[str, str, str], Awaitable[str]]
    """Name of the job (of its prompt and place), system prompt, request: to the reply."""

Skill = dict[str, Any]
Thumb = Literal["up", "down"]

THUMBS: dict[Thumb, int] = {"up": 12, "down": -18}
"""The reference engine's; blame weighs more than praise."""
# Its weights of what the person writes next, and how far they move a score at once.
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

EVALUATE, PROPOSE = "evaluate", "propose"
"""Names of the jobs that ask a model, of their prompts and places."""
EVALUATED_TURNS, OWN_TURNS, TURN_UNITS = 10, 8, 400
OLD_WEIGHT, NEW_WEIGHT = 0.6, 0.4
# Dropped: judged bad twice; used often and still bad; a month old and never used.
BAD_SCORE, BAD_TIMES = 10, 2
POOR_SCORE, POOR_USES = 20, 30
MONTH_MS = 30 * 24 * 60 * 60 * 1000
PROPOSED = 2
"""Skills from one run; more would be what it did, not what it learned."""


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


def signalled(
    skills: Iterable[Skill], shown: Sequence[str], weight: int, now_ms: int
) -> list[Skill]:
    """Give the skills that the run was given, their scores moved by the signal."""
    delta = max(LEAST, min(MOST, weight))
    given = [skill for skill in skills if skill.get("name") in shown]
    return [{**_moved(skill, delta, "signalCount"), "lastSignalAt": now_ms} for skill in given]


def feedback(upkeep: Upkeep, given: Iterable[str], thumb: Thumb) -> dict[str, int]:
    """Move the scores of the skills that a run was given by a thumb; gives the new ones by name."""
    names = set(given)
    known = [skill for skill in upkeep.skills() if skill.get("name") in names]
    changed = [_moved(skill, THUMBS[thumb], "feedbackCount") for skill in known]
    upkeep.put_skills(changed)
    return {skill["name"]: skill["score"] for skill in changed}


def _moved(skill: Skill, delta: int, counter: str) -> Skill:
    score = max(0, min(100, _rounded(score_of(skill) + delta)))
    return {**skill, "score": score, counter: (skill.get(counter) or 0) + 1}


def score_of(skill: Skill) -> float:
    """A skill's score; one that has none stands in the middle."""
    score = skill.get("score")
    return float(score) if isinstance(score, int | float) else float(SKILL_SCORE)


def _rounded(number: float) -> int:
    """Round half up, as the scores have always been rounded."""
    return math.floor(number + 0.5)


async def evaluated(
    ask: Ask, skills: Sequence[Skill], shown: Sequence[str], history: Sequence[Turn]
) -> dict[str, float] | None:
    """Ask for scores of the skills that were given; None where the reply holds none."""
    given = [skill for skill in skills if skill.get("name") in shown]
    if not given:
        return None
    listed = "\n".join(
        f"- {skill['name']}: {js.to_string(skill.get('instruction', ''))} "
        f"(used {skill.get('usageCount') or 0} times, score {_rounded(score_of(skill))})"
        for skill in given
    )
    said = transcript(history[-EVALUATED_TURNS:], TURN_UNITS)
    request = f"Instructions:\n{listed}\n\nConversation:\n{said}"
    scores = loose_object(await ask(EVALUATE, prompt(EVALUATE), request)).get("scores")
    if not isinstance(scores, dict):
        return None
    return {
        name: float(score)
        for name, score in scores.items()
        if isinstance(score, int | float) and not isinstance(score, bool)
    }


def rescored(skills: Sequence[Skill], scores: dict[str, float], now_ms: int) -> list[Skill]:
    """Mix new scores into the old ones."""
    changed = []
    for skill in skills:
        new = scores.get(str(skill.get("name")))
        if new is not None:
            mixed = score_of(skill) * OLD_WEIGHT + max(0.0, min(100.0, new)) * NEW_WEIGHT
            count = (skill.get("evalCount") or 0) + 1
            fresh = {"score": _rounded(mixed), "lastEvalAt": now_ms, "evalCount": count}
            changed.append({**skill, **fresh})
    return changed


def useless(skill: Skill, now_ms: int) -> bool:
    """Tell a skill that has had its chance."""
    score, uses = score_of(skill), skill.get("usageCount") or 0
    if score <= BAD_SCORE and (skill.get("evalCount") or 0) >= BAD_TIMES:
        return True
    if uses > POOR_USES and score <= POOR_SCORE:
        return True
    return now_ms - (skill.get("learnedAt") or 0) > MONTH_MS and uses == 0


async def proposed(
    ask: Ask, known: Sequence[Skill], tools: Sequence[str], history: Sequence[Turn]
) -> list[tuple[str, str]]:
    """Ask for skills that are new; gives names and instructions."""
    names = [str(skill.get("name")) for skill in known]
    listed = "\n".join(f"- {name}" for name in names) or "(none)"
    used = ", ".join(tools) or "(none)"
    own = _own_words(history)
    request = f"Known:\n{listed}\n\nTools used: {used}\n\nThe person wrote:\n{own}"
    rows = loose_object(await ask(PROPOSE, prompt(PROPOSE), request)).get("skills")
    found: dict[str, str] = {}
    for row in rows if isinstance(rows, list) else []:
        fields = row if isinstance(row, dict) else {}
        name = _cut(fields.get("name"), LONGEST_NAME)
        said = _cut(fields.get("instruction"), LONGEST_SKILL)
        if name and said and name not in names:
            found[name] = said
    return list(found.items())[:PROPOSED]


def _own_words(history: Sequence[Turn]) -> str:
    own = [turn for turn in history[-OWN_TURNS:] if turn.role == "user"]
    return transcript(own, TURN_UNITS)


def _cut(text: Any, most: int) -> str:
    return inert(" ".join(text.split()))[:most] if isinstance(text, str) else ""
