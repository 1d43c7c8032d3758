"""Consolidation: links new memories, archives repeated ones, and derives insights.

It never edits a memory's text, and archives rather than deletes. It stops at its deadline and
resumes from that point the next time. Insights are derived without a model; a model may improve
their wording and recommend actions. Its wording is kept as long as the evidence stays the same.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from agent.memory import kinds
from agent.memory.associations import LinkInput, LinkKind, MemoryLink, links_of
from agent.memory.entries import RUNS, Entries, MemoryDraft, details
from agent.memory.kinds import InsightType
from agent.memory.memory_types import Consolidated, Origin
from agent.memory.terms import content_key
from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    MemoryTerms = tuple[Any, frozenset[str]]
    """A memory's row and its index terms."""

INTERVAL_SECONDS = 6 * 3_600.0  # seconds between consolidations
DEFAULT_SECONDS = 2.0  # default time limit
MAX_MEMORIES = 500  # maximum number of memories processed per consolidation
MAX_LINKS = 5  # maximum number of similar memories that a memory is linked to
INSIGHT_DAYS = 90  # an insight that is not renewed within this time is archived
# Thresholds for clusters, as in the reference engine.
MIN_CLUSTER_SHARE = 0.4  # minimum share of the larger memory's words that both contain
SUBJECT_WORDS = 5
COMMON_SHARE = 0.3  # a word in more than this share of the memories does not identify a subject
# but up to this many memories may share a word, since a small store may have one subject
MIN_COMMON = 10
# Confidence of insights, as in the reference engine: .4 plus .1 for each run; .5 for a summary.
MAX_CONFIDENCE, SUMMARY_CONFIDENCE = 0.9, 0.5
MAX_EVIDENCE = 12  # maximum number of newest memories behind an insight that a model is shown
MAX_INSIGHT_CHARS = 300  # maximum length of an insight in characters
_KINDS_WITHOUT_INSIGHTS = kinds.UNSEARCHED | {kinds.INSIGHT, kinds.PAGE}
"""Kinds from which no insights are derived."""
_STATE_NOTE = "dream"
"""Name of the note that stores the last consolidation's time and the last memory it processed."""


@dataclass(frozen=True, slots=True)
class UnrephrasedInsight:
    """An insight that no model has rephrased yet, and the text of the memories behind it."""

    key: str
    text: str
    evidence: tuple[str, ...]


def is_due(entries: Entries) -> bool:
    """Return whether there are new memories, and no recent consolidation or earlier run.

    Recent means within `INTERVAL_SECONDS`. This is called at the end of a run. A user who asks
    several questions in a row does not have to wait for consolidation in between.
    """
    last, seen = _last_consolidation(entries)
    before = (entries.notes.read(RUNS) or {"before": 0.0})["before"]
    return time.time() - max(last, before) >= INTERVAL_SECONDS and bool(entries.after(seen, 1))


def consolidate(entries: Entries, seconds: float = DEFAULT_SECONDS) -> Consolidated:
    """Consolidate for at most `seconds`; returns counts of the changes."""
    deadline = time.monotonic() + seconds
    now, (_, seen) = time.time(), _last_consolidation(entries)
    faded = entries.links.decay(now)
    rows = entries.after(seen, MAX_MEMORIES)
    repeated = _find_duplicates(rows)
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
    entries.notes.write(_STATE_NOTE, {"at": now, "seen": reached})
    return Consolidated(linked, len(repeated), insights, faded, retired)


def _last_consolidation(entries: Entries) -> tuple[float, int]:
    known = entries.notes.read(_STATE_NOTE)
    return (known["at"], known["seen"]) if known else (0.0, 0)


def _find_duplicates(rows: Sequence[Any]) -> set[int]:
    """Find memories that repeat an earlier one of the same kind; returns their ids."""
    first: dict[tuple[str, str], int] = {}
    repeated: set[int] = set()
    for row in rows:
        if row.session != row.id or row.key is not None:
            continue  # a conversation turn is kept, even if it repeats an earlier one
        if first.setdefault((row.kind, content_key(row.text)), row.id) != row.id:
            repeated.add(row.id)
    return repeated


def _links_of(entries: Entries, row: Any) -> list[MemoryLink]:
    """Return links from a memory to similar ones, regardless of age."""
    hits = entries.search(row.text, MAX_LINKS + 1, associations=False)
    others = entries.by_ids(hit.id for hit in hits)
    return links_of(_link_input(row), map(_link_input, others))


def _link_input(row: Any) -> LinkInput:
    return LinkInput(row.id, row.kind, row.run, row.session, row.terms)


def _terms(row: Any) -> frozenset[str]:
    return _link_input(row).words


def _draw_insights(entries: Entries) -> int:
    """Derive insights from the newest memories and save them by subject; returns the count."""
    rows = [
        row
        for row in entries.all(newest=2 * MAX_MEMORIES)
        if row.kind not in _KINDS_WITHOUT_INSIGHTS
    ][-MAX_MEMORIES:]
    known = {row.key: row for row in entries.all(kinds.INSIGHT)}
    drafts = []
    for cluster in _clusters([(row, _terms(row)) for row in rows]):
        draft = _insight_of(cluster, known)
        if draft is not None:
            drafts.append(draft)
            pairs = combinations([row.id for row, _ in cluster[:MAX_LINKS]], 2)
            entries.links.write(MemoryLink(*pair, LinkKind.RELATED, 0.5) for pair in pairs)
    entries.put(*drafts)
    return len(drafts)


