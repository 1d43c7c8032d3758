"""Skills that come and mend by themselves: proposed after good runs, rewritten once when they fail.

Both rest on what the person wrote and on which tools were used, never on a page, a query or an
answer: a skill outlives its run, and must not carry the web's words into later ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent import jsvalues as js
from agent.after.signals import score_of
from agent.after.turn import transcript
from agent.memory.layers import SKILL_SCORE
from agent.prompts import prompt
from agent.protocol import inert
from agent.protocol.replies import loose_object
from agent.tools.skills import LONGEST_NAME, LONGEST_SKILL, learn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.after.turn import Ask, TurnDone
    from agent.memory.storage import Upkeep

    Skill = dict[str, Any]

PROPOSE_EVERY = 7
"""Answered questions; the reference engine's."""
PROPOSED = 2
"""Skills from one run; more would be what it did, not what it learned."""
TURNS, UNITS = 8, 400
BETTER_SKILL = "better-skill"
PROPOSE = "propose"
FAILING = 30
"""A score below which a skill did more harm than good; it starts at 50 or 60."""


async def proposals(ask: Ask, known: Sequence[Skill], turn: TurnDone) -> list[tuple[str, str]]:
    """Ask for skills that are new; gives names and instructions."""
    names = [str(skill.get("name")) for skill in known]
    listed = "\n".join(f"- {name}" for name in names) or "(none)"
    used = ", ".join(turn.tools) or "(none)"
    request = f"Known:\n{listed}\n\nTools used: {used}\n\nThe person wrote:\n{_own_words(turn)}"
    rows = loose_object(await ask(PROPOSE, prompt(PROPOSE), request)).get("skills")
    found = dict(_named(rows if isinstance(rows, list) else []))
    return [(name, said) for name, said in found.items() if name not in names][:PROPOSED]


def keep(upkeep: Upkeep, new: Sequence[tuple[str, str]], now_ms: int) -> None:
    """Learn what was proposed."""
    for name, instruction in new:
        learn(upkeep, name, instruction, now_ms, source="auto")


def failing(skills: Sequence[Skill], shown: Sequence[str]) -> list[Skill]:
    """Find the skills that the run was given and whose score says that they fail."""
    return [s for s in skills if s.get("name") in shown and score_of(s) < FAILING]


async def mended(ask: Ask, skill: Skill, turn: TurnDone, now_ms: int) -> Skill | None:
    """Ask for a better instruction; None where the skill was mended before, or cannot be."""
    if skill.get("repairCount"):
        return None
    request = (
        f"Instruction “{skill['name']}”: {js.to_string(skill.get('instruction', ''))}\n\n"
        f"The person wrote:\n{_own_words(turn)}"
    )
    reply = await ask(BETTER_SKILL, prompt(BETTER_SKILL), request)
    said = _cut(loose_object(reply).get("instruction"))
    if not said:
        return None
    fresh = {"instruction": said, "score": SKILL_SCORE, "updatedAt": now_ms, "repairCount": 1}
    return {**skill, **fresh}


def _own_words(turn: TurnDone) -> str:
    own = [each for each in turn.history[-TURNS:] if each.role == "user"]
    return transcript(own, UNITS)


def _named(rows: list[Any]) -> Iterator[tuple[str, str]]:
    for row in rows:
        name, said = (
            (row.get("name"), row.get("instruction")) if isinstance(row, dict) else ("", "")
        )
        name, said = _cut(name, LONGEST_NAME), _cut(said)
        if name and said:
            yield name, said


def _cut(text: Any, most: int = LONGEST_SKILL) -> str:
    return inert(" ".join(text.split()))[:most] if isinstance(text, str) else ""
