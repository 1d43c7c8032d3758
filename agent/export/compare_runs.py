"""Compares the answers, sources and steps of two runs."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from agent.export.finished_run import FinishedRun
from agent.export.report_view import annotated_answer, badge_kind
from agent.types import has_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.journal.runs import RunFolder

Pair = tuple[str | None, str | None]
"""Entries of the first and the second run; None if that run has no such entry."""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One of the two compared runs."""

    run: str
    question: str
    model: str
    status: str
    badge: str
    kind: str
    doubt: str | None
    confidence: float | None
    usd: float
    answer: str
    sources: tuple[str, ...]
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two runs; `sources` and `steps` are aligned and in order.

    `changed` lists the URLs whose text differs in the second run.
    """

    a: ComparedRun
    b: ComparedRun
    same_answer: bool
    sources: tuple[Pair, ...]
    changed: tuple[str, ...]
    steps: tuple[Pair, ...]


def compare(first: RunFolder, second: RunFolder) -> Comparison:
    """Compare two finished runs; answers are the same if they differ only in whitespace."""
    before, after = FinishedRun.read(first.path), FinishedRun.read(second.path)
    a, b = _side(before), _side(after)
    texts = {source.url: source.sha256 for source in before.report.sources}
    return Comparison(
        a,
        b,
        same_answer=(a.status, a.answer.split()) == (b.status, b.answer.split()),
        sources=pairs(sorted(a.sources), sorted(b.sources)),
        changed=tuple(
            source.url
            for source in after.report.sources
            if texts.get(source.url, source.sha256) != source.sha256
        ),
        steps=pairs(a.steps, b.steps),
    )


def pairs(a: Sequence[str], b: Sequence[str]) -> tuple[Pair, ...]:
    """Align two lists: equal entries are paired, others stay unpaired; both keep their order."""
    found: list[Pair] = []
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    for kind, a0, a1, b0, b1 in matcher.get_opcodes():
        if kind == "equal":
            found += zip(a[a0:a1], b[b0:b1], strict=True)
        else:
            found += [(left, None) for left in a[a0:a1]]
            found += [(None, right) for right in b[b0:b1]]
    return tuple(found)


def _side(record: FinishedRun) -> ComparedRun:
    report = record.report
    results = (event.data for event in record.events if event.type == "tool.result")
    return ComparedRun(
        run=report.run,
        question=report.question,
        model=report.usage.model,
        status=report.status,
        badge=report.badge,
        kind=badge_kind(report),
        doubt=report.doubt,
        confidence=report.confidence,
        usd=report.usage.usd,
        answer=annotated_answer(report),
        sources=tuple(source.url for source in report.sources),
        steps=tuple(
            f"{data['name']} {data['param']}".strip() + " (failed)" * has_error(data["data"])
            for data in results
        ),
    )
