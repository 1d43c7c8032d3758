"""Saves a run's findings, and selects the memories for the next run.

Only verified sentences become facts and outcomes. A run that failed or found no answer saves an
error, unless the cause was an invalid flag or file; a run whose answer was not verified saves
nothing. A finding's key is a hash of its content, so that asking the same question again renews it.
A later finding replaces one that it contradicts. All findings come from web text and stay
untrusted.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from agent.errors import UsageError
from agent.memory import kinds
from agent.memory.entries import RUNS, Entries, MemoryDraft, details
from agent.memory.memory_types import Origin
from agent.memory.terms import content_key, index_terms, without_citations
from agent.types import VerdictState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.memory.memory_types import Hit
    from agent.types import Report, ReportSource, Sentence

USES, USES_KEPT = "uses", 1_000
"""The note that counts how often memories were used, and the maximum number of memories in it."""
MAX_ANSWER_CHARS = 400  # maximum length of an outcome's answer in characters
MAX_MESSAGE_CHARS = 200  # maximum length of an error message in characters
MAX_PAGES = 5  # maximum number of pages listed for a fact
MAX_QUESTIONS = 5  # maximum number of questions listed for a source
MIN_PLAYBOOK = 2  # minimum number of steps in a playbook; a single search is not a method
COMPARED_FINDINGS = 10  # number of similar facts and outcomes that are compared with a new finding
# "It took 3 hours" has two terms besides its number and may be about anything.
MIN_SUBJECT_WORDS = 3  # minimum number of non-number words in a fact that another one can replace
MAX_CANDIDATES = 24  # maximum number of memories that are considered for a question
MIN_SCORE = 0.45  # minimum score: roughly the share of the question's words, weighted by rarity
MIN_REPEATED_SHARE = 0.9  # a finding is a repetition if others contain this share of its words
_UNANSWERED = frozenset({"failed", "not_found"})
# Maximum number of hits that a run is given, for some kinds.
MAX_OF_KIND = {kinds.PLAYBOOK: 1, kinds.ERROR: 1, kinds.OUTCOME: 2, kinds.SOURCE: 3}


def record_run(
    entries: Entries, report: Report, steps: Sequence[str], used: Sequence[int]
) -> list[int]:
    """Save a finished run's findings; returns their ids. `steps` contains one line per call.

    Facts from one answer are linked to each other, and to those `used` memories whose page the
    answer cites.
    """
    if report.status == "failed" and report.error and report.error.type == UsageError.__name__:
        return []  # an invalid flag or file says nothing about the question
    cited = {source.n: source for source in report.sources}
    verified = [
        sentence
        for sentence in report.sentences
        if sentence.verdict.holds
        and not sentence.weak
        and not cited.keys().isdisjoint(sentence.citations)
    ]
    facts: dict[str, MemoryDraft] = {}
    for sentence in verified:
        text = without_citations(sentence.text)
        if not text.startswith("|"):  # a table row is meaningless without its column names
            sources = [cited[n] for n in sentence.citations if n in cited]
            fact = _fact(entries, report, text, sources)
            facts.setdefault(str(fact.key), fact)
    _retire(entries, report, list(facts.values()))
    drafts, question = list(facts.values()), question_key(report.question)
    if report.status in _UNANSWERED:
        # The answer's unsupported text is not saved.
        reason = report.error.message[:MAX_MESSAGE_CHARS] if report.error else "no answer was found"
        text = f"{report.question} → {report.status}: {reason}"
        drafts.append(_draft(report, kinds.ERROR, question, text, searched=report.question))
    elif verified:
        drafts.append(_outcome(report, verified, list(facts)))
        supporting = {n for sentence in verified for n in sentence.citations}
        read = [s for s in report.sources if s.n in supporting and s.via != "snippet"]
        drafts += [_source(entries, report, source) for source in read]
        # Steps that opened a page not cited in the answer did not contribute to the answer.
        urls = [source.url for source in report.sources]
        useful = [s for s in steps if "://" not in s or any(url in s for url in urls)]
        if report.status == "answered" and len(useful) >= MIN_PLAYBOOK:
            lines = "\n".join(f"{number}) {step}" for number, step in enumerate(useful, 1))
            text = f"Playbook for: {report.question}\nSteps:\n{lines}"
            drafts.append(_draft(report, kinds.PLAYBOOK, question, text, searched=report.question))
        entries.delete(kinds.ERROR, question)
    ids = entries.put(*drafts)
    pages = {source.url for source in report.sources}
    served = [row.id for row in entries.by_ids(used) if row.url in pages]
    if facts:
        entries.links.reinforce([*ids[: len(facts)], *served])
    _count_uses(entries, used, served)
    last = (entries.notes.read(RUNS) or {"last": 0.0})["last"]
    entries.notes.write(RUNS, {"before": last, "last": time.time()})
    return ids


def question_key(question: str) -> str:
    """Hash a question's words, ignoring their order."""
    return hashlib.sha256(" ".join(sorted(set(index_terms(question)))).encode()).hexdigest()[:24]


