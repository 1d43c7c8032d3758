"""A report: its outline, what each section is asked to do, and how they become one text.

Sections are put together as they were written: their citations name passages of the run, so that
they survive. The model adds what stands above them (the summary) and below (what is contested,
what is not known).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent.evidence.markers import NOT_KNOWN
from agent.journal.events import CLOSING
from agent.loop.plan import NO_RESPONSE
from agent.prompts import prompt
from agent.protocol.replies import NOT_FOUND, loose_object

if TYPE_CHECKING:
    from collections.abc import Sequence

SUMMARY, CONTESTED = "Summary", "What is contested"
BY_RULES: Final = "[Report: write what was read on the question as a report.]"
"""Said to a model that plans by rules of its own."""
FAILED: Final = "Failed: "
"""Begins the text of a part that an error ended."""
FEWEST: Final = 2
"""One section is no report."""
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
_NONE = re.compile(r"(?:none|nothing|no(?:t applicable)?|n/?a|-)?\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its heading, what is to be found out for it, and the text once it is written."""

    heading: str
    task: str = ""
    text: str = ""

    @property
    def failed(self) -> bool:
        """Whether it holds nothing that was found out."""
        begins = self.text.lstrip("*_`# ")
        return not self.text or begins.startswith((NOT_FOUND, NO_RESPONSE, FAILED))


def outline_request(question: str, most: int) -> str:
    """Ask for an outline."""
    return f"At most {most} sections.\n\nQuestion: {question}"


def read_outline(reply: str, most: int) -> list[Section]:
    """Read an outline; empty where it names fewer than two sections."""
    rows = loose_object(reply).get("sections")
    found: dict[str, Section] = {}
    for row in rows if isinstance(rows, list) else []:
        fields = row if isinstance(row, dict) else {}
        heading, task = (fields.get(name) for name in ("heading", "task"))
        if isinstance(heading, str) and isinstance(task, str) and heading.strip() and task.strip():
            section = Section(" ".join(heading.split()), " ".join(task.split()))
            found.setdefault(section.heading.lower(), section)
    sections = list(found.values())[:most]
    return sections if len(sections) >= FEWEST else []


def section_task(question: str, section: Section, outline: Sequence[Section]) -> str:
    """Say what one section is to do, and what the others do."""
    others = "; ".join(other.heading for other in outline if other is not section)
    filled = prompt("section").replace("{task}", section.task).replace("{question}", question)
    return filled.replace("{heading}", section.heading).replace("{others}", others)


def closing_request(sections: Sequence[Section]) -> str:
    """Ask for what stands around the sections."""
    written = "\n\n".join(f"## {section.heading}\n{section.text}" for section in sections)
    return prompt(CLOSING).replace("{sections}", written)


def put_together(sections: Sequence[Section], frame: str) -> str:
    """Put the sections and their frame into one Markdown text."""
    found = [section for section in sections if not section.failed]
    if not found:
        return f"{NOT_FOUND} None of the sections could be written from what was read."
    around = _parts_of_frame(frame)
    unknown = [around.get(NOT_KNOWN, "")]
    unknown += [f"- {s.heading}: nothing was found." for s in sections if s.failed]
    parts = [
        (SUMMARY, around.get(SUMMARY, "")),
        # A section's own headings go one level down, below its own.
        *((s.heading, _HEADING.sub(r"### \1", s.text).strip()) for s in found),
        (CONTESTED, around.get(CONTESTED, "")),
        (NOT_KNOWN, "\n".join(filter(None, unknown))),
    ]
    return "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts if text)


def _parts_of_frame(frame: str) -> dict[str, str]:
    """Take the frame apart by the words of its headings; one that says “none” is left out."""
    pieces = _HEADING.split(frame)
    titled = list(zip(pieces[1::2], pieces[2::2], strict=True)) or [(SUMMARY, frame)]
    names = {"summary": SUMMARY, "contest": CONTESTED, "disagree": CONTESTED, "known": NOT_KNOWN}
    found: dict[str, str] = {}
    for heading, text in titled:
        name = next((name for word, name in names.items() if word in heading.lower()), "")
        if name and not _NONE.fullmatch(text.strip()):
            found.setdefault(name, text.strip())
    return found
