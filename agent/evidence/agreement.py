"""An answer held against all that was read: who agrees, who does not, how likely it is right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from agent.evidence.answer import report_source
from agent.evidence.facts import Known, facts_of
from agent.evidence.verify import check_claim, ground_of, is_literal, one_value_wrong
from agent.types import ConfidenceParts, Conflict, VerdictState
from browser.net.url import host, registrable_domain
from browser.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from agent.evidence.answer import CheckedAnswer
    from agent.evidence.literal import Ground
    from agent.evidence.store import Evidence, Source
    from agent.types import Answers, Fit, ReportSource, Sentence

LOOKED_AT = 3
"""Passages of each other source that are held against a sentence: its best ones."""
_NO_SITE = frozenset({"snippet", "computed"})
"""What came so is no word of a site that was read."""
SAME_MATTER = 0.6
"""Share of a sentence's words in a sentence of another page that has all its values too: it says
the same."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """What an answer is worth; `sources` are its sources and those that say otherwise.

    `confidence` is None where no calibrated number can be given.
    """

    confidence: float | None
    parts: ConfidenceParts
    sources: tuple[ReportSource, ...]
    conflicts: tuple[Conflict, ...]


class Witness(NamedTuple):
    """A source that was read and speaks of a sentence: whether it agrees, and in what words."""

    source: Source
    agrees: bool
    quote: str
    reason: str = ""


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
    return _Weighing(checked, evidence).run(question, answers, fit)


def site_of(url: str) -> str:
    """Name the site of a URL: pages of one site are not independent, nor are files of one's own."""
    return registrable_domain(host(url)) or url.partition(":")[0]


def witnesses(sentence: str, evidence: Evidence, carried_by: Collection[int]) -> Iterator[Witness]:
    """Ask every other page that was read what it says of a sentence which `carried_by` carry.

    Search results are not asked: they are cut from their context. Neither are earlier states of a
    page.
    """
    latest = {source.url: source.n for source in evidence.sources}
    for source in evidence.sources:
        if source.n in carried_by or latest[source.url] != source.n:
            continue
        passages = tuple(evidence.search(sentence, LOOKED_AT, source.n))
        ground = ground_of(passages, ((source.n, source.title),))
        quote = _said(sentence, ground)
        against = None if quote else one_value_wrong(sentence, ground)
        if quote or against:
            said = quote or (against.quote if against else "")
            yield Witness(source, bool(quote), said, against.reason if against else "")


def _said(sentence: str, ground: Ground) -> str:
    """Quote the statement that says the same: literally, or with its values and most words."""
    verdict = check_claim(sentence, ground)
    if is_literal(verdict):
        return verdict.quote
    facts, wanted = facts_of(sentence), frozenset(content_words(sentence))
    if not (facts.figures or facts.dates or facts.names):
        return ""
    for statement, stems in zip(ground.statements, ground.stems, strict=True):
        if len(wanted & stems) >= SAME_MATTER * len(wanted):
            topics = " ".join(" ".join(topic) for topic in ground.topics(statement.passage))
            if not Known([statement.quote, topics]).missing(facts):
                return statement.quote.strip()
    return ""


