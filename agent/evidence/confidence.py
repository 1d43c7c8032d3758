"""Compares an answer with everything that was read and estimates how likely it is to be right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from agent.evidence.answer import SourceList
from agent.evidence.disputes import NON_PAGE_VIA, PASSAGES_CHECKED, other_sources, question_words
from agent.evidence.literal import find_words
from agent.evidence.origins import Origins, site_name
from agent.evidence.verify import check_claim, is_literal, statement_index
from agent.types import ConfidenceParts, Conflict, Verdict, VerdictState
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from agent.evidence.answer import CheckedAnswer
    from agent.evidence.disputes import Dispute
    from agent.evidence.store import Evidence, Source
    from agent.types import Answers, Fit, ReportSource, Sentence


@dataclass(frozen=True, slots=True)
class Assessment:
    """An answer's confidence, the parts it was computed from, and the conflicts that were found.

    `sources` contains the answer's sources and those that contradict it. `confidence` is None if no
    calibrated number can be given.
    """

    confidence: float | None
    parts: ConfidenceParts
    sources: tuple[ReportSource, ...]
    conflicts: tuple[Conflict, ...]


def assess_answer(
    checked: CheckedAnswer,
    evidence: Evidence,
    question: str,
    *,
    answers: Answers | None = None,
    disputes: Sequence[Dispute] = (),
    fit: Fit | None = None,
    primary: Mapping[str, int] | None = None,
) -> Assessment:
    """Compare the supported sentences of an answer with the pages that they do not cite.

    `answers` is a judge's opinion on whether the question is answered; `disputes` lists the pages
    that, according to the judge, disagree with the answer. `fit` says how well the answer's
    sentence fits the question, if the extractive model chose it. `primary` maps a claim to the
    number of the source that the claim's pages cite for it, if that source confirms the claim:
    those pages are not independent of it. Sources that contradict the answer are numbered after
    those that it cites.
    """
    claims = [sentence for sentence in checked.sentences if not sentence.about_search]
    sources = SourceList(checked.sources)
    known = (*evidence.sources, *evidence.snippets)
    cited = [source for source in known if source in sources]
    read = [source for source in checked.sources if source.via not in NON_PAGE_VIA]
    origins = Origins(source for source in evidence.sources if source.via not in NON_PAGE_VIA)
    by_number = {sources.add(source).n: source for source in cited}
    for sentence in claims:
        if original := evidence.source((primary or {}).get(sentence.text, 0)):
            origins.cite_original(
                original, (by_number[n] for n in sentence.citations if n in by_number)
            )
    pages = {source.url for source in read or checked.sources}
    confirming = {origins.origin_site(by_number[source.n]) for source in read or checked.sources}
    conflicts: list[Conflict] = []
    agreement: list[float] = []
    for sentence in claims:
        if not sentence.verdict.holds:
            continue
        supporting = [s for s in cited if sources.add(s).n in sentence.citations]
        agreeing, against = {origins.origin_site(source) for source in supporting}, set[str]()
        for source, verdict in _other_verdicts(sentence.text, supporting, evidence, disputes):
            if verdict.state is VerdictState.SUPPORTED:
                agreeing.add(origins.origin_site(source))
                pages.add(source.url)
                continue
            against.add(origins.origin_site(source))
            # If the answer quotes both sides, the conflict is already listed under the other
            # sentence.
            if not any((c.quote, c.text) == (sentence.text, verdict.quote) for c in conflicts):
                conflicts.append(_conflict(sentence, source, verdict, sources))
        confirming |= agreeing
        both = len(agreeing & against)  # a site may both support and contradict a sentence
        agreement.append((len(agreeing) - both / 2) / len(agreeing | against))
    weights = [SNIPPET_WEIGHT if claim.weak else VERDICT_WEIGHTS[claim.verdict] for claim in claims]
    parts = ConfidenceParts(
        supported=round(sum(weights) / (len(claims) or 1), 3),
        pages=len(pages),
        sites=len(set(map(site_name, pages))),
        origins=len(confirming),
        agreement=round(sum(agreement) / len(agreement) if agreement else 1.0, 3),
        coverage=round(_question_coverage(question, cited, checked, sources), 3),
        freshness=_freshness(cited),
        answers=answers,
        fit=fit,
    )
    confidence = compute_confidence(parts, claims, checked.sources)
    mark_copies(sources, evidence, origins)
    return Assessment(confidence, parts, tuple(sources), tuple(conflicts))


def mark_copies(sources: SourceList, evidence: Evidence, origins: Origins) -> None:
    """Mark each source in a report that is a copy of an earlier source in the report."""
    first: dict[int, int] = {}
    read = [source for source in evidence.sources if source in sources]
    for source in sorted(read, key=lambda one: one is not origins.earliest_copy(one)):
        row = sources.add(source)
        number = first.setdefault(origins.earliest_copy(source).n, row.n)
        row.copy_of = number if number != row.n else None


def _conflict(
    sentence: Sentence, source: Source, verdict: Verdict, sources: SourceList
) -> Conflict:
    """Create a `Conflict` for a sentence and a source, and add the source to `sources`."""
    number = sources.add(source, verdict.quote).n
    return Conflict(
        text=sentence.text,
        citations=sentence.citations,
        source=number,
        quote=verdict.quote,
        reason=verdict.reason,
        newer=_newer_side(sentence.citations, number, sources),
    )


def cross_check(
    sentence: str, evidence: Evidence, supported_by: Collection[int]
) -> Iterator[tuple[Source, Verdict]]:
    """Check a sentence against every page that was read, except those in `supported_by`.

    Yields the sources that support or contradict it. Search results, which lack context, and
    earlier states of a page are left out. If the supporting text was seen after an action, pages of
    the same site as they were before the action are also left out.
    """
    for source in other_sources(evidence, supported_by):
        passages = tuple(evidence.search(sentence, PASSAGES_CHECKED, source.n))
        index = statement_index(passages, ((source.n, source.title),))
        verdict = check_claim(sentence, index)
        if is_literal(verdict) or verdict.state is VerdictState.CONTRADICTED:
            yield source, verdict


def _other_verdicts(
    sentence: str,
    supporting: Iterable[Source],
    evidence: Evidence,
    disputes: Iterable[Dispute],
) -> Iterator[tuple[Source, Verdict]]:
    """Yield other sources that support or contradict a sentence, found in code or by a judge."""
    numbers = {source.n for source in supporting}
    for source, verdict in cross_check(sentence, evidence, numbers):
        numbers.add(source.n)
        yield source, verdict
    for dispute in disputes:
        passage = evidence.passage(dispute.passage)
        disputing = evidence.source(passage.source) if passage else None
        if disputing is None or disputing.n in numbers:
            continue
        if find_words(dispute.words, sentence):
            numbers.add(disputing.n)
            reason = f"the page says otherwise: “{' '.join(dispute.quote.split())}”"
            yield disputing, Verdict(VerdictState.CONTRADICTED, dispute.quote, reason, "judge")


def _newer_side(citations: Sequence[int], against: int, sources: SourceList) -> list[int]:
    """Return the source numbers of the newer side; empty if a date is missing or both are equal.

    The date of the supporting side is that of the newest page that supports the sentence.
    """
    dates = {source.n: _date(source.published) for source in sources}
    own = max(filter(None, (dates.get(n) for n in citations)), default=None)
    other = dates[against]
    if own is None or other is None or own == other:
        return []
    return [against] if other > own else [n for n in citations if dates.get(n) == own]


def _date(published: str | None) -> date | None:
    """Parse a page's date; None if it is incomplete."""
    try:
        return date.fromisoformat((published or "")[:10])
    except ValueError:
        return None


