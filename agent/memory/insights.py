"""Insights: what several memories of runs say together. Rules only; no model is asked."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agent.memory import kinds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

InsightType = Literal["correction", "pattern", "summary", "recommendation", "contradiction"]
Worded = tuple[Any, frozenset[str]]
"""The row of a memory, and its words."""

ALIKE = 0.4  # of the larger one's words: belongs to a cluster
SUBJECT_WORDS = 5
COMMON_SHARE = 0.3  # a word in more of the memories than this names no subject
COMMON = 10  # memories that may share a word all the same: few memories may be about one thing
FAILED = re.compile(r"→ (?:not_found|partial|failed)\b")


@dataclass(frozen=True, slots=True)
class Insight:
    """A conclusion, with the ids of the memories that carry it; confidence is 0 to 1."""

    type: InsightType
    key: str
    text: str
    confidence: float
    evidence: tuple[int, ...]
    trusted: bool


def clusters(memories: Sequence[Worded]) -> list[list[Worded]]:
    """Group memories around the first of each group that is enough like them, two or more."""
    common = _common(memories)
    groups: list[tuple[frozenset[str], list[Worded]]] = []
    for row, words in memories:
        own = words - common
        for seed, group in groups:
            if len(own & seed) / max(1, len(own), len(seed)) > ALIKE:
                group.append((row, own))
                break
        else:
            groups.append((own, [(row, own)]))
    return [group for _, group in groups if len(group) > 1]


def _common(memories: Sequence[Worded]) -> frozenset[str]:
    """Find words that so many share that they tell no subject from another."""
    counts = Counter(word for _, words in memories for word in words)
    most = max(COMMON, COMMON_SHARE * len(memories))
    return frozenset(word for word, count in counts.items() if count > most)


def insight_of(cluster: Sequence[Worded]) -> Insight | None:
    """Draw one insight from a cluster, or none."""
    rows = [row for row, _ in cluster]
    outcomes = [row for row in rows if row.kind == kinds.OUTCOME]
    failed = [row for row in outcomes if FAILED.search(row.text)]
    sources = [row for row in rows if row.kind == kinds.SOURCE]
    subject = _subject(cluster)
    if len(failed) >= 2 and len(failed) > len(outcomes) - len(failed):
        text = f"Questions about {subject} were not answered {len(failed)} times: ask differently."
        return insight("correction", subject, text, _confidence(failed), rows)
    if len(sources) >= 2 and outcomes:
        text = f"For {subject}, these pages served: {', '.join(row.url or '' for row in sources)}"
        return insight("recommendation", subject, text, _confidence(sources), rows)
    if len(outcomes) >= 3:
        text = f"Questions about {subject} were answered {len(outcomes) - len(failed)} times."
        return insight("pattern", subject, text, _confidence(outcomes), rows)
    if len(rows) >= 4:
        return insight("summary", subject, f"Several memories concern {subject}.", 0.5, rows)
    return None


def _subject(cluster: Sequence[Worded]) -> str:
    """Name a cluster by the words that most of its memories share."""
    counts = Counter(word for _, words in cluster for word in words)
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:SUBJECT_WORDS]
    return ", ".join(_spelt(word, cluster) for word, _ in best)


def _spelt(stem: str, cluster: Sequence[Worded]) -> str:
    """Find a word as it was written, for its stem."""
    return next(_words_like(stem, cluster), stem)


def _words_like(stem: str, cluster: Sequence[Worded]) -> Iterator[str]:
    pattern = re.compile(rf"\b{re.escape(stem[:-1])}\w*", re.IGNORECASE)
    for row, _ in cluster:
        if match := pattern.search(row.text):
            yield match[0].casefold()


def _confidence(rows: Sequence[Any]) -> float:
    return round(min(0.9, 0.4 + 0.1 * len(rows)), 2)


def insight(
    type_: InsightType, subject: str, text: str, confidence: float, rows: Sequence[Any]
) -> Insight:
    """Put an insight together; it is trusted where all that carries it is."""
    evidence = tuple(row.id for row in rows)
    trusted = all(row.trusted for row in rows)
    return Insight(type_, f"{type_}: {subject}", text, confidence, evidence, trusted)
