"""What a run leaves in memory, and which memories the next run is given.

Only what a run verified is kept as a fact or an outcome; a run that failed or found no answer
leaves an error, one whose answer nobody verified leaves nothing.
Each finding is written under a key of its content, so that asking the same again renews what is
known and adds nothing; a later finding takes the place of the one that it contradicts. All of it
goes back to the web's words in the end, and stays untrusted.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

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
"""The note that counts how memories were used, and how many it holds, those given last."""
ANSWER = 400  # characters of the answer that an outcome keeps
MESSAGE = 200  # characters of an error's message
PAGES = 5  # that a fact names; more do not make it truer
GOOD_FOR = 5  # questions that a source remembers
MIN_PLAYBOOK = 2  # steps; one search is no method
ALIKE = 10  # facts and outcomes of like words that are compared with a new finding
SUBJECT = 3  # words besides numbers that say what a fact is about; "It took 3 hours" may be of any
SEARCHED = 24  # memories that are looked at for a question
RELEVANT = 0.45  # of the question's words, by weight: less is not about it
REPEATED = 0.9  # of a text's words that stand elsewhere; the rest is a heading that came along
_UNANSWERED = frozenset({"failed", "not_found"})
# Of some kinds a few are enough: one way that worked, some pages to look at first.
MOST = {kinds.PLAYBOOK: 1, kinds.ERROR: 1, kinds.OUTCOME: 2, kinds.SOURCE: 3}


def record_run(
    entries: Entries, report: Report, steps: Sequence[str], used: Sequence[int]
) -> list[int]:
    """Write what a finished run left; `steps` are its calls, one line each. Returns ids.

    Facts that carried one answer are linked, to each other and to those of the `used` memories
    whose page the answer cites.
    """
    cited = {source.n: source for source in report.sources}
    verified = [
        sentence
        for sentence in report.sentences
        if sentence.verdict is VerdictState.SUPPORTED
        and not sentence.weak
        and not cited.keys().isdisjoint(sentence.citations)
    ]
    facts: dict[str, MemoryDraft] = {}
    for sentence in verified:
        text = without_citations(sentence.text)
        if not text.startswith("|"):  # a table's row tells nothing without its header
            sources = [cited[n] for n in sentence.citations if n in cited]
            fact = _fact(entries, report, text, sources)
            facts.setdefault(str(fact.key), fact)
    _retire(entries, report, list(facts.values()))
    drafts, question = list(facts.values()), question_key(report.question)
    if report.status in _UNANSWERED:
        # Words of an answer that nothing carries are not kept.
        why = report.error.message[:MESSAGE] if report.error else "no answer was found"
        text = f"{report.question} → {report.status}: {why}"
        drafts.append(_draft(report, kinds.ERROR, question, text, searched=report.question))
    elif verified:
        drafts.append(_outcome(report, verified, list(facts)))
        carrying = {n for sentence in verified for n in sentence.citations}
        read = [s for s in report.sources if s.n in carrying and s.via != "snippet"]
        drafts += [_source(entries, report, source) for source in read]
        # Of the pages that were opened, those that the answer cites led to it.
        urls = [source.url for source in report.sources]
        worked = [s for s in steps if "://" not in s or any(url in s for url in urls)]
        if report.status == "answered" and len(worked) >= MIN_PLAYBOOK:
            lines = "\n".join(f"{number}) {step}" for number, step in enumerate(worked, 1))
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
    """Hash a question by its words in any order: however it is turned, it asks the same."""
    return hashlib.sha256(" ".join(sorted(set(index_terms(question)))).encode()).hexdigest()[:24]


def _fact(
    entries: Entries, report: Report, text: str, sources: Sequence[ReportSource]
) -> MemoryDraft:
    """Draft a fact; earlier pages that said the same stay with it.

    The page's title stands before a sentence that does not say what it speaks of.
    """
    key, first = content_key(text), sources[0]
    fields = {"url", "title", "sha256", "fetched_at", "quotes"}
    pages = [source.model_dump(include=fields) for source in sources]
    urls = {source.url for source in sources}
    before = details(entries.get(kinds.FACT, key)).get("sources", [])
    pages += [source for source in before if source["url"] not in urls]
    if first.title and not set(index_terms(first.title)) & set(index_terms(text)):
        text = f"{first.title}: {text}"
    return _draft(report, kinds.FACT, key, text, {"sources": pages[:PAGES]}, url=first.url)


def _outcome(report: Report, verified: Sequence[Sentence], facts: Sequence[str]) -> MemoryDraft:
    answer = " ".join(without_citations(sentence.text) for sentence in verified)[:ANSWER]
    text = f"{report.question} → {report.status}: {answer}"
    key, searched = question_key(report.question), f"{report.question} {answer}"
    return _draft(report, kinds.OUTCOME, key, text, {"facts": facts}, searched=searched)


def _source(entries: Entries, report: Report, source: ReportSource) -> MemoryDraft:
    before = details(entries.get(kinds.SOURCE, source.url)).get("good_for", [])
    good_for = [*(q for q in before if q != report.question), report.question][-GOOD_FOR:]
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
    """Draft what a run leaves; it is not found by the words of our own forms: see `searched`."""
    packed = None if value is None else json.dumps(value)
    origin = Origin(report.run, url, trusted=False)
    return MemoryDraft(text, kind, key, packed, source=url, origin=origin, searched=searched)


def _retire(entries: Entries, report: Report, new: Sequence[MemoryDraft]) -> None:
    """Take out of use what this run contradicts: facts, and the outcomes that rest on them."""
    old: dict[int, Any] = {}
    for sentence in report.sentences:
        if sentence.verdict is VerdictState.CONTRADICTED:
            row = entries.get(kinds.FACT, content_key(sentence.text))
            old |= {} if row is None else {row.id: row}
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
    hits = entries.search(text, ALIKE, [kind], associations=False)
    return entries.by_ids(hit.id for hit in hits)


def _replaces(new: str, old: str) -> bool:
    """Tell two findings that say the same of the same but for one number."""
    (subject, numbers), (other, others) = _split_numbers(new), _split_numbers(old)
    if subject != other or len(subject) < SUBJECT or len(numbers) != len(others):
        return False
    return sum((Counter(numbers) - Counter(others)).values()) == 1


def _split_numbers(text: str) -> tuple[frozenset[str], list[str]]:
    """Split a finding into the terms of its words, and its numbers."""
    words = [word.strip(".,;:!?()“”\"'") for word in text.split()]
    numbers = [word for word in words if any(char.isdigit() for char in word)]
    rest = " ".join(word for word in words if word not in numbers)
    return frozenset(index_terms(rest)), numbers


def _count_uses(entries: Entries, given: Sequence[int], cited: Sequence[int]) -> None:
    """Count of each memory to how many runs it was given, and how many answers cite its page."""
    if not given:
        return
    kept: dict[str, list[int]] = entries.notes.read(USES) or {}
    for memory in given:
        shown, served = kept.pop(str(memory), [0, 0])
        kept[str(memory)] = [shown + 1, served + (memory in cited)]
    entries.notes.write(USES, dict(list(kept.items())[-USES_KEPT:]))


def uses(entries: Entries, memory: int) -> tuple[int, int]:
    """Count the runs that a memory was given to, and their answers that cite its page."""
    shown, served = (entries.notes.read(USES) or {}).get(str(memory), (0, 0))
    return shown, served


def recall(entries: Entries, question: str, shown: Iterable[str], most: int) -> tuple[Hit, ...]:
    """Find what bears on a question, best first; `shown` are keys that a run is given anyway."""
    known = set(shown)
    hits = [
        hit
        for hit in entries.search(question, SEARCHED, shared=True)
        if hit.score >= RELEVANT * kinds.WEIGHTS.get(hit.kind, kinds.OTHER_WEIGHT)
        and (hit.shared or hit.kind not in kinds.NAMED or hit.key not in known)
    ]
    return tuple(distinct(hits)[:most])


def distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Leave out what repeats a hit that stands before it, or a fact wherever it stands.

    Facts stay, since they name their page; an outcome stays where it says more than they do.
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
        repeated = any(words and len(words & other) >= REPEATED * len(words) for other in others)
        if hit.kind == kinds.SOURCE:  # of a fact that is kept, the page is named with it
            repeated = any(o.kind == kinds.FACT and o.origin.url == hit.origin.url for o in kept)
        if not repeated and counts[hit.kind] < MOST.get(hit.kind, len(hits)):
            kept.append(hit)
            seen.append(words)
            counts[hit.kind] += 1
    ids = {hit.id for hit in kept}
    return [hit for hit in hits if hit.id in ids]
