"""Consolidation: what was written lately is linked, merged and drawn together into insights.

It works on whole memories and never edits their words; what it retires can be brought back. It
stops at its deadline, and goes on from there the next time. Insights are drawn by rules; a model
may word them better, and its words stay while their evidence is the same.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from agent.memory import kinds
from agent.memory.associations import LinkKind, MemoryLink
from agent.memory.entries import RUNS, Entries, MemoryDraft, details
from agent.memory.memory_types import Consolidated, Origin
from agent.memory.terms import content_key
from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    MemoryTerms = tuple[Any, frozenset[str]]
    """The row of a memory, and its index terms."""

DUE = 6 * 3_600.0  # seconds after the last consolidation until the next one
SECONDS = 2.0  # it takes no longer than this, by default
BATCH = 500  # memories that are looked at in one go
NEAR = 5  # of each memory, that may be linked
SIMILAR = 0.5  # of the smaller one's words
RELATED = 0.25
INSIGHT_DAYS = 90  # an insight that is not renewed for so long is retired
# The reference engine's: shares of words that make a cluster, and words that name one.
ALIKE = 0.4  # of the larger one's words
SUBJECT_WORDS = 5
COMMON_SHARE = 0.3  # a word in more of the memories than this names no subject
COMMON = 10  # memories that may share a word all the same: few memories may be about one thing
EVIDENCE = 12  # memories that a model is shown; the newest say most
LENGTH = 300  # characters of an insight
_LEFT_OUT = kinds.UNSEARCHED | {kinds.INSIGHT, kinds.PAGE}
"""What no insight is drawn from: what a model is given whole, insights, people's own pages."""
_STATE = "dream"
"""The note of when it was done last, and of the last memory that it saw."""


@dataclass(frozen=True, slots=True)
class Unworded:
    """An insight in the words of a rule, and the texts of the memories that carry it."""

    key: str
    text: str
    evidence: tuple[str, ...]


def due(entries: Entries, now: float) -> bool:
    """Tell whether six hours passed between the last time, the run before this, and now.

    Asked at the end of a run: whoever asks one question after another is not to wait.
    """
    last, seen = _last(entries)
    before = (entries.notes.read(RUNS) or {"before": 0.0})["before"]
    return now - max(last, before) >= DUE and bool(entries.after(seen, 1))


def consolidate(entries: Entries, seconds: float = SECONDS) -> Consolidated:
    """Consolidate for at most so many seconds; returns what was done."""
    deadline = time.monotonic() + seconds
    now, (_, seen) = time.time(), _last(entries)
    faded = entries.links.fade(now)
    rows = entries.after(seen, BATCH)
    repeated = _repeated(rows)
    entries.archive(repeated)
    rest = [row for row in rows if row.id not in repeated]
    links: list[MemoryLink] = []
    reached = seen if rest else max((row.id for row in rows), default=seen)
    for row in rest:
        if time.monotonic() >= deadline:
            break
        links += _links_of(entries, row)
        reached = row.id
    linked = entries.links.write(links)
    insights = _draw_insights(entries) if time.monotonic() < deadline else 0
    retired = entries.archive(_stale_insights(entries, now))
    if time.monotonic() < deadline and entries.vectors is not None:
        entries.vectors.catch_up(entries.namespace, deadline)
    entries.notes.write(_STATE, {"at": now, "seen": reached})
    return Consolidated(linked, len(repeated), insights, faded, retired)


def _last(entries: Entries) -> tuple[float, int]:
    known = entries.notes.read(_STATE)
    return (known["at"], known["seen"]) if known else (0.0, 0)


def _repeated(rows: Sequence[Any]) -> set[int]:
    """Find memories that say again what one of the same kind says: the first one stays."""
    first: dict[tuple[str, str], int] = {}
    again: set[int] = set()
    for row in rows:
        if row.session != row.id or row.key is not None:
            continue  # a turn of a talk is itself, however often it is said
        if first.setdefault((row.kind, content_key(row.text)), row.id) != row.id:
            again.add(row.id)
    return again


def _links_of(entries: Entries, row: Any) -> Iterator[MemoryLink]:
    """Link a memory to what it resembles."""
    own = _terms(row)
    hits = entries.search(row.text, NEAR + 1, associations=False)
    for other in entries.by_ids(hit.id for hit in hits if hit.id != row.id):
        theirs = _terms(other)
        shared = len(own & theirs) / max(1, min(len(own), len(theirs)))
        if shared < RELATED:
            continue
        if {row.kind, other.kind} == {kinds.FACT, kinds.OUTCOME} and row.run == other.run:
            kind = LinkKind.CAUSAL
        elif row.session == other.session and abs(row.id - other.id) == 1:
            kind = LinkKind.SEQUENTIAL
        else:
            kind = LinkKind.SIMILAR if shared >= SIMILAR else LinkKind.RELATED
        yield MemoryLink(row.id, other.id, kind, round(min(1.0, shared), 2))


