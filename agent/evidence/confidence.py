"""An answer held against all that was read: who agrees, who does not, how likely it is right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from agent.evidence.answer import report_source
from agent.evidence.verify import check_claim, ground_of, is_literal
from agent.types import ConfidenceParts, Conflict, VerdictState
from browser.net.url import host, registrable_domain
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from agent.evidence.answer import CheckedAnswer
    from agent.evidence.store import Evidence, Source
    from agent.types import Answers, Fit, ReportSource, Sentence, Verdict

LOOKED_AT = 3
"""Passages of each other source that are held against a sentence: its best ones."""
_NO_SITE = frozenset({"snippet", "computed"})
"""What came so is no word of a site that was read."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """What an answer is worth; `sources` are its sources and those that say otherwise.

    `confidence` is None where no calibrated number can be given.
    """

    confidence: float | None
    parts: ConfidenceParts
    sources: tuple[ReportSource, ...]
    conflicts: tuple[Conflict, ...]


def weigh(
    checked: CheckedAnswer,
    evidence: Evidence,
    question: str,
    *,
    answers: Answers | None = None,
    fit: Fit | None = None,
) -> Weighed:
    """Hold the supported sentences of an answer against the pages that they do not cite.

    `answers` is a judge's word on whether the question is answered; `fit` how well its sentence
    fits the question, where rules chose it. Sources that say otherwise are numbered after those
    that the answer cites.
    """
    claims = [sentence for sentence in checked.sentences if not sentence.about_search]
    sources = {(source.url, source.sha256): source for source in checked.sources}
    known = (*evidence.sources, *evidence.snippets)
    cited = [source for source in known if (source.url, source.sha256) in sources]
    read = [source for source in checked.sources if source.via not in _NO_SITE]
    sites = {site_of(source.url) for source in read or checked.sources}
    conflicts: list[Conflict] = []
    agreement: list[float] = []
    for sentence in claims:
        if sentence.verdict is not VerdictState.SUPPORTED:
            continue
        carrying = [s for s in cited if sources[s.url, s.sha256].n in sentence.citations]
        agreeing, against = {site_of(source.url) for source in carrying}, set[str]()
        for source, verdict in witnesses(sentence.text, evidence, {s.n for s in carrying}):
            agrees = verdict.state is VerdictState.SUPPORTED
            (agreeing if agrees else against).add(site_of(source.url))
            if agrees or any(
                (c.quote, c.text) == (sentence.text, verdict.quote) for c in conflicts
            ):
                continue  # or the answer says what both sides do
            added = report_source(len(sources) + 1, source, [verdict.quote])
            conflicts.append(
                Conflict(
                    text=sentence.text,
                    citations=sentence.citations,
                    source=sources.setdefault((source.url, source.sha256), added).n,
                    quote=verdict.quote,
                    reason=verdict.reason,
                )
            )
        sites |= agreeing
        both = len(agreeing & against)  # a site may say both
        agreement.append((len(agreeing) - both / 2) / len(agreeing | against))
    worth = [ONLY_A_RESULT if claim.weak else WORTH[claim.verdict] for claim in claims]
    parts = ConfidenceParts(
        supported=round(sum(worth) / (len(claims) or 1), 3),
        sites=len(sites),
        agreement=round(sum(agreement) / len(agreement) if agreement else 1.0, 3),
        coverage=round(_coverage(question, cited, checked), 3),
        freshness=_freshness(cited),
        answers=answers,
        fit=fit,
    )
    confidence = rate(parts, claims, checked.sources)
    return Weighed(confidence, parts, tuple(sources.values()), tuple(conflicts))


def site_of(url: str) -> str:
    """Name the site of a URL: pages of one site are not independent, nor are files of one's own."""
    return registrable_domain(host(url)) or url.partition(":")[0]


def witnesses(
    sentence: str, evidence: Evidence, carried_by: Collection[int]
) -> Iterator[tuple[Source, Verdict]]:
    """Ask every other page that was read what it says of a sentence which `carried_by` carry.

    Gives those that say the same, or otherwise. Search results are not asked: they are cut from
    their context. Neither are earlier states of a page.
    """
    latest = {source.url: source.n for source in evidence.sources}
    for source in evidence.sources:
        if source.n in carried_by or latest[source.url] != source.n:
            continue
        passages = tuple(evidence.search(sentence, LOOKED_AT, source.n))
        ground = ground_of(passages, ((source.n, source.title),))
        verdict = check_claim(sentence, ground)
        if is_literal(verdict) or verdict.state is VerdictState.CONTRADICTED:
            yield source, verdict