def _fact(
    entries: Entries, report: Report, text: str, sources: Sequence[ReportSource]
) -> MemoryDraft:
    """Create a draft of a fact, which keeps the earlier pages that state the same.

    A sentence that shares no word with its page's title is prefixed with the title.
    """
    key, first = content_key(text), sources[0]
    fields = {"url", "title", "sha256", "fetched_at", "quotes"}
    pages = [source.model_dump(include=fields) for source in sources]
    urls = {source.url for source in sources}
    before = details(entries.get(kinds.FACT, key)).get("sources", [])
    pages += [source for source in before if source["url"] not in urls]
    if first.title and not set(index_terms(first.title)) & set(index_terms(text)):
        text = f"{first.title}: {text}"
    return _draft(report, kinds.FACT, key, text, {"sources": pages[:MAX_PAGES]}, url=first.url)


def _outcome(report: Report, verified: Sequence[Sentence], facts: Sequence[str]) -> MemoryDraft:
    answer = " ".join(without_citations(sentence.text) for sentence in verified)[:MAX_ANSWER_CHARS]
    text = f"{report.question} → {report.status}: {answer}"
    key, searched = question_key(report.question), f"{report.question} {answer}"
    return _draft(report, kinds.OUTCOME, key, text, {"facts": facts}, searched=searched)


def _source(entries: Entries, report: Report, source: ReportSource) -> MemoryDraft:
    before = details(entries.get(kinds.SOURCE, source.url)).get("good_for", [])
    good_for = [*(q for q in before if q != report.question), report.question][-MAX_QUESTIONS:]
    name = source.title or source.url
    text = f"{name} — good for: {'; '.join(good_for)}"
    value = {"good_for": good_for, "sha256": source.sha256, "fetched_at": source.fetched_at}
    searched = " ".join([name, *good_for])
    return _draft(report, kinds.SOURCE, source.url, text, value, url=source.url, searched=searched)


def _draft(
    report: Report,
    kind: str,
    key: str,
    text: str,
    value: Any = None,
    *,
    url: str | None = None,
    searched: str | None = None,
) -> MemoryDraft:
    """Create a draft of a run's memory; `searched` omits fixed words such as "Playbook for"."""
    packed = None if value is None else json.dumps(value)
    origin = Origin(report.run, url, trusted=False)
    return MemoryDraft(text, kind, key, packed, source=url, origin=origin, searched=searched)


def _retire(entries: Entries, report: Report, new: Sequence[MemoryDraft]) -> None:
    """Archive facts that this run contradicts, and the outcomes based on them."""
    old: dict[int, Any] = {}
    for sentence in report.sentences:
        if sentence.verdict is VerdictState.CONTRADICTED:
            row = entries.get(kinds.FACT, content_key(sentence.text))
            if row is not None:
                old[row.id] = row
    for draft in new:
        rows = _similar(entries, draft.text, kinds.FACT)
        others = [row for row in rows if row.run != report.run]
        old |= {row.id: row for row in others if _replaces(draft.text, row.text)}
    keys = {row.key for row in old.values()}
    for row in list(old.values()):
        outcomes = _similar(entries, row.text, kinds.OUTCOME)
        old |= {r.id: r for r in outcomes if keys & set(details(r).get("facts", []))}
    if old:
        entries.archive(old.keys())


