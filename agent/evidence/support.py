"""What carries one sentence of an answer: the passages it cites, or those it should have cited."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.evidence.fragments import for_a_reader, in_full
from agent.evidence.markers import Reference
from agent.evidence.passages import passage_id
from agent.evidence.quotes import nearest_quote
from agent.evidence.verify import verify_claim
from agent.types import Verdict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.evidence.markers import Marker
    from agent.evidence.store import Evidence
    from agent.evidence.verify import Judge
    from agent.types import Passage

WHOLE_SOURCE = 12
"""Passages looked at where a whole source is cited: its best ones for this sentence."""

FEWEST_WORDS = 4
"""A sentence without a marker is looked up word for word from this length on."""

ONLY_A_RESULT = "only a search result says so,"
_NOT_READ = "its page was not read"
_READ = "its page, which was read, does not clearly"


@dataclass(frozen=True, slots=True)
class Support:
    """A sentence's verdict, the sources it cites (run numbers), and (source, quote) pairs.

    `weak` says that search results alone carry it.
    """

    verdict: Verdict
    cited: tuple[int, ...] = ()
    quotes: tuple[tuple[int, str], ...] = ()
    weak: bool = False


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
        on_pages = self._on_pages(sentence, references)
        found = on_pages or self._marked(self._support(sentence, references, self._judge))
        return replace(found, verdict=_with_note(found.verdict, _unknown(markers)))

    def _support(
        self, sentence: str, references: Sequence[Reference], judge: Judge | None
    ) -> Support:
        """Check a sentence against what is named."""
        passages = self._passages(sentence, references)
        verdict = self._verify(sentence, passages, references, judge)
        cited = tuple(dict.fromkeys(reference.source for reference in references))
        return Support(verdict, cited, tuple(self._quotes(sentence, passages, verdict, references)))

    def _on_pages(self, sentence: str, references: Sequence[Reference]) -> Support | None:
        """Where search results are named, rest on pages that were read, if they carry it in code.

        Those are the pages that are named too, those that the results are about, or any other.
        """
        sources = (self._evidence.source(reference.source) for reference in references)
        results = {s.n: s for s in sources if s is not None and s.via == "snippet"}
        if not results:
            return None
        named = [reference for reference in references if reference.source not in results]
        read = (self._evidence.page_of(result) for result in results.values())
        pages = [*named, *(Reference(page.n) for page in read if page is not None)]
        if pages:
            found = self._support(sentence, list(dict.fromkeys(pages)), None)
            if found.verdict.state is VerdictState.SUPPORTED:
                return found
        return self._anywhere(sentence)

    def _marked(self, found: Support) -> Support:
        """Say of a sentence that only a search result carries it, where that is so."""
        if found.verdict.state is not VerdictState.SUPPORTED:
            return found
        carrying = self._source_of(found.verdict)
        sources = (self._evidence.source(n) for n in ([carrying] if carrying else found.cited))
        results = [source for source in sources if source is not None and source.via == "snippet"]
        if not results:
            return found
        read = any(self._evidence.page_of(result) for result in results)
        reason = f"{ONLY_A_RESULT} {_READ if read else _NOT_READ}"
        return replace(found, verdict=replace(found.verdict, reason=reason), weak=True)

    def _verify(
        self,
        sentence: str,
        passages: Sequence[Passage],
        references: Sequence[Reference],
        judge: Judge | None,
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
        asked = _asked_as(for_a_reader(sentence, self._evidence.question), judge)
        if verdict.state is VerdictState.CONTRADICTED:
            # What the cited passage does not have may stand beside it on its page.
            wider = self._with_the_best(sentence, passages, references)
            if verify_claim(claim, wider).state is not VerdictState.CONTRADICTED:
                return verify_claim(claim, wider, asked)
        return verify_claim(claim, passages, asked)

    def _with_the_best(
        self, sentence: str, passages: Sequence[Passage], references: Sequence[Reference]
    ) -> list[Passage]:
        """Give cited passages with those of their sources that fit best, in reading order."""
        sources = dict.fromkeys(reference.source for reference in references)
        best = (passage for source in sources for passage in self._best(sentence, source))
        found = {passage.id: passage for passage in (*passages, *best)}
        return sorted(found.values(), key=lambda p: (p.source, p.start))

    def _uncited(self, sentence: str, unknown: Sequence[str]) -> Support:
        uncited = Verdict(VerdictState.UNCITED, reason="" if unknown else "cites nothing")
        found = self._anywhere(sentence) or Support(uncited)
        return replace(found, verdict=_with_note(found.verdict, unknown))

    def _anywhere(self, sentence: str) -> Support | None:
        """Look for a read passage that carries a sentence word for word."""
        if len(sentence.split()) < FEWEST_WORDS:
            return None
        verdict = verify_claim(sentence, self._best(sentence, None))
        if verdict.state is not VerdictState.SUPPORTED:
            return None
        source = self._source_of(verdict)
        cited = replace(verdict, reason=f"{verdict.reason}; cited in code")
        return Support(cited, (source,), ((source, verdict.quote),))

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
        self,
        sentence: str,
        passages: Sequence[Passage],
        verdict: Verdict,
        references: Sequence[Reference],
    ) -> Iterable[tuple[int, str]]:
        """Give literal quotes: the verdict's, and the nearest sentence of what else is named."""
        own = self._source_of(verdict) if verdict.quote else 0
        if own:
            yield own, verdict.quote
        for source, number in references:
            named = [p for p in passages if p.source == source]
            if number is not None:
                named = [p for p in named if p.id == passage_id(source, number)]
            carried = own and any(passage.id == verdict.passage for passage in named)
            if not carried and (quote := nearest_quote(sentence, named)):
                yield source, quote

    def _source_of(self, verdict: Verdict) -> int:
        passage = self._evidence.passage(verdict.passage or "")
        return passage.source if passage else 0


def _asked_as(claim: str, judge: Judge | None) -> Judge | None:
    """Give the judge a claim that can be understood without the answer around it."""
    return (lambda _, passages: judge(claim, passages)) if judge else None


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