def _clusters(memories: Sequence[MemoryTerms]) -> list[list[MemoryTerms]]:
    """Group memories into clusters of two or more that are similar to the first of them.

    Words shared by a large part of the memories are ignored, since they do not identify a subject.
    """
    counts = Counter(word for _, own in memories for word in own)
    most = max(MIN_COMMON, COMMON_SHARE * len(memories))
    common = {word for word, count in counts.items() if count > most}
    groups: list[list[MemoryTerms]] = []
    for row, terms in memories:
        own = terms - common
        for group in groups:
            seed = group[0][1]
            if len(own & seed) / max(1, len(own), len(seed)) > MIN_CLUSTER_SHARE:
                group.append((row, own))
                break
        else:
            groups.append([(row, own)])
    return [group for group in groups if len(group) > 1]


def _insight_of(cluster: Sequence[MemoryTerms], known: Mapping[str, Any]) -> MemoryDraft | None:
    """Derive an insight from a cluster by the reference engine's rules; None if there is none.

    It replaces an earlier one on the same subject, but keeps a model's wording if the evidence is
    the same. Its confidence increases with the number of runs behind it.
    """
    rows = [row for row, _ in cluster]
    answered = sum(row.kind == kinds.OUTCOME for row in rows)
    failed = sum(row.kind == kinds.ERROR for row in rows)
    about = _subject(cluster)
    if failed >= 2 and failed > answered:
        type_, confidence = InsightType.CORRECTION, _confidence(failed)
        text = f"Questions about {about} went unanswered {failed} times: ask differently."
    elif answered >= 3:
        type_, confidence = InsightType.PATTERN, _confidence(answered)
        text = f"Questions about {about} were answered {answered} times."
    elif len(rows) >= 4:
        type_, confidence = InsightType.SUMMARY, SUMMARY_CONFIDENCE
        text = f"Several memories concern {about}."
    else:
        return None
    key = f"{type_}: {about}"
    evidence = [row.id for row in rows]
    value: dict[str, Any] = {"type": type_, "evidence": evidence, "confidence": confidence}
    noted = details(known.get(key))
    if noted.get("worded") and noted["evidence"] == value["evidence"]:
        text, value["worded"] = known[key].text, True
    origin = Origin(trusted=all(row.trusted for row in rows))
    return MemoryDraft(text, kinds.INSIGHT, key, json.dumps(value), origin=origin)


def _confidence(runs: int) -> float:
    return round(min(MAX_CONFIDENCE, 0.4 + 0.1 * runs), 2)


def _subject(cluster: Sequence[MemoryTerms]) -> str:
    """Name a cluster after the words that most of its memories share, in their original form."""
    counts = Counter(term for _, terms in cluster for term in terms)
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:SUBJECT_WORDS]
    written = [word for row, _ in cluster for word in words(row.text)]
    return ", ".join(
        next((word for word in written if word.startswith(term[:-1])), term) for term, _ in best
    )


def _stale_insights(entries: Entries, now: float) -> set[int]:
    """Return the ids of insights that have not been renewed in time, or whose evidence is gone.

    Insights written by a user have no details and are kept.
    """
    evidence = {
        row: set(details(row)["evidence"]) for row in entries.all(kinds.INSIGHT) if details(row)
    }
    known = {row.id for row in entries.by_ids(sorted(set().union(*evidence.values())))}
    oldest = now - INSIGHT_DAYS * 86_400
    return {row.id for row, ids in evidence.items() if row.written < oldest or not known & ids}


def unrephrased_insights(entries: Entries) -> list[UnrephrasedInsight]:
    """List the insights that no model has rephrased yet, newest first."""
    found = []
    for row in reversed(entries.all(kinds.INSIGHT)):
        value = details(row)
        if value and not value.get("worded"):
            rows = entries.by_ids(value["evidence"][-MAX_EVIDENCE:])
            found.append(UnrephrasedInsight(row.key, row.text, tuple(other.text for other in rows)))
    return found


def reword(entries: Entries, key: str, text: str, recommendation: str = "") -> None:
    """Replace an insight's wording; the previous one is moved to its history.

    A model's recommendation becomes a separate insight with the same evidence and confidence.
    """
    row = entries.get(kinds.INSIGHT, key)
    if row is None or not details(row):
        return
    value, origin = {**details(row), "worded": True}, Origin(trusted=row.trusted)
    entries.put(_insight(key, text, value, origin))
    if recommendation:
        about = key.partition(": ")[2]
        value["type"] = InsightType.RECOMMENDATION
        key = f"{InsightType.RECOMMENDATION}: {about}"
        entries.put(_insight(key, recommendation, value, origin))


def _insight(key: str, text: str, value: Mapping[str, Any], origin: Origin) -> MemoryDraft:
    cut = " ".join(text.split())[:MAX_INSIGHT_CHARS]
    return MemoryDraft(cut, kinds.INSIGHT, key, json.dumps(value), origin=origin)
