"""Reports in sections: reads the outline, writes the tasks, and joins the sections.

The text of each section is kept as written: its citations refer to the run's passages, so they stay
valid. The model adds a summary above the sections, and a list of disputed and unknown points below
them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agent.evidence.markers import UNKNOWN_HEADING
from agent.journal.events import CLOSING
from agent.loop.plan import NO_RESPONSE
from agent.prompts import prompt
from agent.protocol.loose_json import loose_object
from agent.protocol.replies import NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Sequence

SUMMARY, CONTESTED = "Summary", "What is contested"
EXTRACTIVE_REQUEST: Final = "[Report: write what was read on the question as a report.]"
"""The request to the extractive model for a report; it makes its own outline."""
FAILED: Final = "Failed: "
"""Prefix of the text of a section or subtask that failed with an error."""
MIN_SECTIONS: Final = 2
"""Minimum number of sections of a report."""
_HEADING_RE = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
_PUNCTUATION_AROUND_NONE: Final = " \n\r\t-–—.,;:!*_"
"""Characters that may surround a word that means “none”."""
_NONE_WORDS: Final = frozenset({"", "none", "nothing", "no", "not applicable", "n/a", "na"})


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its heading, its task, and, once written, its text.

    `searches` are the searches that the user approved.
    """

    heading: str
    task: str = ""
    text: str = ""
    searches: tuple[str, ...] = ()

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Section:
        """Read a section from the record."""
        return cls(**{**row, "searches": tuple(row["searches"])})

    @property
    def failed(self) -> bool:
        """Whether nothing was found for this section."""
        text = self.text.lstrip("*_`# ")
        return not self.text or text.startswith((NOT_FOUND, NO_RESPONSE, FAILED))


def outline_request(question: str, limit: int) -> str:
    """Write the request for an outline of at most `limit` sections."""
    return f"At most {limit} sections.\n\nQuestion: {question}"


def read_outline(reply: str, limit: int) -> list[Section]:
    """Read an outline of up to `limit` sections; empty if it has fewer than two."""
    rows = loose_object(reply).get("sections")
    found: dict[str, Section] = {}
    for row in rows if isinstance(rows, list) else []:
        fields = row if isinstance(row, dict) else {}
        heading, task = (fields.get(name) for name in ("heading", "task"))
        if isinstance(heading, str) and isinstance(task, str) and heading.strip() and task.strip():
            section = Section(" ".join(heading.split()), " ".join(task.split()))
            # If two sections have the same heading, the first is used.
            found.setdefault(section.heading.lower(), section)
    sections = list(found.values())[:limit]
    return sections if len(sections) >= MIN_SECTIONS else []


def section_task(question: str, section: Section, outline: Sequence[Section]) -> str:
    """Write a section's task, which lists the other sections so that they do not overlap."""
    others = "; ".join(other.heading for other in outline if other is not section) or "nothing else"
    task = section.task
    if section.searches:
        task = f"{task}\n\n{approved_searches(section.searches)}"
    filled = prompt("section").replace("{task}", task).replace("{question}", question)
    return filled.replace("{heading}", section.heading).replace("{others}", others)


def approved_searches(searches: Sequence[str]) -> str:
    """Write the instruction to run the searches that the user approved."""
    listed = "\n".join(f"- {search}" for search in searches)
    return (
        "The user approved these searches. Run them first, exactly as written; run other searches "
        f"only if these leave the question open.\n{listed}"
    )


def closing_request(sections: Sequence[Section]) -> str:
    """Write the request for the frame: the parts above and below the sections."""
    written = "\n\n".join(f"## {section.heading}\n{section.text}" for section in sections)
    return prompt(CLOSING).replace("{sections}", written)


def put_together(sections: Sequence[Section], frame: str) -> str:
    """Join the sections and their frame into one Markdown document."""
    written = [section for section in sections if not section.failed]
    if not written:
        return f"{NOT_FOUND} None of the sections could be written from the pages that were read."
    summary_parts = _split_summary_parts(frame)
    unknown = [f"- {s.heading}: nothing was found." for s in sections if s.failed]
    if UNKNOWN_HEADING in summary_parts:
        unknown.insert(0, summary_parts[UNKNOWN_HEADING])
    parts = [
        (SUMMARY, summary_parts.get(SUMMARY, "")),
        # Headings inside a section are put one level below the section's own.
        *((s.heading, _HEADING_RE.sub(r"### \1", s.text).strip()) for s in written),
        (CONTESTED, summary_parts.get(CONTESTED, "")),
        (UNKNOWN_HEADING, "\n".join(unknown)),
    ]
    return "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts if text)


def _split_summary_parts(frame: str) -> dict[str, str]:
    """Split the frame into parts by words in its headings, omitting parts that only say “none”.

    A frame without headings is the summary.
    """
    pieces = _HEADING_RE.split(frame)
    titled = list(zip(pieces[1::2], pieces[2::2], strict=True)) or [(SUMMARY, frame)]
    names = {
        "summary": SUMMARY,
        "contest": CONTESTED,
        "disagree": CONTESTED,
        "known": UNKNOWN_HEADING,
    }
    parts: dict[str, str] = {}
    for heading, text in titled:
        matching = [name for word, name in names.items() if word in heading.lower()]
        if matching and text.casefold().strip(_PUNCTUATION_AROUND_NONE) not in _NONE_WORDS:
            parts.setdefault(matching[0], text.strip())
    return parts
