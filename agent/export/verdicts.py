"""What people read of verdicts, of the confidence and its parts, and of disagreeing sources."""

from __future__ import annotations

import json
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

VERDICTS = {
    VerdictState.SUPPORTED: "supported",
    VerdictState.CONTRADICTED: "contradicted",
    VerdictState.UNDECIDED: "not verified",
    VerdictState.UNCITED: "uncited",
}
"""What people read for a verdict."""
WEAK = "search result only"
"""What they read for a sentence that no page which was read carries."""
ABOUT_SEARCH = "about the search"
"""What they read for a sentence that is no claim."""
_ANSWERS = {
    "fully": "answers the question",
    "in part": "answers it in part",
    "no": "does not answer",
}


def verdict(sentence: Sentence) -> str:
    """Say how a sentence stands."""
    if sentence.about_search:
        return ABOUT_SEARCH
    return WEAK if sentence.weak else VERDICTS[sentence.verdict]


_SURE = 0.7
"""Confidence below which a reader is warned; `FITTING` has how many are right on either side."""
_NEAR = 1.5
"""Margin below which a doubt is told to come from another sentence, else from what is not said."""


def doubt(report: Report) -> str:
    """Say that an answer may be none, where that is not far from even; empty otherwise."""
    value = report.confidence
    if report.status != "answered" or value is None or value >= _SURE:
        return ""
    fit = report.confidence_parts.fit
    reason = ""
    if fit is not None:
        near, little = (
            "another sentence fits nearly as well",
            f"it says {fit.own:.0%} of the question",
        )
        reason = f": {near if fit.margin < _NEAR else little}"
    return f"This may not be the answer{reason} (confidence {value:.2f})."


def faults(report: Report) -> list[tuple[str, str]]:
    """Give what does not hold in an audited draft: a sentence or an address, and why.

    A sentence is at fault that what it cites, or any page that was read, contradicts, and one that
    a judge did not find in what it cites; what nobody could decide is not.
    """
    found = [(sentence.text, sentence.reason) for sentence in report.sentences if _wrong(sentence)]
    return found + [(r.url or r.doi or r.text, why) for r in report.references for why in r.wrong]


def _wrong(sentence: Sentence) -> bool:
    undecided = sentence.verdict is VerdictState.UNDECIDED and sentence.decided_by == "judge"
    contradicted = sentence.verdict is VerdictState.CONTRADICTED
    return contradicted or bool(sentence.citations and undecided)


_STATES = {
    "ok": "reachable",
    "moved": "moved",
    "dead": "dead",
    "not_read": "not read",
    "not_checked": "not checked",
}


def reference(one: CheckedReference) -> tuple[str, str, str]:
    """Say of a reference how it is called, how it stands, and all that was found of it."""
    found = [f"source [{one.source}]"] if one.source else []
    found += [*one.wrong, *([f"now {one.now}"] if one.now else []), *one.notes]
    found += [f"archived copy: {one.archived}"] if one.archived else []
    name = f"[{one.key}] {one.text}" if one.key else one.text
    return name, _STATES[one.state], "; ".join(found)


def how_it_came(source: ReportSource, at: str) -> str:
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


def failure(result: Any) -> str:
    """Say why a tool failed, from the data of its result; empty where it did not."""
    return str(result.get("error") or "") if isinstance(result, dict) else ""


def asked_for(param: str, between: str) -> str:
    """Show the values of a call, not the JSON around them."""
    try:
        values = json.loads(param)
    except ValueError:
        return param
    return between.join(map(str, values.values())) if isinstance(values, dict) else param


def rated(report: Report) -> list[str]:
    """Say the confidence, then in a few words each what it is made of; empty without an answer."""
    if not report.sources or report.references or report.status == "not_found":
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


def conflicts(report: Report) -> list[str]:
    """Say in a line each where sources disagree."""
    return [_otherwise(conflict, report) for conflict in report.conflicts]


def data_json(report: Report) -> str:
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
