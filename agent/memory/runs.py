"""What a run leaves: its outcome, the facts it verified, the pages it cited, the steps it took.

Each is written under a key of its content, so that asking the same again renews what is known and
adds nothing. All of it goes back to the web's words in the end, and stays untrusted.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from typing import TYPE_CHECKING, Any

from agent.memory import kinds
from agent.memory.drafts import Draft
from agent.memory.terms import index_terms
from agent.memory.types import Origin
from agent.memory.values import details
from agent.types import VerdictState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.memory.entries import Entries
    from agent.types import Report, ReportSource

ANSWER = 400  # characters of the answer that an outcome keeps
PAGES = 5  # that a fact names; more do not make it truer
GOOD_FOR = 5  # questions that a source remembers
_STATE = "runs"
MIN_PLAYBOOK = 2  # steps; one search is no method
_MARKER = re.compile(r"\s*\[\d+\]")


def record_run(
    entries: Entries, report: Report, steps: Sequence[str], used: Sequence[int]
) -> list[int]:
    """Write what a finished run left; `steps` are its calls, one line each.

    Facts that carried one answer are linked, to each other and to those of the `used` memories
    whose page the answer cites.
    """
    if report.status == "failed":
        return []
    facts = list(_facts(entries, report))
    read = [source for source in report.sources if source.via != "snippet"]
    others = [_outcome(report), *(_source(entries, report, source) for source in read)]
    worked = _worked(report, steps) if report.status == "answered" else []
    if len(worked) >= MIN_PLAYBOOK:
        others.append(_playbook(report, worked))
    ids = entries.put_all([*facts, *others])
    cited = {source.url for source in report.sources}
    served = [row.id for row in entries.by_ids(used) if row.url in cited]
    if facts:
        entries.links.reinforce([*ids[: len(facts)], *served])
    last = (entries.notes.read(_STATE) or {"last": 0.0})["last"]
    entries.notes.write(_STATE, {"before": last, "last": time.time()})
    return ids


def run_before(entries: Entries) -> float:
    """Tell when the run before the last one ended, in seconds since the epoch; 0 for never."""
    return float((entries.notes.read(_STATE) or {"before": 0.0})["before"])


def content_key(text: str) -> str:
    """Name a text by its words: case, punctuation, stop words and citation marks do not count."""
    words = " ".join(index_terms(_MARKER.sub("", text)))
    return hashlib.sha256(words.encode()).hexdigest()[:24]


def question_key(question: str) -> str:
    """Name a question by its words in any order: however it is turned, it asks the same."""
    return hashlib.sha256(" ".join(sorted(set(index_terms(question)))).encode()).hexdigest()[:24]


def _outcome(report: Report) -> Draft:
    answer = _MARKER.sub("", report.answer)[:ANSWER]
    text = f"{report.question} → {report.status}: {answer}".rstrip(": ")
    found_by = f"{report.question} {answer}"
    return _draft(report, kinds.OUTCOME, question_key(report.question), text, found_by=found_by)


def _facts(entries: Entries, report: Report) -> Iterator[Draft]:
    cited = {source.n: source for source in report.sources}
    for sentence in report.sentences:
        sources = [cited[n] for n in sentence.citations if n in cited]
        text = _MARKER.sub("", sentence.text).strip()
        row = text.startswith("|")  # of a table: without its header it tells nothing
        verified = sentence.verdict is VerdictState.SUPPORTED and not sentence.weak
        if verified and sources and not row:
            key = content_key(text)
            facts = {"sources": _known_too(entries, key, [_citation(s) for s in sources])}
            said = _with_subject(text, sources[0].title)
            yield _draft(report, kinds.FACT, key, said, url=sources[0].url, value=facts)


def _with_subject(text: str, title: str) -> str:
    """Put the page's title before a sentence that does not say what it speaks of."""
    named = set(index_terms(title)) & set(index_terms(text))
    return text if named or not title else f"{title}: {text}"


def _known_too(entries: Entries, key: str, new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the pages that said the same in earlier runs."""
    known = entries.get([kinds.FACT], key)
    before = details(known).get("sources", [])
    urls = {source["url"] for source in new}
    return [*new, *(source for source in before if source["url"] not in urls)][:PAGES]


def _citation(source: ReportSource) -> dict[str, Any]:
    return source.model_dump(include={"url", "title", "sha256", "fetched_at", "quotes"})


def _source(entries: Entries, report: Report, source: ReportSource) -> Draft:
    known = entries.get([kinds.SOURCE], source.url)
    before = details(known).get("good_for", [])
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


def _playbook(report: Report, steps: Sequence[str]) -> Draft:
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
) -> Draft:
    """Draft what a run leaves; the words of our own forms are nothing to find it by."""
    return Draft(
        text,
        kind,
        key,
        None if value is None else json.dumps(value),
        source=url,
        origin=Origin(report.run, url, trusted=False),
        searched=found_by,
    )
