"""An answer weighed against all that was read: who agrees, who says otherwise, how far to trust."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from agent.evidence.answer import report_source
from agent.evidence.claims.alignment import forms_on_page
from agent.evidence.claims.question import ASKING
from agent.evidence.confidence import rate, share_supported, site_of
from agent.evidence.language.normalise import tokenise, words_of
from agent.evidence.language.statements import Ground, content_of
from agent.evidence.witnesses import witnesses
from agent.types import ConfidenceParts, Conflict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.evidence.answer import CheckedAnswer
    from agent.evidence.store import Evidence, Source
    from agent.evidence.witnesses import Witness
    from agent.types import ReportSource, Sentence


@dataclass(frozen=True, slots=True)
class Weighed:
    """What an answer is worth; `sources` are its sources and those that say otherwise."""

    confidence: float
    parts: ConfidenceParts
    sources: tuple[ReportSource, ...]
    conflicts: tuple[Conflict, ...]


def weigh(checked: CheckedAnswer, evidence: Evidence, question: str) -> Weighed:
    """Hold the carried sentences of an answer against the pages that they do not cite.

    Sources that say otherwise are numbered after those that the answer cites.
    """
    return _Weighing(checked, evidence).run(question)


class _Weighing:
    def __init__(self, checked: CheckedAnswer, evidence: Evidence) -> None:
        self._checked = checked
        self._evidence = evidence
        self._numbers = {(s.url, s.sha256): s.n for s in checked.sources}
        self._added: list[ReportSource] = []
        self._conflicts: list[Conflict] = []
        read = [source for source in checked.sources if source.via != "snippet"]
        self._sites = {site_of(source.url) for source in read or checked.sources}
        self._agreement: list[float] = []

    def run(self, question: str) -> Weighed:
        for sentence in self._checked.sentences:
            if sentence.verdict is VerdictState.SUPPORTED:
                self._hold(sentence)
        parts = ConfidenceParts(
            supported=round(share_supported(self._checked.sentences), 3),
            sites=len(self._sites),
            agreement=round(_mean(self._agreement), 3),
            coverage=round(_coverage(question, self._cited(), self._checked), 3),
            freshness=_freshness(self._cited()),
        )
        rating = rate(parts, self._checked.sentences, self._checked.sources)
        sources = (*self._checked.sources, *self._added)
        return Weighed(rating, parts, sources, tuple(self._conflicts))

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
    """Share of what is asked that is spoken of: in quotes, their pages' titles, what they carry."""
    quotes = [quote for source in checked.sources for quote in source.quotes]
    carried = [s.text for s in checked.sentences if s.verdict is VerdictState.SUPPORTED]
    ground = Ground([*quotes, *carried, *(source.title for source in cited if source.title)])
    wanted = set(content_of(words_of(tokenise(question)))) - ASKING
    met = sum(bool(forms_on_page(root, ground)) for root in wanted)
    return met / len(wanted) if wanted else 1.0


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


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 1.0
