"""What a model is asked beside the answer: subtasks or steps, and what a draft leaves open."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agent import jsvalues as js
from agent.prompts import prompt
from agent.protocol.replies import inert, loose_object
from agent.types import Message

# The reference engine's trigger and limits; lengths in UTF-16 units.
LONG_QUESTION = 120
FEWEST, MOST = 2, 4
SIDE_BY_SIDE = 4
"""Loops at once: as many as a plan has subtasks; more would only wait for the same sites."""
NO_RESPONSE = "No response."
"""What an empty answer is called."""
_JOINS = re.compile(r"\b(?:and|then|also|after that|next|finally)\b", re.IGNORECASE | re.ASCII)
_PLAIN = re.compile(r"(?:hi|hey|hello|what|who|how much|price|gm)\b", re.IGNORECASE | re.ASCII)
"""Greetings and short questions are one task, however long; by whole words (`History` is none)."""


@dataclass(frozen=True, slots=True)
class Subtask:
    """A phase of a request, and the numbers of the earlier ones whose results it needs."""

    task: str
    depends_on: tuple[int, ...] = ()
    dependent: bool = False


def wants_plan(question: str) -> bool:
    """Tell whether a question may have several phases, by its joining words or its length."""
    joined = len(_JOINS.findall(question)) >= 2 or js.length(question) > LONG_QUESTION
    return joined and not _PLAIN.match(js.trim(question))


def read_plan(reply: str) -> list[Subtask]:
    """Read a planning reply; empty unless it names two to four subtasks."""
    plan = loose_object(reply)
    rows = plan.get("subtasks")
    if not js.truthy(plan.get("decompose")) or not isinstance(rows, list):
        return []
    if not FEWEST <= len(rows) <= MOST or not all(_has_task(row) for row in rows):
        return []
    return [_subtask(row, number) for number, row in enumerate(rows)]


def _has_task(row: Any) -> bool:
    return isinstance(row, dict) and isinstance(row.get("task"), str)


def _subtask(row: dict[str, Any], number: int) -> Subtask:
    named = row.get("dependsOn")
    named = named if isinstance(named, list) else []
    numbers = (int(n) if isinstance(n, str) and n.isdecimal() else n for n in named)
    earlier = (n for n in numbers if isinstance(n, int) and not isinstance(n, bool))
    return Subtask(
        row["task"], tuple(dict.fromkeys(n for n in earlier if 0 <= n < number)), bool(named)
    )


MOST_STEPS = 6
LONGEST_STEP = 200
"""Characters of a planned step."""


@dataclass(frozen=True, slots=True)
class StepPlan:
    """How a question that stays whole is to be gone about: what to do, and where that fails, else.

    `budget` is how many rounds of tool calls it should take.
    """

    steps: tuple[tuple[str, str], ...]
    budget: int

    def note(self) -> str:
        """Write it as the loop is told of it."""
        lines = [
            f"{n}. {step}" + (f"\n   ↳ else: {fallback}" if fallback else "")
            for n, (step, fallback) in enumerate(self.steps, 1)
        ]
        head = f"[Plan, to be left where what is found says otherwise; about {self.budget} rounds:"
        return "\n".join([head, *lines]) + "]"


def read_steps(reply: str, most: int) -> StepPlan | None:
    """Read the steps of a reply that leaves a question whole; None without two of them.

    The budget is theirs where it names none, and at most `most`.
    """
    plan = loose_object(reply)
    rows = plan.get("steps")
    if js.truthy(plan.get("decompose")) or not isinstance(rows, list):
        return None
    rows = [row if isinstance(row, dict) else {"do": row} for row in rows]
    steps = [(_line(row.get("do")), _line(row.get("else"))) for row in rows]
    steps = [step for step in steps if step[0]][:MOST_STEPS]
    named = plan.get("budget")
    budget = named if isinstance(named, int) and not isinstance(named, bool) else len(steps)
    return StepPlan(tuple(steps), max(1, min(budget, most))) if len(steps) >= FEWEST else None


def _line(value: Any) -> str:
    return inert(" ".join(value.split())[:LONGEST_STEP]) if isinstance(value, str) else ""


LONGEST_POINT = 300
"""Characters of an open point: it is a question, not an essay."""


def missing_request(question: str, draft: str, most: int) -> Message:
    """Ask for the points, at most so many."""
    said = draft or "(nothing was found)"
    return Message("user", f"At most {most} points.\n\nQuestion: {question}\n\nDraft:\n{said}")


def read_points(reply: str, most: int) -> list[str]:
    """Read the points of a reply; anything that is no list of questions is none."""
    points = loose_object(reply).get("open")
    if not isinstance(points, list):
        return []
    named = [" ".join(point.split())[:LONGEST_POINT] for point in points if isinstance(point, str)]
    return [point for point in dict.fromkeys(named) if point][:most]


def missing_note(points: list[str]) -> str:
    """Say what is still open, and what to do about it."""
    listed = "\n".join(f"- {point}" for point in points)
    return prompt("open-points").replace("{points}", listed)