def _coverage(question: str, cited: Iterable[Source], checked: CheckedAnswer) -> float:
    """Share of what is asked that claims, quotes or the titles and headings above speak of."""
    quotes = {(s.url, s.sha256): s.quotes for s in checked.sources}
    there = [s.text for s in checked.sentences if s.verdict is VerdictState.SUPPORTED]
    for source in cited:
        quoted = quotes[source.url, source.sha256]
        there += source.title, *quoted
        there += (p.heading for p in source.passages if any(quote in p.text for quote in quoted))
    wanted = frozenset(content_words(question))
    return len(wanted & frozenset(content_words(" ".join(there)))) / len(wanted) if wanted else 1.0


def _freshness(cited: Iterable[Source]) -> int | None:
    """Age in days of the newest dated source when it was read; None where none has a date."""
    ages: list[int] = []
    for source in cited:
        try:
            published = date.fromisoformat((source.published or "")[:10])
        except ValueError:
            continue
        ages.append((source.fetched_at.date() - published).days)
    return max(0, min(ages)) if ages else None


WORTH = {
    VerdictState.SUPPORTED: 1.0,
    VerdictState.UNDECIDED: 0.5,
    VerdictState.UNCITED: 0.3,
    VerdictState.CONTRADICTED: 0.0,
}
"""What a sentence is worth by its verdict: of one that is open nothing is known."""
ONLY_A_RESULT = 0.7
"""What a sentence is worth that search results alone carry: their words are cut from their context
and may be stale."""
ANSWERED = {"fully": 0.92, "in part": 0.5, "no": 0.1}
"""How often an answer is right of which a judge says so much, less than it was on record: 51 of 53,
1 of 3 and 0 of 4 of 60 recorded answers to 20 questions over two pages. Brier .054 there, a
constant .119; fitted anew on 19 questions and tried on the twentieth, .058."""
EACH_FURTHER_SITE = 0.5
"""Each further independent site halves what is missing from 1."""
WITH_CONTRADICTION = 0.35
"""Cap on an answer with a sentence of which a source says the contrary."""

FITTING = (-0.85, 1.7)
"""Logistic coefficients for a sentence that rules chose: constant, and the share of the question
that it says itself times its margin over the next sentence. Fitted on 112 answers over 27 manuals,
READMEs, licences and articles and 194 over two closed webs. Fitted on the webs alone and tried on
the documents, 52 of the 55 answers from .7 on are right, and 22 of the 57 below; the other way 106
of 119 and 33 of 75. Brier .153 and .145, of a constant .224 and .203. By the share of the question
that is spoken of anywhere, which it was, 56 of 86 were right. Whether a figure, date or name stands
there where one is asked for, the heading, and a bridge to another page added nothing."""


def rate(
    parts: ConfidenceParts, sentences: Sequence[Sentence], sources: Sequence[ReportSource]
) -> float | None:
    """Rate an answer from 0 to 1 by its parts; None where nothing calibrated can be said.

    That is an answer of which no judge has spoken: that its sentences stand on the pages literally
    is no evidence that they answer the question. `sentences` are its claims.
    """
    if not sentences or not sources:
        return 0.0
    if parts.fit is not None:
        return round(parts.agreement * fitting(feature(parts.fit), FITTING), 2)
    contradicted = any(sentence.verdict is VerdictState.CONTRADICTED for sentence in sentences)
    if parts.answers is None and not contradicted:
        return None
    value = ANSWERED[parts.answers] if parts.answers else WITH_CONTRADICTION
    if parts.answers != "no":
        value = 1 - (1 - value) * EACH_FURTHER_SITE ** max(0, parts.sites - 1)
    value *= parts.supported * parts.agreement
    return round(min(value, WITH_CONTRADICTION) if contradicted else value, 2)


def feature(fit: Fit) -> float:
    """Give what the confidence in a sentence that rules chose is reckoned from."""
    return 0.0 if fit.open else fit.own * fit.margin


def fitting(value: float, coefficients: tuple[float, float]) -> float:
    """Reckon the logistic curve: constant and weight."""
    constant, weight = coefficients
    return 1 / (1 + math.exp(-(constant + weight * value)))
