"""Requests for a plan (subtasks or steps) and for a draft's open points, and reply parsing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from agent import jsvalues as js
from agent.prompts import prompt
from agent.protocol.loose_json import loose_object
from agent.protocol.replies import inert
from agent.types import Message

# The reference engine's threshold and limits; lengths are in UTF-16 units.
LONG_QUESTION: Final = 120
MIN_SUBTASKS, MAX_SUBTASKS = 2, 4
MAX_CONCURRENT: Final = 4
"""Maximum number of subtasks, and of loops that run at once: more would only wait for the same
sites.
"""
MAX_PLAN_STEPS: Final = 6  # steps per plan, as in the reference engine
MAX_STEP_CHARS: Final = 200
"""Maximum length of a planned step, in characters."""
MAX_POINT_CHARS: Final = 300
"""Maximum length of an open point, in characters: it is a question rather than an essay."""
NO_RESPONSE: Final = "No response."
"""Replaces the empty answer of a subtask."""
_JOINING_WORDS_RE = re.compile(
    r"\b(?:and|then|also|after that|next|finally)\b", re.IGNORECASE | re.ASCII
)
_SINGLE_TASK_RE = re.compile(
    r"(?:hi|hey|hello|what|who|how much|price|gm)\b", re.IGNORECASE | re.ASCII
)
"""Prefixes of messages with a single task; complete words, so that `History` does not match `hi`.
"""


@dataclass(frozen=True, slots=True)
class Subtask:
    """A part of a request, with the numbers (from 0) of the earlier parts on which it depends.

    `dependent` is also true if the subtask depends on parts that do not exist.
    """

    task: str
    depends_on: tuple[int, ...] = ()
    dependent: bool = False


@dataclass(frozen=True, slots=True)
class StepPlan:
    """The planned steps for a question without subtasks, each with a fallback step (or "").

    `budget` is the number of rounds of tool calls that the plan should take.
    """

    steps: tuple[tuple[str, str], ...]
    budget: int

    def note(self) -> str:
        """Format the plan for appending to the question."""
        lines = [
            f"[Plan for about {self.budget} rounds; depart from it if what you find requires it:"
        ]
        for number, (step, fallback) in enumerate(self.steps, 1):
            lines.append(f"{number}. {step}")
            if fallback:
                lines.append(f"   ↳ else: {fallback}")
        return "\n".join(lines) + "]"


def wants_plan(question: str) -> bool:
    """Return whether a question may have several parts, judging by its conjunctions or length."""
    has_parts = len(_JOINING_WORDS_RE.findall(question)) >= 2 or js.length(question) > LONG_QUESTION
    return has_parts and not _SINGLE_TASK_RE.match(js.trim(question))


def read_plan(reply: str) -> list[Subtask]:
    """Parse a planning reply; empty unless it has two to four subtasks."""
    plan = loose_object(reply)
    rows = plan.get("subtasks")
    if not js.truthy(plan.get("decompose")) or not isinstance(rows, list):
        return []
    # A single invalid row invalidates the plan, because other rows may refer to it by number.
    tasks = [row.get("task") if isinstance(row, dict) else None for row in rows]
    if not MIN_SUBTASKS <= len(rows) <= MAX_SUBTASKS or not all(
        isinstance(task, str) for task in tasks
    ):
        return []
    return [Subtask(row["task"], *_dependencies(row, number)) for number, row in enumerate(rows)]


def _dependencies(row: dict[str, Any], number: int) -> tuple[tuple[int, ...], bool]:
    """Read the earlier subtasks that subtask `number` depends on, and whether it depends on any."""
    values = row.get("dependsOn")
    if isinstance(values, str | int):  # a single number: `0` or `"0"`
        values = [values] if values != "" else []
    values = values if isinstance(values, list) else []
    numbers = [int(n) if isinstance(n, str) and n.isdecimal() else n for n in values]
    # Compare `type`, since JSON's `true` is an `int` in Python.
    earlier = [n for n in numbers if type(n) is int and 0 <= n < number]
    return tuple(dict.fromkeys(earlier)), bool(values)


def read_steps(reply: str, max_steps: int) -> StepPlan | None:
    """Read the steps from a reply without subtasks; None if there are fewer than two.

    The budget defaults to the number of steps, and is at most `max_steps`.
    """
    plan = loose_object(reply)
    rows = plan.get("steps")
    if js.truthy(plan.get("decompose")) or not isinstance(rows, list):
        return None
    rows = [row if isinstance(row, dict) else {"do": row} for row in rows]
    steps = [(_line(row.get("do")), _line(row.get("else"))) for row in rows]
    steps = [step for step in steps if step[0]][:MAX_PLAN_STEPS]
    if len(steps) < MIN_SUBTASKS:
        return None
    budget = plan.get("budget")
    if type(budget) is not int:
        budget = len(steps)
    return StepPlan(tuple(steps), max(1, min(budget, max_steps)))


def _line(value: Any) -> str:
    return inert(" ".join(value.split())[:MAX_STEP_CHARS]) if isinstance(value, str) else ""


def missing_request(question: str, draft: str, limit: int) -> Message:
    """Write the request for up to `limit` points that a draft leaves open."""
    text = draft or "(nothing was found)"
    return Message("user", f"At most {limit} points.\n\nQuestion: {question}\n\nDraft:\n{text}")


def read_points(reply: str, limit: int) -> list[str]:
    """Read up to `limit` open points from a reply; empty if it contains no list of strings."""
    rows = loose_object(reply).get("open")
    if not isinstance(rows, list):
        return []
    points = [" ".join(row.split())[:MAX_POINT_CHARS] for row in rows if isinstance(row, str)]
    return [point for point in dict.fromkeys(points) if point][:limit]


def missing_note(points: list[str]) -> str:
    """Write the note that asks the model to research open points."""
    listed = "\n".join(f"- {point}" for point in points)
    return prompt("open-points").replace("{points}", listed)
