"""The final reply: up to three sentences, word for word and cited, or a refusal that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.models.extractive.doubt import Doubt
    from agent.models.extractive.ranking import Scored


def quote(group: list[Scored]) -> str:
    """Give each sentence as it stands, followed by its passage."""
    return " ".join(f"{x.sentence.text} [{x.sentence.passage}]" for x in group)


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
