"""The plan that the user edits and approves before the run starts searching (`--plan`).

A plan is shown as Markdown, so that it can be edited in any editor: a search is a list item; a
report section is a heading followed by its task and its searches.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from agent.errors import NoApprover, PlanRefused
from agent.journal.events import PROPOSAL
from agent.keyless.researcher import first_searches
from agent.loop.report_sections import MIN_SECTIONS, Section, approved_searches
from agent.protocol.loose_json import loose_object
from agent.protocol.replies import inert
from agent.tools.context import no_record
from agent.types import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.tools.context import Record, User

MAX_SEARCHES: Final = 12
"""Maximum number of searches in a plan or a section; more would exceed a run's steps."""
MAX_LINE_CHARS: Final = 400
"""Maximum length of a search or a task in characters: search engines refuse longer queries."""
_HEADING_RE = re.compile(r"#{1,6}\s+(.*?)\s*#*")
_LIST_ITEM_RE = re.compile(r"(?:[-*+•]|\d{1,2}[.)])\s+(.*)")

EditPlan = Callable[[str], Awaitable[str | None]]
"""Shows the user a plan as Markdown; returns the edited plan, or None to stop the run."""


@dataclass(frozen=True, slots=True)
class ResearchPlan:
    """The searches of a run, or a report's sections; `ask` is a question to the user, or ""."""

    searches: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    ask: str = ""

    @classmethod
    def extractive(cls, question: str) -> ResearchPlan:
        """Return a plan with the searches that the extractive model would start with."""
        return cls(tuple(first_searches(question)))

    @classmethod
    def from_reply(cls, reply: str, max_sections: int) -> ResearchPlan:
        """Read a model's proposal; missing parts are left empty."""
        fields = loose_object(reply)
        rows = fields.get("sections")
        rows = rows if isinstance(rows, list) and max_sections else []
        sections = [_section(row) for row in rows if isinstance(row, dict)]
        sections = [one for one in sections if one.heading and one.task][:max_sections]
        if len(sections) < MIN_SECTIONS:
            sections = []
        searches = () if sections else _lines(fields.get("searches"))
        return cls(searches, tuple(sections), _clean_line(fields.get("ask")))

    @classmethod
    def from_text(cls, text: str) -> ResearchPlan:
        """Read the plan as edited by the user; lines that are not list items are also searches."""
        searches, sections = list[str](), list[Section]()
        for line in filter(None, map(str.strip, text.splitlines())):
            heading, item = _HEADING_RE.fullmatch(line), _LIST_ITEM_RE.fullmatch(line)
            words = _clean_line(item[1] if item else line)
            if heading:
                sections.append(Section(_clean_line(heading[1])))
            elif not sections:
                searches.append(words)
            elif item:
                sections[-1] = replace(sections[-1], searches=(*sections[-1].searches, words))
            else:
                task = f"{sections[-1].task} {words}".strip()
                sections[-1] = replace(sections[-1], task=task)
        if sections:  # searches above all sections belong to the first one
            first = sections[0]
            sections[0], searches = replace(first, searches=(*searches, *first.searches)), []
        # A section that has only a heading uses it as its task.
        titled = (replace(one, task=one.task or f"{one.heading}.") for one in sections)
        return cls(tuple(searches), tuple(one for one in titled if one.heading))

    def to_text(self) -> str:
        """Write the plan as Markdown."""
        blocks = [_items(self.searches)]
        blocks += [
            f"## {s.heading}\n{s.task}\n{_items(s.searches)}".rstrip() for s in self.sections
        ]
        return "\n\n".join(filter(None, blocks)) + "\n"

    def note(self) -> str:
        """Format the searches for appending to the question."""
        return f"[{approved_searches(self.searches)}]"


@dataclass(slots=True)
class PlanApproval:
    """Gets the user's approval of a plan, or reads it from the record when a run is resumed.

    `edit` shows the user a plan, and is None if no user is available; `user` can be asked one
    question per run. `note` receives the text that the user typed. `answered` and `approved` are
    the recorded answer and plan, or None; an empty `approved` means that the user stopped the run.
    """

    edit: EditPlan | None = None
    user: User | None = None
    record: Record = no_record
    note: Callable[[str], None] = lambda _words: None
    answered: str | None = None
    approved: str | None = None

    async def clarify(self, question: str) -> str:
        """Ask the user a clarifying question; empty if they do not answer or cannot be asked."""
        if self.answered is None and self.user is not None:
            self.answered = " ".join((await self.user.ask(question)).split())
            self.record("plan.clarified", PROPOSAL, question=question, answer=self.answered)
        if self.answered is not None and self.user is not None:
            self.user.asked = True
        self.note(self.answered or "")
        return self.answered or ""

    async def approve(self, plan: ResearchPlan) -> ResearchPlan:
        """Return the plan as approved by the user; raises `PlanRefused` if it was not approved."""
        if self.approved is None:
            if self.edit is None:
                raise NoApprover
            self.approved = (await self.edit(plan.to_text())) or ""
            self.record("plan.approved", PROPOSAL, proposed=plan.to_text(), text=self.approved)
        self.note(self.approved)
        approved = ResearchPlan.from_text(self.approved)
        if not (approved.searches or approved.sections):
            raise PlanRefused("the plan was not approved, so nothing was searched")
        return approved


Clarified = tuple[str, str]
"""A clarifying question, and the user's answer."""


def proposal_request(question: str, max_sections: int, clarified: Clarified | None) -> Message:
    """Write the request for a plan."""
    lines = [f"Request: {question}"]
    if max_sections:
        lines.append(f"Plan a report of at most {max_sections} sections.")
    if clarified:
        lines.append(clarification(*clarified))
    return Message("user", "\n\n".join(lines))


def clarification(asked: str, answer: str) -> str:
    """Format the clarifying question and its answer for appending to the research question."""
    return f"[Asked “{inert(asked)}”, the user answered: {answer}]"


def _section(row: dict[str, Any]) -> Section:
    heading, task = _clean_line(row.get("heading")), _clean_line(row.get("task"))
    return Section(heading, task, searches=_lines(row.get("searches")))


def _lines(value: Any) -> tuple[str, ...]:
    rows = value if isinstance(value, list) else []
    return tuple(dict.fromkeys(filter(None, map(_clean_line, rows))))[:MAX_SEARCHES]


def _clean_line(value: Any) -> str:
    return inert(" ".join(value.split())[:MAX_LINE_CHARS]) if isinstance(value, str) else ""


def _items(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
