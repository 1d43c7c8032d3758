"""The final reply: up to three sentences, word for word and cited, or a refusal that says why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.text import sentences

if TYPE_CHECKING:
    from agent.models.extractive.doubt import Doubt
    from agent.models.extractive.ranking import Scored

_MARKER = re.compile(r" \[S\d+¶\d+\]")
_ROW = re.compile(r"\|")


def quote(group: list[Scored]) -> str:
    """Give each sentence as it stands, followed by its passage.

    One that does not end as a sentence does, or would run into the next, gets a paragraph of its
    own, so that no reader takes two for one.
    """
    said = ""
    for x in group:
        text = x.sentence.text
        said += _between(said, text) if said else ""
        said += f"{text} [{x.sentence.passage}]"
    return said


def _between(said: str, text: str) -> str:
    before = _MARKER.sub("", said.rpartition("\n\n")[2])
    apart = len(sentences(f"{before} {text}")) == len(sentences(before)) + 1
    return " " if apart and not _ROW.match(text) and not _ROW.match(before) else "\n\n"


def refuse(doubt: Doubt | None, pages: int) -> str:
    """Say that the evidence is too thin, and what it lacks."""
    if doubt is None or not pages:
        return "NOT_FOUND No page could be read that bears on the question."
    read = f"NOT_FOUND Of {pages} page{'s' if pages != 1 else ''} read"
    if doubt.unseen:
        return f"{read} none speaks of {', '.join(doubt.unseen)}."
    if doubt.unmet:
        return f"{read} none answers the part of the question about {', '.join(doubt.unmet)}."
    return f"{read} none says enough about what is asked."
