"""What a model is asked beside the answer: subtasks or steps, and what a draft leaves open."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from agent import jsvalues as js
from agent.prompts import prompt
from agent.protocol.replies import inert, loose_object
from agent.types import Message

# The reference engine's trigger and limits; lengths in UTF-16 units.
LONG_QUESTION: Final = 120
FEWEST, MOST = 2, 4
SIDE_BY_SIDE: Final = 4
"""Loops at once: as many as a plan has subtasks; more would only wait for the same sites."""
MOST_STEPS: Final = 6
LONGEST_STEP: Final = 200
"""Characters of a planned step."""
LONGEST_POINT: Final = 300
"""Characters of an open point: it is a question, not an essay."""
NO_RESPONSE: Final = "No response."
"""What an empty answer is called."""
_JOINS = re.compile(r"\b(?:and|then|also|after that|next|finally)\b", re.IGNORECASE | re.ASCII)
_PLAIN = re.compile(r"(?:hi|hey|hello|what|who|how much|price|gm)\b", re.IGNORECASE | re.ASCII)
"""Greetings and short questions are one task, however long; by whole words (`History` is none)."""


@dataclass(frozen=True, slots=True)
class Subtask:
    """A phase of a request, and the numbers (from 0) of the earlier ones that it builds on.

    `dependent` holds also where those that the plan names do not exist.
    """

    task: str
    depends_on: tuple[int, ...] = ()
    dependent: bool = False


@dataclass(frozen=True, slots=True)
class StepPlan:
    """What to do about a question that stays whole, and what else where that fails.

    `budget` is how many rounds of tool calls it should take.
    """

    steps: tuple[tuple[str, str], ...]
    budget: int

    def note(self) -> str:
        """Write the plan as it stands behind the question."""
        lines = [
            f"{n}. {step}" + (f"\n   ↳ else: {fallback}" if fallback else "")
            for n, (step, fallback) in enumerate(self.steps, 1)
        ]
        head = f"[Plan, to be left where what is found says otherwise; about {self.budget} rounds:"
        return "\n".join([head, *lines]) + "]"


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
    tasks = [row.get("task") if isinstance(row, dict) else None for row in rows]
    if not FEWEST <= len(rows) <= MOST or not all(isinstance(task, str) for task in tasks):
        return []
    return [Subtask(row["task"], *_dependencies(row, number)) for number, row in enumerate(rows)]


def _dependencies(row: dict[str, Any], number: int) -> tuple[tuple[int, ...], bool]:
    """Read which earlier subtasks one depends on, and whether it names any at all."""
    named = row.get("dependsOn")
    named = named if isinstance(named, list) else []
    numbers = [int(n) if isinstance(n, str) and n.isdecimal() else n for n in named]
    earlier = [n for n in numbers if type(n) is int and 0 <= n < number]
    return tuple(dict.fromkeys(earlier)), bool(named)


def read_steps(reply: str, most: int) -> StepPlan | None:
    """Read the steps of a reply that leaves a question whole; None without two of them.

    The budget is their number where the reply names none, and at most `most`.
    """
    plan = loose_object(reply)
    rows = plan.get("steps")
    if js.truthy(plan.get("decompose")) or not isinstance(rows, list):
        return None
    rows = [row if isinstance(row, dict) else {"do": row} for row in rows]
    steps = [(_line(row.get("do")), _line(row.get("else"))) for row in rows]
    steps = [step for step in steps if step[0]][:MOST_STEPS]
    if len(steps) < FEWEST:
        return None
    named = plan.get("budget")
    budget = named if type(named) is int else len(steps)
    return StepPlan(tuple(steps), max(1, min(budget, most)))


def _line(value: Any) -> str:
    return inert(" ".join(value.split())[:LONGEST_STEP]) if isinstance(value, str) else ""


def missing_request(question: str, draft: str, most: int) -> Message:
    """Ask for the points that a draft leaves open, at most so many."""
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
