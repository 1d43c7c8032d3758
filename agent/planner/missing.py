"""What a draft leaves open: asked of the model, and handed back to it to be researched."""

from __future__ import annotations

from agent.messages import prompt
from agent.models import Message
from agent.protocol.loose import loose_object

MISSING = "missing"
LONGEST = 300
"""Characters of an open point: it is a question, not an essay."""


def system() -> str:
    """Give the instructions for finding open points."""
    return prompt(MISSING)


def request(question: str, draft: str, most: int) -> Message:
    """Ask for the points, at most so many."""
    said = draft or "(nothing was found)"
    return Message("user", f"At most {most} points.\n\nQuestion: {question}\n\nDraft:\n{said}")


def read_points(reply: str, most: int) -> list[str]:
    """Read the points of a reply; anything that is no list of questions is none."""
    points = loose_object(reply).get("open")
    if not isinstance(points, list):
        return []
    named = [" ".join(point.split())[:LONGEST] for point in points if isinstance(point, str)]
    return [point for point in dict.fromkeys(named) if point][:most]


def note(points: list[str]) -> str:
    """Say what is still open, and what to do about it."""
    listed = "\n".join(f"- {point}" for point in points)
    return prompt("open-points").replace("{points}", listed)
