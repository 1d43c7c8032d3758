"""What to do next: search, read, follow a hop, or answer. One reply for one state of the notes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent.depth import STANDARD
from agent.keyless import steps
from agent.keyless.answer import from_the_page, quote, refuse
from agent.keyless.findings import Findings
from agent.keyless.reference import about_the_page
from agent.keyless.report import report

if TYPE_CHECKING:
    from agent.depth import Effort
    from agent.keyless.notebook import Notebook
    from agent.keyless.steps import Call

STEPS = (
    steps.read_the_page,
    steps.search,
    steps.read_results,
    steps.search_on,
    steps.see_what_came,
    steps.turn_over,
    steps.work_live,
)
"""In the order in which they are tried; what is cheap and likely comes first."""
ABOUT_THE_PAGE = (steps.read_the_page,)


def decide(notes: Notebook, effort: Effort = STANDARD) -> str:
    """Give the reply: tool tags, the final answer, or a report of what was read."""
    found = Findings(notes, effort)
    if notes.wants_report:
        return report(found) or _answer(found)
    for step in _steps(notes, effort):
        calls = step(found)
        if calls:
            return _tags(calls)
    return _answer(found)


def _steps(notes: Notebook, effort: Effort) -> tuple[steps.Step, ...]:
    if notes.ended or len(notes.replies) >= effort.steps - 1:
        return ()  # the last step is the answer's
    return ABOUT_THE_PAGE if about_the_page(notes) else STEPS


def _answer(found: Findings) -> str:
    if not found.thin:
        return quote(found.chosen)
    said = from_the_page(found) if about_the_page(found.notes) else ""
    return said or refuse(found.doubt if found.chosen else None, steps.pages_read(found.notes))


def _tags(calls: list[Call]) -> str:
    return "\n".join(
        f"<<TOOL:{tool}:{json.dumps(param, ensure_ascii=False)}>>" for tool, param in calls
    )