class _Weighing:
    def __init__(self, checked: CheckedAnswer, evidence: Evidence) -> None:
        self._checked = checked
        self._evidence = evidence
        self._numbers = {(s.url, s.sha256): s.n for s in checked.sources}
        self._added: list[ReportSource] = []
        self._conflicts: list[Conflict] = []
        read = [source for source in checked.sources if source.via not in _NO_SITE]
        self._sites = {site_of(source.url) for source in read or checked.sources}
        self._agreement: list[float] = []

    def run(self, question: str, answers: Answers | None, fit: Fit | None) -> Weighed:
        claims = [s for s in self._checked.sentences if not s.about_search]
        for sentence in claims:
            if sentence.verdict is VerdictState.SUPPORTED:
                self._hold(sentence)
        agreement = sum(self._agreement) / len(self._agreement) if self._agreement else 1.0
        parts = ConfidenceParts(
            supported=round(share_supported(claims), 3),
            sites=len(self._sites),
            agreement=round(agreement, 3),
            coverage=round(_coverage(question, self._cited(), self._checked), 3),
            freshness=_freshness(self._cited()),
            answers=answers,
            fit=fit,
        )
        confidence = rate(parts, claims, self._checked.sources)
        sources = (*self._checked.sources, *self._added)
        return Weighed(confidence, parts, sources, tuple(self._conflicts))

    def _hold(self, sentence: Sentence) -> None:
        """Hold one sentence against the pages that it does not cite; a site may say both."""
        carrying = [s for s in self._cited() if self._number(s) in sentence.citations]
        agreeing = {site_of(source.url) for source in carrying}
        against: set[str] = set()
        for witness in witnesses(sentence.text, self._evidence, {s.n for s in carrying}):
            site = site_of(witness.source.url)
            (agreeing if witness.agrees else against).add(site)
            if not witness.agrees:
                self._conflict(sentence, witness)
        self._sites |= agreeing
        both = len(agreeing & against)
        self._agreement.append((len(agreeing) - both / 2) / len(agreeing | against))

    def _conflict(self, sentence: Sentence, witness: Witness) -> None:
        """Note a conflict, once where the answer says what both sides do."""
        if any((c.quote, c.text) == (sentence.text, witness.quote) for c in self._conflicts):
            return
        number = self._number(witness.source) or self._add(witness)
        self._conflicts.append(
            Conflict(
                text=sentence.text,
                citations=sentence.citations,
                source=number,
                quote=witness.quote,
                reason=witness.reason,
            )
        )

    def _add(self, witness: Witness) -> int:
        """Number a source that the answer does not cite after those that it does."""
        source = witness.source
        number = len(self._checked.sources) + len(self._added) + 1
        self._added.append(report_source(number, source, [witness.quote]))
        self._numbers[source.url, source.sha256] = number
        return number

    def _number(self, source: Source) -> int:
        return self._numbers.get((source.url, source.sha256), 0)

    def _cited(self) -> list[Source]:
        cited = {(s.url, s.sha256) for s in self._checked.sources}
        known = (*self._evidence.sources, *self._evidence.snippets)
        return [s for s in known if (s.url, s.sha256) in cited]


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
    ages = [
        (source.fetched_at.date() - published).days
        for source in cited
        if (published := _day(source.published)) is not None
    ]
    return max(0, min(ages)) if ages else None


def _day(published: str | None) -> date | None:
    try:
        return date.fromisoformat((published or "")[:10])
    except ValueError:
        return None


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
    parts: ConfidenceParts,
    sentences: Sequence[Sentence],
    sources: Sequence[ReportSource],
) -> float | None:
    """Rate an answer from 0 to 1 by its parts; None where nothing calibrated can be said.

    That is an answer of which no judge has spoken: that its sentences stand on the pages literally
    is no evidence that they answer the question. `sentences` are its claims.
    """
    if not sentences or not sources:
        return 0.0
    if parts.fit is not None:
        return round(parts.agreement * fitting(features(parts.fit), FITTING), 2)
    if parts.answers is not None:
        value = ANSWERED[parts.answers]
    elif any(sentence.verdict is VerdictState.CONTRADICTED for sentence in sentences):
        value = WITH_CONTRADICTION
    else:
        return None
    if parts.answers != "no":
        value = 1 - (1 - value) * EACH_FURTHER_SITE ** max(0, parts.sites - 1)
    value *= parts.supported * parts.agreement
    if any(sentence.verdict is VerdictState.CONTRADICTED for sentence in sentences):
        value = min(value, WITH_CONTRADICTION)
    return round(value, 2)


def features(fit: Fit) -> tuple[float, ...]:
    """Give what the confidence in a sentence that rules chose is reckoned from."""
    return (0.0 if fit.open else fit.own * fit.margin,)


def fitting(values: Sequence[float], coefficients: Sequence[float]) -> float:
    """Reckon the logistic curve; the first coefficient is the constant."""
    constant, *weights = coefficients
    score = constant + sum(w * value for w, value in zip(weights, values, strict=True))
    return 1 / (1 + math.exp(-score))


def share_supported(sentences: Sequence[Sentence]) -> float:
    """Share of the claims that are carried; what is half certain counts half."""
    worth = [ONLY_A_RESULT if one.weak else WORTH[one.verdict] for one in sentences]
    return sum(worth) / (len(sentences) or 1)
