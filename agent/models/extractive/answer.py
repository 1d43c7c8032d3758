"""The answer: up to three sentences, word for word, or a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.models.extractive.ranking import Ranker


def confident(ranker: Ranker) -> bool:
    if not ranker.scored:
        return False
    return ranker.scored[0].score > 1.0


def answer(ranker: Ranker) -> str:
    score, group = ranker.pick()
    if not group:
        return "NOT_FOUND nothing readable was found."
    return " ".join(f"{x.sentence.text} [{x.sentence.passage}]" for x in group)
