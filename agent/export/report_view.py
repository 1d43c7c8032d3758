"""What people read of verdicts, of the confidence and its parts, and of disagreeing sources."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from agent.types import VerdictState

if TYPE_CHECKING:
    from agent.types import (
        CheckedReference,
        ConfidenceParts,
        Conflict,
        Report,
        ReportSource,
        Sentence,
    )

VERDICT_LABELS = {
    VerdictState.SUPPORTED: "supported",
    VerdictState.CONTRADICTED: "contradicted",
    VerdictState.UNDECIDED: "not verified",
    VerdictState.UNCITED: "uncited",
}
"""What people read for a verdict."""
DENIED = "not supported"
"""What people read of a draft where a judge did not find a sentence in what it cites."""
WEAK = "search result only"
"""What they read for a sentence that no page which was read carries."""
ABOUT_SEARCH = "about the search"
"""What they read for a sentence that is no claim."""
_ANSWERS = {
    "fully": "answers the question",
    "in part": "answers it in part",
    "no": "does not answer",
}


def verdict_label(sentence: Sentence, report: Report) -> str:
    """Say how a sentence of a report stands."""
    if sentence.about_search:
        return ABOUT_SEARCH
    if report.references and denied(sentence):
        return DENIED
    return WEAK if sentence.weak else VERDICT_LABELS[sentence.verdict]


_SURE = 0.7
"""Confidence below which a reader is warned; `FITTING` has how many are right on either side."""
_SPOKEN = 0.6
"""Share of the question that is spoken of up to which there is a doubt too. On two closed webs 105
of 117 unmarked answers are right without it, 89 of 96 with it; on documents 53 of 56, 51 of 54."""
_NEAR = 1.5
"""Margin below which a doubt is told to come from another sentence, else from what is not said."""


def low_confidence_warning(report: Report) -> str:
    """Say that an answer may be none, where that is not far from even; empty otherwise."""
    value = report.confidence
    spoken = report.confidence_parts.coverage > _SPOKEN
    if report.status != "answered" or value is None or (value >= _SURE and spoken):
        return ""
    fit, reason = report.confidence_parts.fit, ""
    if fit is not None and fit.open:
        reason = ": a part of the question stays open"
    elif fit is not None and spoken and fit.margin < _NEAR:
        reason = ": another sentence fits nearly as well"
    elif fit is not None:
        reason = f": it says {fit.own:.0%} of the question"
    return f"This may not be the answer{reason} (confidence {value:.2f})."


def faults(report: Report) -> list[tuple[str, str]]:
    """Give what does not hold in an audited draft: a sentence or an address, and why.

    A sentence is at fault that what it cites, or any page that was read, contradicts, and one that
    a judge did not find in what it cites; what nobody could decide is not.
    """
    found = [(sentence.text, sentence.reason) for sentence in faulty_sentences(report)]
    return found + [(r.url or r.doi or r.text, why) for r in report.references for why in r.wrong]


def faulty_sentences(report: Report) -> list[Sentence]:
    """Give the sentences of an audited draft that do not hold."""
    found = (
        one for one in report.sentences if one.verdict is VerdictState.CONTRADICTED or denied(one)
    )
    return list(found)


def denied(sentence: Sentence) -> bool:
    """Whether a judge looked, and what the sentence cites does not say it."""
    undecided = sentence.verdict is VerdictState.UNDECIDED
    return undecided and bool(sentence.citations) and sentence.decided_by == "judge"


TO_CHECK = "Look at these: a figure, date or name does not stand in what they cite"
"""What is put before the sentences of a draft that are the likeliest to be wrong."""


def to_check(report: Report) -> list[Sentence]:
    """Give the sentences that nobody decided and of which a value does not stand there.

    On six drafts by an author who did not know the code these were 16 of 36 faults and 2 of 58
    true sentences.
    """
    wrong = faulty_sentences(report)
    undecided = (one for one in report.sentences if one.verdict is VerdictState.UNDECIDED)
    return [one for one in undecided if one.missing and one not in wrong]


_STATES = {
    "ok": "reachable",
    "moved": "moved",
    "dead": "dead",
    "not_read": "not read",
    "not_checked": "not checked",
}


def reference_cells(one: CheckedReference) -> tuple[str, str, str]:
    """Say of a reference how it is called, how it stands, and all that was found of it."""
    found = [f"source [{one.source}]"] if one.source else []
    found += [*one.wrong, *([f"now {one.now}"] if one.now else []), *one.notes]
    found += [f"archived copy: {one.archived}"] if one.archived else []
    name = f"[{one.key}] {one.text}" if one.key else one.text
    return name, _STATES[one.state], "; ".join(found)


def source_note(source: ReportSource, at: str) -> str:
    """Say how and when a source was had."""
    if source.via == "snippet":
        return f"search result of {at}, the page itself was not read"
    if source.via == "computed":
        return f"computed {at} from what the pages say"
    return f"read {at} via {source.via}"


def unsupported(report: Report) -> list[Sentence]:
    """Give the claims that nothing carries."""
    doubtful = (s for s in report.sentences if s.verdict is not VerdictState.SUPPORTED)
    return [sentence for sentence in doubtful if not sentence.about_search]


def other_unsupported(report: Report) -> list[Sentence]:
    """Give the claims that nothing carries, but for those of a draft that are listed before."""
    before = [*faulty_sentences(report), *to_check(report)] if report.references else []
    return [sentence for sentence in unsupported(report) if sentence not in before]


def tool_error(result: Any) -> str:
    """Say why a tool failed, from the data of its result; empty where it did not."""
    return str(result.get("error") or "") if isinstance(result, dict) else ""


def parameter_text(param: str, between: str) -> str:
    """Show the values of a call, not the JSON around them."""
    try:
        values = json.loads(param)
    except ValueError:
        return param
    return between.join(map(str, values.values())) if isinstance(values, dict) else param


def confidence_facts(report: Report) -> list[str]:
    """Say the confidence, then in a few words each what it is made of; empty without an answer.

    Of a draft that was audited, how many of its sentences stand how.
    """
    if report.references:
        return _counted(report)
    if not report.sources or report.status == "not_found":
        return []
    value, parts = report.confidence, report.confidence_parts
    return [
        "confidence not rated" if value is None else f"confidence {value:.2f}",
        *([_ANSWERS[parts.answers]] if parts.answers else []),
        f"{_share(parts.supported)} supported",
        *_weak(report.sentences),
        "one site" if parts.sites == 1 else f"{parts.sites} independent sites",
        *_agreement(parts),
        f"speaks of {_share(parts.coverage)} of the question",
        *([] if parts.freshness is None else [f"newest source {_age(parts.freshness)} old"]),
    ]


def _counted(report: Report) -> list[str]:
    look, many = to_check(report), len(report.sentences)
    words = Counter(verdict_label(one, report) for one in report.sentences if one not in look)
    carried = words.pop(VERDICT_LABELS[VerdictState.SUPPORTED], 0)
    told = [f"{carried} of {many} sentences supported"] if many else []
    told += [f"{len(look)} to look at"] if look else []
    return told + [f"{count} {word}" for word, count in words.items()]


def _share(value: float) -> str:
    return "all" if value == 1 else f"{value:.0%}"


def _weak(sentences: list[Sentence]) -> list[str]:
    """Say how many sentences rest on search results alone, if any do."""
    weak = sum(sentence.weak for sentence in sentences)
    return [f"{weak} of {len(sentences)} by a {WEAK}"] if weak else []


def _agreement(parts: ConfidenceParts) -> list[str]:
    """Say how far sources agree, where there are several sites or they do not."""
    if parts.agreement < 1:
        return [f"sources agree by {parts.agreement:.0%}"]
    return ["sources agree"] if parts.sites > 1 else []


def conflict_lines(report: Report) -> list[str]:
    """Say in a line each where sources disagree."""
    return [_otherwise(conflict, report) for conflict in report.conflicts]


def data_as_json(report: Report) -> str:
    """Write the data of a schema as JSON, two spaces deep."""
    return json.dumps(report.data, ensure_ascii=False, indent=2)


def _otherwise(conflict: Conflict, report: Report) -> str:
    carried = "".join(f"[{n}]" for n in conflict.citations)
    quote = " ".join(conflict.quote.split())
    title = next((s.title or s.url for s in report.sources if s.n == conflict.source), "")
    return f"{conflict.text} {carried} — but [{conflict.source}] {title}: “{quote}”"


def _age(days: int) -> str:
    if days < 2 * 365:
        return f"{days} day{'s' * (days != 1)}"
    return f"{days // 365} years"
