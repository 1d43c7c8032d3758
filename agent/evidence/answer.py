"""From what a model answered to numbered, checked sentences with literal quotes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.evidence.layout import Unit, units
from agent.evidence.markers import MarkerReader
from agent.evidence.support import Support, SupportFinder
from agent.types import ReportSource, Sentence
from browser.text import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.evidence.markers import Marker, Unmarked
    from agent.evidence.store import Evidence, Source
    from agent.evidence.verify import Judge


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer as the report shows it: Markdown with `[1]` markers that are sources' numbers."""

    answer: str
    sentences: tuple[Sentence, ...]
    sources: tuple[ReportSource, ...]


def check_answer(answer: str, evidence: Evidence, judge: Judge | None = None) -> CheckedAnswer:
    """Read an answer's markers, check each sentence against what it cites, and number the sources.

    Sources are numbered in the order of their first citation. Markers of passages that were not
    read are dropped, and the sentence's reason says so. A sentence without a marker gets the
    citation of a read passage that carries it word for word.
    """
    return _AnswerCheck(evidence, judge).run(answer)


class _AnswerCheck:
    def __init__(self, evidence: Evidence, judge: Judge | None) -> None:
        self._evidence = evidence
        self._reader = MarkerReader(evidence)
        self._finder = SupportFinder(evidence, judge)
        self._sentences: list[Sentence] = []
        self._quotes: dict[int, list[str]] = {}
        self._same: dict[tuple[str, str], int] = {}

    def run(self, answer: str) -> CheckedAnswer:
        body = self._reader.take_footnotes(answer)
        text = "".join(self._unit(unit) for unit in units(body)).strip()
        return CheckedAnswer(text, tuple(self._sentences), tuple(self._report_sources()))

    def _unit(self, unit: Unit) -> str:
        if unit.kind == "verbatim":
            return unit.text
        unmarked = self._reader.unmark(unit.text)
        if unit.kind == "row":
            text = self._row(unmarked, claims=unit.claims)
        else:
            text = self._prose(unmarked, claims=unit.claims)
        return unit.prefix + text + unit.suffix

    def _row(self, row: Unmarked, *, claims: bool) -> str:
        numbers = self._checked(row.text.strip(), row.markers, claims=claims)
        if not numbers:
            return row.text
        body = row.text.rstrip().removesuffix("|").rstrip()
        return f"{body} {_marks(numbers)} |"

    def _prose(self, prose: Unmarked, *, claims: bool) -> str:
        text, done = "", 0
        spans = sentences(prose.text)
        if not spans:
            return prose.text
        edges = [span.start for span in spans[1:]] + [len(prose.text) + 1]
        markers = list(prose.markers)
        for span, edge in zip(spans, edges, strict=True):
            own = [m for m in markers if m.offset < edge]
            markers = markers[len(own) :]
            sentence = prose.text[span.start : span.end]
            numbers = self._checked(sentence, own, claims=claims)
            text += prose.text[done : span.start] + _with_marks(sentence, numbers)
            done = span.end
        return text + prose.text[done:]

    def _checked(self, text: str, markers: Sequence[Marker], *, claims: bool) -> list[int]:
        """Check one sentence; give the report numbers of the sources that it cites."""
        if not (claims or markers):
            return []
        support = self._finder.find(text, markers)
        if not claims and not support.cited:
            return []
        numbers = list(dict.fromkeys(self._number(self._one(n)) for n in support.cited))
        for n, quote in support.quotes:
            source = self._one(n)
            if quote not in self._quotes[source]:
                self._quotes[source].append(quote)
        if claims:
            self._sentences.append(_sentence(text, numbers, support))
        return numbers

    def _number(self, source: int) -> int:
        """Give a source's number in the report: the order of first citation."""
        self._quotes.setdefault(source, [])
        return list(self._quotes).index(source) + 1

    def _one(self, n: int) -> int:
        """Give the first cited of the sources that are the same text of the same page."""
        source = self._evidence.source(n)
        return self._same.setdefault((source.url, source.sha256), n) if source else n

    def _report_sources(self) -> list[ReportSource]:
        cited = [(self._evidence.source(n), quotes) for n, quotes in self._quotes.items()]
        return [
            report_source(number, source, quotes)
            for number, (source, quotes) in enumerate(cited, 1)
            if source is not None
        ]


def report_source(number: int, source: Source, quotes: list[str]) -> ReportSource:
    """Write a source as the report shows it, under its number there."""
    return ReportSource(
        n=number,
        url=source.url,
        title=source.title,
        fetched_at=source.fetched_at.isoformat(),
        sha256=source.sha256,
        via=source.via,
        quotes=quotes,
    )


def _sentence(text: str, numbers: list[int], support: Support) -> Sentence:
    return Sentence(
        text=text,
        citations=numbers,
        verdict=support.verdict.state,
        decided_by=support.verdict.decided_by,
        reason=support.verdict.reason,
        weak=support.weak,
    )


def _with_marks(sentence: str, numbers: Sequence[int]) -> str:
    return f"{sentence} {_marks(numbers)}" if numbers else sentence


def _marks(numbers: Sequence[int]) -> str:
    return "".join(f"[{number}]" for number in sorted(numbers))
