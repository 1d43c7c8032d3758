"""Labels, facts and table rows of a report, shared by all its presentations.

The exports format them, and so do the terminal, the channels and the MCP server.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from agent.types import VerdictState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.types import CheckedReference, Report, ReportSource, Sentence

VERDICT_LABELS = {
    VerdictState.SUPPORTED: "supported",
    VerdictState.CONTRADICTED: "contradicted",
    VerdictState.UNDECIDED: "not verified",
    VerdictState.UNCITED: "uncited",
}
WEAK = "search result only"
"""Label of a sentence that only search results support."""
TO_CHECK = "Look at these: a figure, date or name does not stand in what they cite"
"""Title of the list of a draft's sentences that are most likely to be wrong."""
SEARCH_COLUMNS = ("query", "provider", "outcome", "results", "ms")
REFERENCE_COLUMNS = ("reference", "", "found")
_REFERENCE_STATES = {
    "ok": "reachable",
    "moved": "moved",
    "dead": "dead",
    "not_read": "not read",
    "not_checked": "not checked",
}
_ANSWERS = {
    "fully": "answers the question",
    "in part": "answers it in part",
    "no": "does not answer",
}
_SURE = 0.7
"""Below this confidence a reader is warned; `FIT_COEFFICIENTS` in `agent.evidence.confidence` says
how many answers are right on either side."""
_COVERED = 0.6
"""A reader is also warned if no more than this share of the question is covered. On two closed webs
105 of 117 unmarked answers are right without this rule, 89 of 96 with it; on documents 53 of 56, 51
of 54."""
_NEAR = 1.5
"""Below this margin the warning names a nearly equal sentence as its reason."""


def verdict_label(sentence: Sentence, report: Report) -> str:
    """Return the label of a sentence's verdict."""
    if sentence.about_search:
        return "about the search"
    if report.references and _is_denied(sentence):
        return "not supported"
    return WEAK if sentence.weak else VERDICT_LABELS[sentence.verdict]


def unsupported(report: Report) -> list[Sentence]:
    """List the claims that are not supported."""
    return [
        sentence
        for sentence in report.sentences
        if sentence.verdict is not VerdictState.SUPPORTED and not sentence.about_search
    ]


def _is_denied(sentence: Sentence) -> bool:
    """Tell whether a judge looked and did not find the sentence in what it cites."""
    undecided = sentence.verdict is VerdictState.UNDECIDED
    return undecided and bool(sentence.citations) and sentence.decided_by == "judge"


def faulty_sentences(report: Report) -> list[Sentence]:
    """List the sentences of an audited draft that do not hold.

    Those are contradicted by any page that was read, or a judge did not find them in what they
    cite. Undecided ones are not included.
    """
    return [
        sentence
        for sentence in report.sentences
        if sentence.verdict is VerdictState.CONTRADICTED or _is_denied(sentence)
    ]


def faults(report: Report) -> list[tuple[str, str]]:
    """List what does not hold in an audited draft, with reasons: sentences, then references."""
    found = [(sentence.text, sentence.reason) for sentence in faulty_sentences(report)]
    return found + [(r.url or r.doi or r.text, why) for r in report.references for why in r.wrong]


def to_check(report: Report) -> list[Sentence]:
    """List the undecided sentences of a draft with a value that does not stand in what they cite.

    On six drafts by an author who did not know the code these were 16 of 36 faults and 2 of 58
    true sentences.
    """
    faulty = faulty_sentences(report)
    undecided = (s for s in report.sentences if s.verdict is VerdictState.UNDECIDED)
    return [sentence for sentence in undecided if sentence.missing and sentence not in faulty]


def other_unsupported(report: Report) -> list[Sentence]:
    """List the unsupported claims, except those of a draft that are listed elsewhere already."""
    listed = [*faulty_sentences(report), *to_check(report)] if report.references else []
    return [sentence for sentence in unsupported(report) if sentence not in listed]


def low_confidence_warning(report: Report) -> str:
    """Return the warning that an answer may be wrong; empty if it is likely to be right."""
    value, parts = report.confidence, report.confidence_parts
    is_covered = parts.coverage > _COVERED
    if report.status != "answered" or value is None or (value >= _SURE and is_covered):
        return ""
    reason = ""
    if parts.fit is not None:
        if parts.fit.open:
            reason = ": a part of the question stays open"
        elif is_covered and parts.fit.margin < _NEAR:
            reason = ": another sentence fits nearly as well"
        else:
            reason = f": it says {parts.fit.own:.0%} of the question"
    return f"This may not be the answer{reason} (confidence {value:.2f})."


