"""What a run leaves in memory, and what of it the next run is given.

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

from agent import jsvalues
from agent.memory import kinds
from agent.memory.layers import SHOWN_WITHOUT_FILTER, relevant
from agent.memory.memory_types import Layers, Origin, Untrusted
from agent.memory.records import RUNS, MemoryDraft, details, unpack
from agent.memory.term_index import content_key, index_terms, unmarked
from agent.types import VerdictState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.limits import LimitSettings
    from agent.memory.conversations import Conversations
    from agent.memory.entries import Entries
    from agent.memory.memory_types import Hit
    from agent.types import Report, ReportSource, Sentence

ANSWER = 400  # characters of the answer that an outcome keeps
USES, USES_KEPT = "uses", 1_000  # memories whose use is counted, those given last
MESSAGE = 200  # characters of what went wrong
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
    facts: dict[str, MemoryDraft] = {}
    verified = [s for s in report.sentences if _is_verified(s) and set(s.citations) & cited.keys()]
    for sentence in verified:
        sources = [cited[n] for n in sentence.citations if n in cited]
        text = unmarked(sentence.text)
        if not text.startswith("|"):  # a table's row tells nothing without its header
            fact = _fact(entries, report, text, sources)
            facts.setdefault(str(fact.key), fact)
    _retire(entries, report, list(facts.values()))
    drafts = list(facts.values())
    if report.status in _UNANSWERED:
        drafts.append(_error(report))
    elif verified:
        carrying = {n for sentence in verified for n in sentence.citations}
        read = [s for s in report.sources if s.n in carrying and s.via != "snippet"]
        drafts += [_outcome(report, verified, facts), *(_source(entries, report, s) for s in read)]
        worked = _worked(report, steps) if report.status == "answered" else []
        if len(worked) >= MIN_PLAYBOOK:
            drafts.append(_playbook(report, worked))
        entries.delete([kinds.ERROR], question_key(report.question))
    ids = entries.put_all(drafts)
    urls = {source.url for source in report.sources}
    served = [row.id for row in entries.by_ids(used) if row.url in urls]
    if facts:
        entries.links.reinforce([*ids[: len(facts)], *served])
    _count_uses(entries, used, served)
    last = (entries.notes.read(RUNS) or {"last": 0.0})["last"]
    entries.notes.write(RUNS, {"before": last, "last": time.time()})
    return ids


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
    """Give to how many runs a memory was given, and how many of their answers cite its page."""
    shown, served = (entries.notes.read(USES) or {}).get(str(memory), (0, 0))
    return shown, served


def question_key(question: str) -> str:
    """Name a question by its words in any order: however it is turned, it asks the same."""
    return hashlib.sha256(" ".join(sorted(set(index_terms(question)))).encode()).hexdigest()[:24]


def _is_verified(sentence: Sentence) -> bool:
    return sentence.verdict is VerdictState.SUPPORTED and not sentence.weak


def _retire(entries: Entries, report: Report, new: Sequence[MemoryDraft]) -> None:
    """Take out of use what this run contradicts: facts, and the outcomes that rest on them."""
    denied = {
        content_key(sentence.text): unmarked(sentence.text)
        for sentence in report.sentences
        if sentence.verdict is VerdictState.CONTRADICTED
    }
    old = {row.id: row for key in denied if (row := entries.get([kinds.FACT], key)) is not None}
    for draft in new:
        rows = _alike(entries, draft.text, kinds.FACT)
        same_run = {row.id for row in rows if row.run == report.run}
        old |= {r.id: r for r in rows if r.id not in same_run and _replaces(draft.text, r.text)}
    keys = {row.key for row in old.values()}
    for row in list(old.values()):
        outcomes = _alike(entries, row.text, kinds.OUTCOME)
        old |= {r.id: r for r in outcomes if keys & set(details(r).get("facts", []))}
    if old:
        entries.archive(old.keys())


def _alike(entries: Entries, text: str, kind: str) -> list[Any]:
    hits = entries.search(text, ALIKE, [kind], associations=False)
    return entries.by_ids([hit.id for hit in hits])


def _replaces(new: str, old: str) -> bool:
    """Tell two findings that say the same of the same but for one number."""
    (subject, numbers), (other, others) = _parted(new), _parted(old)
    if subject != other or len(subject) < SUBJECT or len(numbers) != len(others):
        return False
    return sum((Counter(numbers) - Counter(others)).values()) == 1


def _parted(text: str) -> tuple[frozenset[str], list[str]]:
    """Part the words of a finding from its numbers."""
    words = [word.strip(".,;:!?()“”\"'") for word in text.split()]
    numbers = [word for word in words if any(char.isdigit() for char in word)]
    rest = " ".join(word for word in words if word not in numbers)
    return frozenset(index_terms(rest)), numbers


def _outcome(
    report: Report, verified: Sequence[Sentence], facts: dict[str, MemoryDraft]
) -> MemoryDraft:
    answer = " ".join(unmarked(sentence.text) for sentence in verified)[:ANSWER]
    text = f"{report.question} → {report.status}: {answer}"
    found_by, key = f"{report.question} {answer}", question_key(report.question)
    value = {"facts": list(facts)}
    return _draft(report, kinds.OUTCOME, key, text, value=value, found_by=found_by)


def _error(report: Report) -> MemoryDraft:
    """Note how a run failed; words of an answer that nothing carries are not kept."""
    why = report.error.message[:MESSAGE] if report.error else "no answer was found"
    text = f"{report.question} → {report.status}: {why}"
    key = question_key(report.question)
    return _draft(report, kinds.ERROR, key, text, found_by=report.question)


def _fact(
    entries: Entries, report: Report, text: str, sources: Sequence[ReportSource]
) -> MemoryDraft:
    """Draft a fact; earlier pages that said the same stay with it.

    The page's title stands before a sentence that does not say what it speaks of.
    """
    key, first = content_key(text), sources[0]
    fields = {"url", "title", "sha256", "fetched_at", "quotes"}
    new = [source.model_dump(include=fields) for source in sources]
    before = details(entries.get([kinds.FACT], key)).get("sources", [])
    urls = {source.url for source in sources}
    pages = [*new, *(source for source in before if source["url"] not in urls)][:PAGES]
    named = set(index_terms(first.title)) & set(index_terms(text))
    said = text if named or not first.title else f"{first.title}: {text}"
    return _draft(report, kinds.FACT, key, said, url=first.url, value={"sources": pages})


def _source(entries: Entries, report: Report, source: ReportSource) -> MemoryDraft:
    before = details(entries.get([kinds.SOURCE], source.url)).get("good_for", [])
    good_for = [*(q for q in before if q != report.question), report.question][-GOOD_FOR:]
    name = source.title or source.url
    value = {"good_for": good_for, "sha256": source.sha256, "fetched_at": source.fetched_at}
    return _draft(
        report,
        kinds.SOURCE,
        source.url,
        f"{name} — good for: {'; '.join(good_for)}",
        url=source.url,
        value=value,
        found_by=" ".join([name, *good_for]),
    )


def _worked(report: Report, steps: Sequence[str]) -> list[str]:
    """Keep the steps that led to the answer: of the pages opened, those that it cites."""
    cited = [source.url for source in report.sources]
    return [step for step in steps if "://" not in step or any(url in step for url in cited)]


def _playbook(report: Report, steps: Sequence[str]) -> MemoryDraft:
    lines = "\n".join(f"{number}) {step}" for number, step in enumerate(steps, 1))
    text = f"Playbook for: {report.question}\nSteps:\n{lines}"
    key = question_key(report.question)
    return _draft(report, kinds.PLAYBOOK, key, text, found_by=report.question)


def _draft(
    report: Report,
    kind: str,
    key: str,
    text: str,
    *,
    url: str | None = None,
    value: Any = None,
    found_by: str | None = None,
) -> MemoryDraft:
    """Draft what a run leaves; the words of our own forms are nothing to find it by."""
    packed = None if value is None else json.dumps(value)
    origin = Origin(report.run, url, trusted=False)
    return MemoryDraft(text, kind, key, packed, source=url, origin=origin, searched=found_by)


def gather(
    entries: Entries,
    conversations: Conversations,
    question: str,
    session: str | None,
    limits: LimitSettings,
) -> Layers:
    """Read every layer; `recalled` holds what bears on the question and is in no other layer."""
    values: dict[str, dict[str, Any]] = {
        kind: {row.key: _value(row) for row in entries.all([kind])}
        for kind in (kinds.REMEMBERED, kinds.SUMMARY)
    }
    shown = {**values[kinds.REMEMBERED], **values[kinds.SUMMARY]}
    if len(shown) > SHOWN_WITHOUT_FILTER:
        shown = {entry.key: entry.value for entry in relevant(question, shown)}
    recalled = [
        hit
        for hit in entries.search_all(question, SEARCHED)
        if hit.score >= RELEVANT * kinds.WEIGHTS.get(hit.kind, kinds.OTHER_WEIGHT)
        and (hit.shared or hit.kind not in kinds.NAMED or hit.key not in shown)
    ]
    quotes, public = conversations.heard(session) if session else (False, "")
    return Layers(
        condensed=conversations.condensed(session)[0] if session else "",
        history=tuple(conversations.turns(session, limits.recent_turns)) if session else (),
        profile={row.key: unpack(row) for row in entries.all([kinds.PROFILE])},
        memories=values[kinds.REMEMBERED],
        sessions=values[kinds.SUMMARY],
        skills=tuple(unpack(row) for row in entries.all([kinds.SKILL])),
        recalled=tuple(distinct(recalled)[: limits.recalled]),
        quotes=quotes,
        public=public,
        limits=limits,
    )


def _value(row: Any) -> Any:
    value = unpack(row)
    return value if row.trusted else Untrusted(jsvalues.to_string(value))


def distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Leave out what repeats a hit that stands before it, or a fact wherever it stands.

    Facts stay, since they name their page; an outcome stays where it says more than they do.
    """
    kept: list[Hit] = []
    said: list[frozenset[str]] = []
    counts: Counter[str] = Counter()
    order = {kinds.OUTCOME: 1, kinds.SOURCE: 2, kinds.PLAYBOOK: 3}
    for hit in sorted(hits, key=lambda hit: order.get(hit.kind, 0)):
        answer = hit.text.partition(" → ")[2].partition(": ")[2] if order.get(hit.kind) == 1 else ""
        words = frozenset(index_terms(answer or hit.text))
        others = [*said, frozenset().union(*said)] if hit.kind == kinds.OUTCOME else said
        repeated = any(words and len(words & other) >= REPEATED * len(words) for other in others)
        if hit.kind == kinds.SOURCE:  # of a fact that is kept, the page is named with it
            repeated = any(o.kind == kinds.FACT and o.origin.url == hit.origin.url for o in kept)
        if not repeated and counts[hit.kind] < MOST.get(hit.kind, len(hits)):
            kept.append(hit)
            said.append(words)
            counts[hit.kind] += 1
    ids = {hit.id for hit in kept}
    return [hit for hit in hits if hit.id in ids]
