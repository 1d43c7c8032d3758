"""A report: its outline, what each section is asked to do, and how they become one text.

Sections are put together as they were written: their citations name passages of the run, so that
they survive. The model adds what stands above them (the summary) and below (what is contested,
what is not known).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.markers import NOT_KNOWN
from agent.journal.events import CLOSING
from agent.loop.plan import NO_RESPONSE
from agent.prompts import prompt
from agent.protocol.replies import NOT_FOUND, loose_object

if TYPE_CHECKING:
    from collections.abc import Sequence

SUMMARY, CONTESTED = "Summary", "What is contested"
BY_RULES = "[Report: write what was read on the question as a report.]"
"""Said to a model that plans by rules of its own."""
FEWEST = 2
"""One section is no report."""
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
_FAILED = (NOT_FOUND, NO_RESPONSE, "Failed: ")
_NONE = re.compile(r"(?:none|nothing|no(?:t applicable)?|n/?a|-)?\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Section:
    """A section to be: its heading, and what is to be found out for it."""

    heading: str
    task: str


@dataclass(frozen=True, slots=True)
class Written:
    """A section as its loop wrote it."""

    heading: str
    text: str

    @property
    def failed(self) -> bool:
        """Whether it holds nothing that was found out."""
        return not self.text or self.text.lstrip("*_`# ").startswith(_FAILED)


def outline_request(question: str, most: int) -> str:
    """Ask for an outline."""
    return f"At most {most} sections.\n\nQuestion: {question}"


def read_outline(reply: str, most: int) -> list[Section]:
    """Read an outline; empty where it names fewer than two sections."""
    rows = loose_object(reply).get("sections")
    rows = rows if isinstance(rows, list) else []
    found: dict[str, Section] = {}
    for row in rows:
        heading, task = (_text(row, name) for name in ("heading", "task"))
        if heading and task:
            found.setdefault(heading.lower(), Section(heading, task))
    sections = list(found.values())[:most]
    return sections if len(sections) >= FEWEST else []


def task(question: str, section: Section, outline: Sequence[Section]) -> str:
    """Say what one section is to do, and what the others do."""
    others = "; ".join(other.heading for other in outline if other is not section)
    filled = prompt("section").replace("{task}", section.task).replace("{question}", question)
    return filled.replace("{heading}", section.heading).replace("{others}", others)


def closing(sections: Sequence[Written]) -> str:
    """Ask for what stands around the sections."""
    written = "\n\n".join(f"## {section.heading}\n{section.text}" for section in sections)
    return prompt(CLOSING).replace("{sections}", written)


def put_together(sections: Sequence[Written], frame: str) -> str:
    """Put the sections and their frame into one Markdown text."""
    around = _by_heading(frame)
    found = [section for section in sections if not section.failed]
    if not found:
        return f"{NOT_FOUND} None of the sections could be written from what was read."
    unknown = [around.get("not known", "")]
    unknown += [f"- {s.heading}: nothing was found." for s in sections if s.failed]
    parts = [
        (SUMMARY, around.get("summary", "")),
        *((section.heading, _without_headings(section.text)) for section in found),
        (CONTESTED, around.get("contested", "")),
        (NOT_KNOWN, "\n".join(filter(None, unknown))),
    ]
    return "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts if text)


def _by_heading(frame: str) -> dict[str, str]:
    """Take the frame apart by the words of its headings; an empty word for a part is no part."""
    pieces = _HEADING.split(frame)
    titled = list(zip(pieces[1::2], pieces[2::2], strict=True)) or [("Summary", frame)]
    found: dict[str, str] = {}
    for heading, text in titled:
        name = _name_of(heading.lower())
        if name and not _NONE.fullmatch(text.strip()):
            found.setdefault(name, text.strip())
    return found


def _name_of(heading: str) -> str:
    if "summary" in heading:
        return "summary"
    if "contest" in heading or "disagree" in heading:
        return "contested"
    return "not known" if "known" in heading else ""


def _without_headings(text: str) -> str:
    """A section's own headings go one level down, below its own."""
    return _HEADING.sub(lambda found: f"### {found[1]}", text).strip()


def _text(row: object, name: str) -> str:
    value = row.get(name) if isinstance(row, dict) else None
    return " ".join(value.split()) if isinstance(value, str) else ""