def confidence_facts(report: Report) -> list[str]:
    """List the confidence and what it is made of, a few words each; empty without an answer.

    Of an audited draft, counts its sentences by verdict instead.
    """
    if report.references:
        unsure, total = to_check(report), len(report.sentences)
        labels = Counter(verdict_label(s, report) for s in report.sentences if s not in unsure)
        supported = labels.pop(VERDICT_LABELS[VerdictState.SUPPORTED], 0)
        facts = [f"{supported} of {total} sentences supported"] if total else []
        facts += [f"{len(unsure)} to look at"] if unsure else []
        return facts + [f"{count} {label}" for label, count in labels.items()]
    if not report.sources or report.status == "not_found":
        return []
    value, parts = report.confidence, report.confidence_parts
    weak = sum(sentence.weak for sentence in report.sentences)
    facts = [
        "confidence not rated" if value is None else f"confidence {value:.2f}",
        _ANSWERS[parts.answers] if parts.answers else "",
        f"{_share(parts.supported)} supported",
        f"{weak} of {len(report.sentences)} by a {WEAK}" if weak else "",
        "one site" if parts.sites == 1 else f"{parts.sites} independent sites",
    ]
    if parts.agreement < 1:
        facts.append(f"sources agree by {parts.agreement:.0%}")
    elif parts.sites > 1:
        facts.append("sources agree")
    facts.append(f"speaks of {_share(parts.coverage)} of the question")
    if parts.freshness is not None:
        days = parts.freshness
        age = f"{days} day{'s' * (days != 1)}" if days < 2 * 365 else f"{days // 365} years"
        facts.append(f"newest source {age} old")
    return [fact for fact in facts if fact]


def _share(value: float) -> str:
    return "all" if value == 1 else f"{value:.0%}"


def source_note(source: ReportSource, at: str) -> str:
    """Describe how and when a source was read."""
    if source.via == "snippet":
        return f"search result of {at}, the page itself was not read"
    if source.via == "computed":
        return f"computed {at} from what the pages say"
    return f"read {at} via {source.via}"


def reference_cells(reference: CheckedReference) -> tuple[str, str, str]:
    """Return the cells of a reference: name, state, and everything that was found out about it."""
    found = [
        f"source [{reference.source}]" if reference.source else "",
        *reference.wrong,
        f"now {reference.now}" if reference.now else "",
        *reference.notes,
        f"archived copy: {reference.archived}" if reference.archived else "",
    ]
    name = f"[{reference.key}] {reference.text}" if reference.key else reference.text
    return name, _REFERENCE_STATES[reference.state], "; ".join(filter(None, found))


def search_rows(report: Report) -> Iterable[tuple[str, ...]]:
    """Yield the cells of each search, by `SEARCH_COLUMNS`."""
    for s in report.searches:
        yield s.query, s.provider, s.outcome, str(s.results), str(s.ms)


def conflict_lines(report: Report) -> list[str]:
    """Format a line for each conflict between sources."""
    titles = {source.n: source.title or source.url for source in report.sources}
    lines = []
    for conflict in report.conflicts:
        markers = "".join(f"[{n}]" for n in conflict.citations)
        against = f"[{conflict.source}] {titles.get(conflict.source, '')}"
        quote = " ".join(conflict.quote.split())
        lines.append(f"{conflict.text} {markers} — but {against}: “{quote}”")
    return lines


def data_as_json(report: Report) -> str:
    """Format the data for a schema as indented JSON."""
    return json.dumps(report.data, ensure_ascii=False, indent=2)


def tool_error(result: Any) -> str:
    """Return why a tool failed, from its result's data; empty if it did not."""
    return str(result.get("error") or "") if isinstance(result, dict) else ""


def parameter_text(param: str, between: str) -> str:
    """Join the values of a call's JSON parameter by `between`; other parameters are unchanged."""
    try:
        values = json.loads(param)
    except ValueError:
        return param
    return between.join(map(str, values.values())) if isinstance(values, dict) else param
