"""Consolidation: what was written lately is linked, merged and drawn together into insights.

It works on whole memories and never edits their words; what it retires can be brought back. It
stops at its deadline, and goes on from there the next time.
"""

from __future__ import annotations

import json
import time
from itertools import combinations
from typing import TYPE_CHECKING, Any

from agent.memory import kinds, rewording
from agent.memory.contradictions import contradictions
from agent.memory.drafts import Draft
from agent.memory.insights import clusters, insight_of
from agent.memory.links import Link, LinkKind
from agent.memory.runs import content_key, run_before
from agent.memory.types import Dreamed, Origin
from agent.memory.values import details

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from agent.memory.entries import Entries
    from agent.memory.insights import Insight
    from agent.memory.rewording import Worded

DUE = 6 * 3_600.0  # seconds after the last dream until the next one
SECONDS = 2.0  # a dream takes no longer than this
BATCH = 500  # memories that one dream looks at
NEAR = 5  # of each memory, that may be linked
SIMILAR = 0.5  # of the smaller one's words
RELATED = 0.25
INSIGHT_DAYS = 90  # an insight that is not renewed for so long is retired
_STATE = "dream"


def due(entries: Entries, now: float) -> bool:
    """Tell whether six hours passed between the last dream, the run before this, and now.

    Asked at the end of a run: whoever asks one question after another is not to wait.
    """
    dreamt, seen = _last(entries)
    newest = entries.newest()
    rested = now - max(dreamt, run_before(entries)) >= DUE
    return rested and newest is not None and newest.id > seen


def dream(
    entries: Entries, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic
) -> Dreamed:
    """Consolidate for at most so many seconds; returns what was done."""
    deadline = clock() + seconds
    now, (_, seen) = time.time(), _last(entries)
    faded = entries.fade(now)
    rows = entries.after(seen, BATCH)
    merged = _merge(entries, rows)
    rest = [row for row in rows if row.id not in merged]
    linked, reached = _link(entries, rest, lambda: clock() >= deadline, seen)
    found: list[Insight] = []
    if clock() < deadline:
        found = _insights(entries)
    retired = entries.archive(_stale(entries, now))
    if clock() < deadline:
        entries.catch_up(deadline)
    _remember(entries, now, reached if rest else max((r.id for r in rows), default=seen))
    return Dreamed(linked, len(merged), len(found), faded, retired)


def _merge(entries: Entries, rows: Sequence[Any]) -> set[int]:
    """Archive memories that say again what one of the same kind says: the first one stays."""
    first: dict[tuple[str, str], int] = {}
    again: set[int] = set()
    for row in rows:
        if row.session != row.id or row.key is not None:
            continue  # a turn of a talk is itself, however often it is said
        name = (row.kind, content_key(row.text))
        if first.setdefault(name, row.id) != row.id:
            again.add(row.id)
    entries.archive(again)
    return again


def _link(
    entries: Entries, rows: Sequence[Any], stop: Callable[[], bool], seen: int
) -> tuple[int, int]:
    """Link memories to what they resemble; returns how many links, and the last memory reached."""
    new: list[Link] = []
    reached = seen
    for row in rows:
        if stop():
            break
        new += _links_of(entries, row)
        reached = row.id
    return entries.links.write(new), reached


def _links_of(entries: Entries, row: Any) -> Iterable[Link]:
    words = _words(row)
    hits = entries.search(row.text, NEAR + 1, None, associations=False)
    for other in entries.by_ids([hit.id for hit in hits if hit.id != row.id]):
        shared = len(words & _words(other)) / max(1, min(len(words), len(_words(other))))
        if shared >= RELATED:
            yield Link(row.id, other.id, _kind(row, other, shared), round(min(1.0, shared), 2))


def _kind(row: Any, other: Any, shared: float) -> LinkKind:
    if {row.kind, other.kind} == {kinds.FACT, kinds.OUTCOME} and row.run == other.run:
        return LinkKind.CAUSAL
    if row.session == other.session and abs(row.id - other.id) == 1:
        return LinkKind.SEQUENTIAL
    return LinkKind.SIMILAR if shared >= SIMILAR else LinkKind.RELATED


def _words(row: Any) -> frozenset[str]:
    return frozenset(row.terms.split()[1:])  # the first says of what kind it is


def _insights(entries: Entries) -> list[Insight]:
    """Draw insights from what runs left, and write each under its subject."""
    rows = entries.all([kinds.OUTCOME, kinds.FACT, kinds.SOURCE], BATCH)
    memories = [(row, _words(row)) for row in rows]
    found = [insight_of(cluster) for cluster in clusters(memories)]
    found += contradictions([row for row, _ in memories if row.kind == kinds.FACT])
    insights = [insight for insight in found if insight is not None]
    worded = rewording.worded(entries)
    entries.put_all([_draft(insight, worded.get(insight.key)) for insight in insights])
    for insight in insights:
        entries.links.write(
            Link(one, other, LinkKind.RELATED, 0.5)
            for one, other in combinations(insight.evidence[:NEAR], 2)
        )
    return insights


def _draft(insight: Insight, worded: Worded | None) -> Draft:
    """Write an insight down; in a model's words, where it found some for this very evidence.

    That several memories concern a subject tells a run nothing: no search finds it until it says
    more.
    """
    value = {"type": insight.type, "evidence": list(insight.evidence)}
    kept = worded is not None and worded.evidence == insight.evidence
    return Draft(
        worded.text if worded and kept else insight.text,
        kinds.INSIGHT,
        insight.key,
        json.dumps({**value, "worded": True} if kept else value),
        origin=Origin(trusted=insight.trusted),
        confidence=insight.confidence,
        searched="" if insight.type == "summary" and not kept else None,
    )


def _stale(entries: Entries, now: float) -> set[int]:
    """Find insights that nothing renewed for long, or whose evidence is gone; not a person's."""
    rows = [row for row in entries.all([kinds.INSIGHT], BATCH) if details(row)]
    evidence = {row.id: details(row)["evidence"] for row in rows}
    known = {row.id for row in entries.by_ids(sorted({i for e in evidence.values() for i in e}))}
    return {
        row.id
        for row in rows
        if now - row.written > INSIGHT_DAYS * 86_400 or not known & set(evidence[row.id])
    }


def _last(entries: Entries) -> tuple[float, int]:
    known = entries.notes.read(_STATE)
    return (known["at"], known["seen"]) if known else (0.0, 0)


def _remember(entries: Entries, now: float, seen: int) -> None:
    entries.notes.write(_STATE, {"at": now, "seen": seen})
