"""What an answer is worth: the parts of its confidence, and where sources disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.types import Conflict, Report


def made_of(report: Report) -> list[str]:
    """Say in a few words each what the confidence is made of; empty without sentences."""
    if not report.sentences:
        return []
    parts = report.confidence_parts
    fresh = "" if parts.freshness is None else f"newest source {_age(parts.freshness)} old"
    return [
        f"{parts.supported:.0%} of it supported",
        f"{parts.sites} independent site{'s' * (parts.sites != 1)}",
        "sources agree" if parts.agreement == 1 else f"sources agree by {parts.agreement:.0%}",
        f"{parts.coverage:.0%} of the question spoken of",
        *([fresh] if fresh else []),
    ]


def terminal(report: Report) -> str:
    """Write the conflicts as lines for people; empty where sources agree."""
    lines = [f"  ! {_otherwise(conflict, report)}" for conflict in report.conflicts]
    return "\n".join(["Sources disagree:", *lines]) if lines else ""


def markdown(report: Report) -> str:
    """Write the conflicts as a section of Markdown; empty where sources agree."""
    lines = [f"- {_otherwise(conflict, report)}" for conflict in report.conflicts]
    return "\n".join(["## Where sources disagree", "", *lines]) if lines else ""


def _otherwise(conflict: Conflict, report: Report) -> str:
    carried = "".join(f"[{n}]" for n in conflict.citations)
    quote = " ".join(conflict.quote.split())
    title = next((s.title or s.url for s in report.sources if s.n == conflict.source), "")
    return f"{conflict.text} {carried} — but [{conflict.source}] {title}: “{quote}”"


def _age(days: int) -> str:
    if days < 2 * 365:
        return f"{days} day{'s' * (days != 1)}"
    return f"{days // 365} years"