def _question_coverage(
    question: str, cited: Iterable[Source], checked: CheckedAnswer, sources: SourceList
) -> float:
    """Return the share of the question's words in supported claims, quotes and their headings.

    Addresses, logins and commands in the question are ignored.
    """
    wanted = question_words(question)
    if not wanted:
        return 1.0
    texts = [s.text for s in checked.sentences if s.holds]
    for source in cited:
        quoted = sources.add(source).quotes
        texts += source.title, *quoted
        texts += (p.heading for p in source.passages if any(quote in p.text for quote in quoted))
    return len(wanted & frozenset(content_words(" ".join(texts)))) / len(wanted)


def _freshness(cited: Iterable[Source]) -> int | None:
    """Return the newest dated source's age in days when it was read; None if none has a date."""
    dated = ((source.fetched_at.date(), _date(source.published)) for source in cited)
    ages = [(read - published).days for read, published in dated if published is not None]
    return max(0, min(ages)) if ages else None


VERDICT_WEIGHTS = {
    VerdictState.SUPPORTED: 1.0,
    VerdictState.DONE: 1.0,
    VerdictState.ATTEMPTED: 0.5,
    VerdictState.UNDECIDED: 0.5,
    VerdictState.UNCITED: 0.3,
    VerdictState.CONTRADICTED: 0.0,
}
"""Contribution of a sentence to `supported`, by its verdict; undecided counts half."""
SNIPPET_WEIGHT = 0.7
"""Contribution of a sentence that only search results support: these lack context and may be
stale."""
ANSWERS_PROBABILITY = {"fully": 0.92, "in part": 0.5, "no": 0.1}
"""Probability that an answer is right, by the judge's opinion.

It is set slightly below the measured rates: of 60 recorded answers to 20 questions over two pages,
51 of 53, 1 of 3 and 0 of 4 were right. The Brier score is .054 (.058 in leave-one-out validation),
compared with .119 for a constant.
"""
FURTHER_ORIGIN_FACTOR = 0.5
"""Each additional independent origin halves the distance to 1."""
MAX_CONTRADICTED_CONFIDENCE = 0.35
"""Maximum confidence in an answer with a contradicted sentence."""

