"""A thumb up or down on a run, for the skills that it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agent.after.signals import clamped, score_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.memory.storage import Upkeep

Thumb = Literal["up", "down"]
WEIGHTS: dict[Thumb, int] = {"up": 12, "down": -18}
"""The reference engine's; blame weighs more than praise."""


def feedback(upkeep: Upkeep, given: Iterable[str], thumb: Thumb) -> dict[str, int]:
    """Move the scores of the skills that were given; gives the new ones by name."""
    names = set(given)
    changed = [
        {
            **skill,
            "score": clamped(score_of(skill) + WEIGHTS[thumb]),
            "feedbackCount": (skill.get("feedbackCount") or 0) + 1,
        }
        for skill in upkeep.skills()
        if skill.get("name") in names
    ]
    upkeep.put_skills(changed)
    return {skill["name"]: skill["score"] for skill in changed}
