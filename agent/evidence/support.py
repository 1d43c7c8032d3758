"""What carries one sentence of an answer: the passages it cites, or those it should have cited."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.evidence.fragments import for_a_reader, in_full
from agent.evidence.quotes import nearest_quote
from agent.evidence.verify import verify_claim
from agent.types import Verdict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.evidence.markers import Marker, Reference
    from agent.evidence.store import Evidence
    from agent.evidence.verify import Judge
    from agent.types import Passage

WHOLE_SOURCE = 12
"""Passages looked at where a whole source is cited: its best ones for this sentence."""

FEWEST_WORDS = 4
"""A sentence without a marker is looked up word for word from this length on."""


@dataclass(frozen=True, slots=True)
class Support:
    """A sentence's verdict, the sources it cites (run numbers), and (source, quote) pairs."""

    verdict: Verdict
    cited: tuple[int, ...] = ()
    quotes: tuple[tuple[int, str], ...] = ()


class SupportFinder:
    """Checks sentences against the evidence of a run."""

    def __init__(self, evidence: Evidence, judge: Judge | None = None) -> None:
        self._evidence = evidence
        self._judge = judge

    def find(self, sentence: str, markers: Sequence[Marker]) -> Support:
        """Check a sentence against what its markers name, or look for what carries it."""
        references = _references(markers)
        if not references:
            return self._uncited(sentence, _unknown(markers))
        passages = self._passages(sentence, references)
        verdict = self._verify(sentence, passages, references)
        cited = tuple(dict.fromkeys(reference.source for reference in references))
        quotes = self._quotes(sentence, passages, verdict)
        return Support(_with_note(verdict, _unknown(markers)), cited, tuple(quotes))

    def _verify(
        self, sentence: str, passages: Sequence[Passage], references: Iterable[Reference]
    ) -> Verdict:
        """Verify against the cited passages, then against the rest of the cited sources."""
        claim = in_full(sentence, self._evidence.question)
        verdict = verify_claim(claim, passages)
        if verdict.state is VerdictState.SUPPORTED:
            return verdict
        for source in dict.fromkeys(reference.source for reference in references):
            elsewhere = verify_claim(claim, self._best(sentence, source))
            if elsewhere.state is VerdictState.SUPPORTED:
                return replace(elsewhere, reason=f"{elsewhere.reason} ({elsewhere.passage})")
        return verify_claim(
            claim, passages, self._asked_as(for_a_reader(sentence, self._evidence.question))
        )

    def _asked_as(self, claim: str) -> Judge | None:
        """Give the judge a claim that can be understood without the answer around it."""
        judge = self._judge
        return (lambda _, passages: judge(claim, passages)) if judge else None

    def _uncited(self, sentence: str, unknown: Sequence[str]) -> Support:
        """Look for a read passage that carries a sentence without a marker word for word."""
        if len(sentence.split()) >= FEWEST_WORDS:
            verdict = verify_claim(sentence, self._best(sentence, None))
            if verdict.state is VerdictState.SUPPORTED:
                source = self._source_of(verdict)
                verdict = replace(verdict, reason=f"{verdict.reason}; cited in code")
                noted = _with_note(verdict, unknown)
                return Support(noted, (source,), ((source, verdict.quote),))
        uncited = Verdict(VerdictState.UNCITED, reason="" if unknown else "cites nothing")
        return Support(_with_note(uncited, unknown))

    def _best(self, sentence: str, source: int | None) -> list[Passage]:
        found = self._evidence.search(sentence, WHOLE_SOURCE, source)
        whole = self._evidence.source(source) if source else None
        return found or list(whole.passages[:WHOLE_SOURCE] if whole else ())

    def _passages(self, sentence: str, references: Iterable[Reference]) -> list[Passage]:
        found: dict[str, Passage] = {}
        for source, number in references:
            known = self._evidence.source(source)
            if number is not None and known is not None:
                passage = known.passages[number - 1]
                found.setdefault(passage.id, passage)
            else:
                found.update((p.id, p) for p in self._best(sentence, source))
        return sorted(found.values(), key=lambda p: (p.source, p.start))

    def _quotes(
        self, sentence: str, passages: Sequence[Passage], verdict: Verdict
    ) -> Iterable[tuple[int, str]]:
        """Give each cited source a literal quote: the verdict's, or the nearest sentence."""
        own = self._source_of(verdict) if verdict.quote else 0
        if own:
            yield own, verdict.quote
        for source in dict.fromkeys(passage.source for passage in passages):
            if source == own:
                continue
            quote = nearest_quote(sentence, [p for p in passages if p.source == source])
            if quote:
                yield source, quote

    def _source_of(self, verdict: Verdict) -> int:
        passage = self._evidence.passage(verdict.passage or "")
        return passage.source if passage else 0


def _references(markers: Sequence[Marker]) -> list[Reference]:
    """Collect what is named; beside passage markers, `[12]` is a footnote mark of the page."""
    exact = [m for m in markers if not m.numeric and m.references]
    used = exact or markers
    return list(dict.fromkeys(reference for m in used for reference in m.references))


def _unknown(markers: Sequence[Marker]) -> list[str]:
    return list(dict.fromkeys(name for m in markers for name in m.unknown))


def _with_note(verdict: Verdict, unknown: Sequence[str]) -> Verdict:
    if not unknown:
        return verdict
    note = f"cites {', '.join(unknown)}, which was not read"
    return replace(verdict, reason=f"{verdict.reason}; {note}" if verdict.reason else note)