FIT_COEFFICIENTS = (-5.13, 3.05, 0.66, 1.12, 0.56, -1.43)
"""Logistic coefficients for a sentence that the extractive model chose: the constant, and the
weights of the features in `fit_features`.

Fitted on 296 answers over the bundled web, one and a half closed webs and a folder of 25 documents.
The Brier score is .149 in ten-fold cross-validation on these, and .122 on 146 other answers. With
the sentence's coverage of the question times its margin as the only feature, it was .192. The
rarity of the covered words rejects answers to short questions that depend on context ("What were
casualties of battle?"). These features did not improve the result: the number of covered words,
names, relative clauses, the title, a bridge to another page.
"""

MIN_EXTRACTIVE_CONFIDENCE = 0.9
"""Below this confidence, the extractive model gives no answer, only passages relevant to the
question.

Of the answers to 574 questions over closed webs and two folders, 112 of 116 at or above this value
are right, and 156 of 166 at or above .85. With .85, only 7 of 11 were right on a folder of manuals
by other authors. The passages shown instead contain the requested information just as often.
"""


def compute_confidence(
    parts: ConfidenceParts, sentences: Sequence[Sentence], sources: Sequence[ReportSource]
) -> float | None:
    """Compute the confidence in an answer, 0 to 1, from its parts; `sentences` are its claims.

    Returns None for an answer without claims, and for a model's answer that no judge has rated:
    even if its sentences occur literally on the pages, they may not answer the question.
    """
    if not sentences:
        return None
    if not sources:
        return 0.0
    if parts.fit is not None:
        return round(parts.agreement * fit_probability(parts.fit), 2)
    contradicted = any(sentence.verdict is VerdictState.CONTRADICTED for sentence in sentences)
    if parts.answers is None and not contradicted:
        return None
    value = ANSWERS_PROBABILITY[parts.answers] if parts.answers else MAX_CONTRADICTED_CONFIDENCE
    if parts.answers != "no":
        value = 1 - (1 - value) * FURTHER_ORIGIN_FACTOR ** max(
            0, (parts.origins or parts.sites) - 1
        )
    value *= parts.supported * parts.agreement
    return round(min(value, MAX_CONTRADICTED_CONFIDENCE) if contradicted else value, 2)


def fit_features(fit: Fit) -> tuple[float, ...]:
    """Return the logistic curve's inputs for a sentence that the extractive model chose.

    They are the share of the question that it covers, its margin over the next-best sentence, the
    rarity of the question's words that it contains, and whether it contains or lacks a value of the
    requested kind. If it contains one, coverage counts more.
    """
    has, lacks = (float(fit.has_value is value) for value in (True, False))
    return fit.covered, fit.margin, math.log1p(fit.stated), fit.covered * has, lacks


def fit_probability(fit: Fit, coefficients: tuple[float, ...] = FIT_COEFFICIENTS) -> float:
    """Return the probability that a sentence with these features answers the question."""
    constant, *weights = coefficients
    value = constant + sum(w * x for w, x in zip(weights, fit_features(fit), strict=True))
    return 1 / (1 + math.exp(-value))
