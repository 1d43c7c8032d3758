"""A passage as it is shown by itself: behind the title of its page and its heading."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.evidence.store import Evidence
    from agent.types import Passage


def placed(passage: Passage, evidence: Evidence) -> str:
    """Write a passage on a line; what stands before it in brackets says what `she` or `it` is."""
    source = evidence.source(passage.source)
    parts = [source.title if source else "", *passage.heading.split(" › ")]
    above = " › ".join(filter(None, dict.fromkeys(parts)))
    return " ".join(f"{f'({above}) ' if above else ''}{passage.text}".split())