def _terms(row: Any) -> frozenset[str]:
    return frozenset(row.terms.split()[1:])  # the first says of what kind it is


def _draw_insights(entries: Entries) -> int:
    """Draw insights from what is kept, and write each under its subject; returns how many."""
    rows = [row for row in entries.all(newest=2 * BATCH) if row.kind not in _LEFT_OUT][-BATCH:]
    known = {row.key: row for row in entries.all(kinds.INSIGHT)}
    drafts = []
    for cluster in _clusters([(row, _terms(row)) for row in rows]):
        draft = _insight_of(cluster, known)
        if draft is not None:
            drafts.append(draft)
            pairs = combinations([row.id for row, _ in cluster[:NEAR]], 2)
            entries.links.write(MemoryLink(*pair, LinkKind.RELATED, 0.5) for pair in pairs)
    entries.put(*drafts)
    return len(drafts)


def _clusters(memories: Sequence[MemoryTerms]) -> list[list[MemoryTerms]]:
    """Group memories around the first of each group that is enough like them, two or more.

    Words that very many share tell no subject from another.
    """
    counts = Counter(word for _, own in memories for word in own)
    most = max(COMMON, COMMON_SHARE * len(memories))
    common = {word for word, count in counts.items() if count > most}
    groups: list[list[MemoryTerms]] = []
    for row, terms in memories:
        own = terms - common
        for group in groups:
            seed = group[0][1]
            if len(own & seed) / max(1, len(own), len(seed)) > ALIKE:
                group.append((row, own))
                break
        else:
            groups.append([(row, own)])
    return [group for group in groups if len(group) > 1]


def _insight_of(cluster: Sequence[MemoryTerms], known: Mapping[str, Any]) -> MemoryDraft | None:
    """Draw one insight from a cluster by the reference engine's rules, or none.

    Drawn again it replaces itself; in a model's words, where it found some for this very evidence.
    That memories concern a subject tells a run nothing: no search finds it until it says more.
    """
    rows = [row for row, _ in cluster]
    answered = sum(row.kind == kinds.OUTCOME for row in rows)
    failed = sum(row.kind == kinds.ERROR for row in rows)
    about = _subject(cluster)
    if failed >= 2 and failed > answered:
        type_ = "correction"
        text = f"Questions about {about} were not answered {failed} times: ask differently."
    elif answered >= 3:
        type_, text = "pattern", f"Questions about {about} were answered {answered} times."
    elif len(rows) >= 4:
        type_, text = "summary", f"Several memories concern {about}."
    else:
        return None
    key = f"{type_}: {about}"
    value: dict[str, Any] = {"type": type_, "evidence": [row.id for row in rows]}
    noted = details(known.get(key))
    if noted.get("worded") and noted["evidence"] == value["evidence"]:
        text, value["worded"] = known[key].text, True
    searched = None if "worded" in value or type_ == "correction" else ""
    origin = Origin(trusted=all(row.trusted for row in rows))
    packed = json.dumps(value)
    return MemoryDraft(text, kinds.INSIGHT, key, packed, origin=origin, searched=searched)


def _subject(cluster: Sequence[MemoryTerms]) -> str:
    """Name a cluster by the words that most of its memories share, as they are written there."""
    counts = Counter(term for _, terms in cluster for term in terms)
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:SUBJECT_WORDS]
    written = [word for row, _ in cluster for word in words(row.text)]
    return ", ".join(
        next((word for word in written if word.startswith(term[:-1])), term) for term, _ in best
    )


def _stale_insights(entries: Entries, now: float) -> set[int]:
    """Find insights that nothing renewed for long, or whose evidence is gone; not a person's."""
    evidence = {
        row: set(details(row)["evidence"]) for row in entries.all(kinds.INSIGHT) if details(row)
    }
    known = {row.id for row in entries.by_ids(sorted(set().union(*evidence.values())))}
    oldest = now - INSIGHT_DAYS * 86_400
    return {row.id for row, ids in evidence.items() if row.written < oldest or not known & ids}


def unworded(entries: Entries) -> list[Unworded]:
    """List the insights that no model has worded yet, the newest first."""
    found = []
    for row in reversed(entries.all(kinds.INSIGHT)):
        value = details(row)
        if value and not value.get("worded"):
            rows = entries.by_ids(value["evidence"][-EVIDENCE:])
            found.append(Unworded(row.key, row.text, tuple(other.text for other in rows)))
    return found


def reword(entries: Entries, key: str, text: str) -> None:
    """Put an insight in other words; the former ones go into its history."""
    row = entries.get(kinds.INSIGHT, key)
    if row is not None and details(row):
        value = json.dumps({**details(row), "worded": True})
        cut, origin = " ".join(text.split())[:LENGTH], Origin(trusted=row.trusted)
        entries.put(MemoryDraft(cut, kinds.INSIGHT, key, value, origin=origin))