def _similar(entries: Entries, text: str, kind: str) -> list[Any]:
    hits = entries.search(text, COMPARED_FINDINGS, [kind], associations=False)
    return entries.by_ids(hit.id for hit in hits)


def _replaces(new: str, old: str) -> bool:
    """Return whether two findings differ only in one number."""
    (subject, numbers), (other, others) = _split_numbers(new), _split_numbers(old)
    if subject != other or len(subject) < MIN_SUBJECT_WORDS or len(numbers) != len(others):
        return False
    return sum((Counter(numbers) - Counter(others)).values()) == 1


def _split_numbers(text: str) -> tuple[frozenset[str], list[str]]:
    """Split a finding into its words' terms and its numbers."""
    words = [word.strip(".,;:!?()“”\"'") for word in text.split()]
    numbers = [word for word in words if any(char.isdigit() for char in word)]
    rest = " ".join(word for word in words if word not in numbers)
    return frozenset(index_terms(rest)), numbers


def _count_uses(entries: Entries, given: Sequence[int], cited: Sequence[int]) -> None:
    """Record that a run was given memories, and which of their pages its answer cites."""
    if not given:
        return
    counts: dict[str, list[int]] = entries.notes.read(USES) or {}
    for memory in given:
        # Remove and re-add the entry, so that the memories given most recently are at the end.
        shown, served = counts.pop(str(memory), [0, 0])
        counts[str(memory)] = [shown + 1, served + (memory in cited)]
    entries.notes.write(USES, dict(list(counts.items())[-USES_KEPT:]))


def uses(entries: Entries, memory: int) -> tuple[int, int]:
    """Count the runs that were given a memory, and those whose answers cite its page."""
    shown, served = (entries.notes.read(USES) or {}).get(str(memory), (0, 0))
    return shown, served


def recall(entries: Entries, question: str, shown: Iterable[str], limit: int) -> tuple[Hit, ...]:
    """Find relevant memories, best first; `shown` lists keys that the run gets in another layer."""
    known = set(shown)
    hits = [
        hit
        for hit in entries.search(question, MAX_CANDIDATES, shared=True)
        if not hit.bare
        and hit.score >= MIN_SCORE * kinds.WEIGHTS.get(hit.kind, kinds.OTHER_WEIGHT)
        and (hit.shared or hit.kind not in kinds.NAMED or hit.key not in known)
    ]
    return tuple(drop_duplicates(hits)[:limit])


def drop_duplicates(hits: Sequence[Hit]) -> list[Hit]:
    """Drop hits that repeat an earlier one, and outcomes that repeat facts.

    Facts take precedence, since they name their page.
    """
    kept: list[Hit] = []
    seen: list[frozenset[str]] = []
    counts: Counter[str] = Counter()
    order = {kinds.OUTCOME: 1, kinds.SOURCE: 2, kinds.PLAYBOOK: 3}
    for hit in sorted(hits, key=lambda hit: order.get(hit.kind, 0)):
        outcome = hit.kind == kinds.OUTCOME
        answer = hit.text.partition(" → ")[2].partition(": ")[2] if outcome else ""
        words = frozenset(index_terms(answer or hit.text))
        others = [*seen, frozenset().union(*seen)] if outcome else seen
        repeated = any(
            words and len(words & other) >= MIN_REPEATED_SHARE * len(words) for other in others
        )
        if hit.kind == kinds.SOURCE:  # a kept fact already names its page
            repeated = any(o.kind == kinds.FACT and o.origin.url == hit.origin.url for o in kept)
        if not repeated and counts[hit.kind] < MAX_OF_KIND.get(hit.kind, len(hits)):
            kept.append(hit)
            seen.append(words)
            counts[hit.kind] += 1
    ids = {hit.id for hit in kept}
    return [hit for hit in hits if hit.id in ids]
