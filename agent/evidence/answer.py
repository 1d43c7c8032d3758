"""From what a model answered to numbered, checked sentences with literal quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.evidence.literal import is_fragment
from agent.evidence.markers import CitedId, MarkerReader, units
from agent.evidence.passages import cells_of, nearest_quote, passage_id
from agent.evidence.tokens import denies, keys_of
from agent.evidence.verify import check_claim, ground_of, is_literal, judged, not_found
from agent.types import ReportSource, Sentence, Verdict, VerdictState
from browser.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.evidence.literal import Ground
    from agent.evidence.markers import AnswerPart, Marker
    from agent.evidence.store import Evidence, Source
    from agent.evidence.verify import Judge
    from agent.types import Passage

WHOLE_SOURCE = 12
"""Passages looked at where a whole source is cited: its best ones for this sentence."""
UNCITED_LOOKED_AT = 4
"""Passages that a judge is shown for a sentence without a citation: the best of all."""

_NOTHING = "cites nothing"
_WEAK = "only a search result says so,"
_NOT_READ = f"{_WEAK} its page was not read"
_READ = f"{_WEAK} its page, which was read, does not say it in these words"

_ORIGIN = re.compile(r"^- “(.*)” in S(\d+)¶(\d+), ", re.MULTILINE)
"""A line of what was computed that names a figure and its passage."""

# Sentences about the search itself, in English alone: in other languages they are claims.
_SEARCHERS = frozenset("i we search searches nothing none".split())
_FINDING = frozenset(
    """find found locate located see seen determine determined verify verified confirm confirmed
    turned""".split()
)
_SOURCES = frozenset("source sources page pages passage passages results none".split())
_SAYING = frozenset(
    """say says state states mention mentions give gives list lists specify specifies contain
    contains""".split()
)
_SUBJECT = 6
"""Words among which a sentence about the search names its subject."""


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer as the report shows it: Markdown with `[1]` markers that are sources' numbers.

    `carried` are the supported sentences as a model would write them, with the ids of passages;
    `unread` the ids that a marker names and nobody read, with the sentence.
    """

    answer: str
    sentences: tuple[Sentence, ...]
    sources: tuple[ReportSource, ...]
    carried: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()


def check_answer(answer: str, evidence: Evidence, judge: Judge | None = None) -> CheckedAnswer:
    """Read an answer's markers, check each sentence against what it cites, and number the sources.

    Sources are numbered in the order of their first citation. Markers of passages that were not
    read are dropped, and the sentence's reason says so. A sentence without a marker gets the
    citation of a read passage that carries it word for word.
    """
    return _AnswerCheck(evidence, judge).run(answer)


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


def is_about_search(sentence: str) -> bool:
    """Tell whether a sentence says what the search did not find, and nothing of the world.

    Asked of sentences that cite nothing in the answer to a question: what cites is a claim.
    English alone: `I found no figure for 2023.`, `The sources do not say who built it.`
    """
    keys = keys_of(sentence)
    opening, every = frozenset(keys[:_SUBJECT]), frozenset(keys)
    first = next((n for n, key in enumerate(keys[:_SUBJECT]) if key in _SEARCHERS), len(keys))
    found = not _FINDING.isdisjoint(keys[first:])
    told = opening & _SOURCES and every & _SAYING
    return bool(found or told) and any(map(denies, keys))


class _AnswerCheck:
    """Rewrites one answer, and collects what its report needs; sources by their run numbers."""

    def __init__(self, evidence: Evidence, judge: Judge | None) -> None:
        self._evidence = evidence
        self._reader = MarkerReader(evidence)
        self._finder = SupportFinder(evidence, judge)
        self._sentences: list[Sentence] = []
        self._carried: list[str] = []
        self._unread: list[tuple[str, str]] = []
        self._quotes: dict[int, list[str]] = {}
        self._same: dict[tuple[str, str], int] = {}

    def run(self, answer: str) -> CheckedAnswer:
        body = self._reader.take_footnotes(answer)
        text = "".join(unit.prefix + self._text(unit) + unit.suffix for unit in units(body))
        sources = ((self._evidence.source(n), quotes) for n, quotes in self._quotes.items())
        numbered = [
            report_source(number, source, quotes)
            for number, (source, quotes) in enumerate(sources, 1)
            if source is not None
        ]
        return CheckedAnswer(
            text.strip(),
            tuple(self._sentences),
            tuple(numbered),
            tuple(self._carried),
            tuple(self._unread),
        )

    def _text(self, unit: AnswerPart) -> str:
        """Check the sentences of a unit, and write it with the numbers of their sources."""
        if unit.kind == "verbatim":
            return unit.text
        plain, markers = self._reader.unmark(unit.text)
        if unit.kind == "row":
            row = plain.strip()
            marks = self._checked(row, markers, unit, _row_claim(row, unit.head))
            return f"{plain.rstrip().removesuffix('|').rstrip()} {marks} |" if marks else plain
        text, done = "", 0
        spans = sentences(plain)
        edges = [span.start for span in spans[1:]] + [len(plain) + 1]
        left = list(markers)
        for span, edge in zip(spans, edges, strict=False):
            own = [marker for marker in left if marker.offset < edge]
            left = left[len(own) :]
            sentence = plain[span.start : span.end]
            marks = self._checked(sentence, own, unit, sentence)
            text += plain[done : span.start] + " ".join(filter(None, (sentence, marks)))
            done = span.end
        return text + plain[done:]

    def _checked(self, text: str, markers: Sequence[Marker], unit: AnswerPart, claim: str) -> str:
        """Check one sentence, and put it on the list; gives the marks of the sources it cites."""
        if not (unit.claims or markers):
            return ""
        support = self._finder.find(claim, markers)
        if not unit.claims and not support.cited:
            return ""
        for n in map(self._first_of, support.cited):
            self._quotes.setdefault(n, [])
        for n, quote in support.quotes:
            quotes = self._quotes[self._first_of(n)]
            quotes += [quote] * (quote not in quotes)
        order = list(self._quotes)
        cited = dict.fromkeys(order.index(self._first_of(n)) + 1 for n in support.cited)
        marks = "".join(f"[{number}]" for number in sorted(cited))
        if not unit.claims:
            return marks
        verdict, reason, missing = support.verdict, support.verdict.reason, support.verdict.missing
        if verdict.decided_by == "judge":
            missing = ()
        if missing and cited:
            reason = not_found(missing, marks)
        if unread := ", ".join(dict.fromkeys(name for m in markers for name in m.unknown)):
            self._unread.append((text, unread))
            note = f"cites {unread}, which was not read"
            reason = f"{reason}; {note}" if reason not in ("", _NOTHING) else note
        if verdict.state is VerdictState.SUPPORTED:
            ids = [verdict.passage] if verdict.passage else [f"S{n}" for n in support.cited]
            self._carried.append(f"{text} {''.join(f'[{one}]' for one in ids)}")
        self._sentences.append(
            Sentence(
                text=text,
                citations=list(cited),
                verdict=verdict.state,
                decided_by=verdict.decided_by,
                reason=reason,
                weak=support.weak,
                about_search=support.about_search,
                missing=list(missing),
            )
        )
        return marks

    def _first_of(self, n: int) -> int:
        """Give the first cited of the sources that are the same text of the same page."""
        source = self._evidence.source(n)
        return self._same.setdefault((source.url, source.sha256), n) if source else n


def _row_claim(row: str, head: Sequence[str]) -> str:
    """Write a row of an answer's table with the names of its columns: `Ship: Heron; Cars: 24`."""
    cells = cells_of(row)
    if len(cells) != len(head):
        return row
    pairs = zip(head, cells, strict=True)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


@dataclass(frozen=True, slots=True)
class Support:
    """A sentence's verdict, the sources it cites (run numbers), and (source, quote) pairs.

    `weak` says that search results alone carry it, `about_search` that it is no claim.
    """

    verdict: Verdict
    cited: tuple[int, ...] = ()
    quotes: tuple[tuple[int, str], ...] = ()
    weak: bool = False
    about_search: bool = False

    @property
    def holds(self) -> bool:
        """It is supported."""
        return self.verdict.state is VerdictState.SUPPORTED


@dataclass(frozen=True, slots=True)
class SupportFinder:
    """Finds what carries one sentence of an answer: the passages it cites, or should have cited."""

    evidence: Evidence
    judge: Judge | None = None

    def find(self, sentence: str, markers: Sequence[Marker]) -> Support:
        """Check a sentence against what its markers name, or look for what carries it."""
        # Beside markers of passages, `[12]` is a footnote mark that was copied from the page.
        exact = [marker for marker in markers if not marker.numeric and marker.references]
        references = dict.fromkeys(one for m in exact or markers for one in m.references)
        if references:
            return self._cited(sentence, list(references))
        about_search = not markers and bool(self.evidence.question) and is_about_search(sentence)
        found = self._uncited(sentence, None if about_search else self.judge)
        if found.holds or not about_search:
            return found
        verdict = Verdict(VerdictState.UNCITED, reason="it is about the search itself")
        return replace(found, verdict=verdict, about_search=True)

    def _cited(self, sentence: str, references: list[CitedId]) -> Support:
        """Check a sentence against what it names; pages that were read come before search results.

        Those are the pages that are named too, those that the results are about, or any other, if
        they carry it in code.
        """
        references += [one for one, _ in self._origins(references) if one not in references]
        sources = (self.evidence.source(one.source) for one in references)
        results = {s.n: s for s in sources if s is not None and s.via == "snippet"}
        if results:
            read = (self.evidence.page_of(result) for result in results.values())
            pages = [one for one in references if one.source not in results]
            pages += [CitedId(page.n) for page in read if page is not None]
            if pages:
                found = self._support(sentence, list(dict.fromkeys(pages)), None)
                if found.holds:
                    return found
            if elsewhere := self._anywhere(sentence):
                return elsewhere
        found = self._support(sentence, references, self.judge)
        carrying = self._source_of(found.verdict)
        weak = [n for n in ([carrying] if carrying else found.cited) if n in results]
        if not (found.holds and weak):
            return found
        reason = _READ if any(self.evidence.page_of(results[n]) for n in weak) else _NOT_READ
        return replace(found, verdict=replace(found.verdict, reason=reason), weak=True)

    def _support(
        self, sentence: str, references: Sequence[CitedId], judge: Judge | None
    ) -> Support:
        """Check a sentence in code against what it names and the rest of its sources, then judge.

        What the cited passage does not have may stand beside it: the best passages of the source
        are looked at before anything is called contradicted.
        """
        claim = self._in_full(sentence)
        passages = self._passages(sentence, references)
        cited = tuple(dict.fromkeys(one.source for one in references))
        sources = [source for n in cited if (source := self.evidence.source(n))]
        texts = tuple(f"{source.title}\n{source.text}" for source in sources)
        verdict = check_claim(claim, self._ground(passages), texts)
        if not is_literal(verdict):
            best = [passage for source in sources for passage in self._best(sentence, source)]
            wider = check_claim(claim, self._ground(best), texts)
            if is_literal(wider):
                verdict = replace(wider, reason=f"{wider.reason} ({wider.passage})")
            elif judge is not None:
                beside = [passage for source in sources for passage in source.passages]
                verdict = judged(judge(claim, passages), [*passages, *beside]) or verdict
        quotes = tuple(self._quotes(sentence, passages, verdict, references))
        return Support(verdict, cited, quotes)

    def _uncited(self, sentence: str, judge: Judge | None) -> Support:
        """Look for a read passage that carries a sentence word for word, else ask the judge."""
        if found := self._anywhere(sentence):
            return found
        best = self._best(sentence)[:UNCITED_LOOKED_AT]
        decided = judged(judge(self._in_full(sentence), best), best) if judge and best else None
        if decided is None:
            return Support(Verdict(VerdictState.UNCITED, reason=_NOTHING))
        source = self._source_of(decided)
        if decided.state is VerdictState.SUPPORTED and source:
            return Support(decided, (source,), ((source, decided.quote),))
        return Support(replace(decided, reason=f"{_NOTHING}; {decided.reason}"))

    def _anywhere(self, sentence: str) -> Support | None:
        verdict = check_claim(sentence, self._ground(self._best(sentence)))
        if not is_literal(verdict):
            return None
        source = self._source_of(verdict)
        cited = replace(verdict, reason=f"{verdict.reason}; cited in code")
        return Support(cited, (source,), ((source, verdict.quote),))

    def _in_full(self, sentence: str) -> str:
        """Put the question before an answer that has no verb; another is given as it is."""
        question = self.evidence.question
        alone = "|" not in sentence and is_fragment(sentence)
        return f"{question} {sentence}" if alone and question.endswith("?") else sentence

    def _ground(self, passages: Sequence[Passage]) -> Ground:
        numbers = dict.fromkeys(passage.source for passage in passages)
        titles = ((n, s.title) for n in numbers if (s := self.evidence.source(n)) is not None)
        return ground_of(tuple(passages), tuple(titles))

    def _best(self, sentence: str, source: Source | None = None) -> Sequence[Passage]:
        """Give the best passages for a sentence: of a source, else of all that was read."""
        found = self.evidence.search(sentence, WHOLE_SOURCE, source.n if source else None)
        return found or (source.passages[:WHOLE_SOURCE] if source else ())

    def _passages(self, sentence: str, references: Iterable[CitedId]) -> list[Passage]:
        found: dict[str, Passage] = {}
        for n, number in references:
            source = self.evidence.source(n)
            if source is not None and number is not None:
                passage = source.passages[number - 1]
                found.setdefault(passage.id, passage)
            else:
                found.update((passage.id, passage) for passage in self._best(sentence, source))
        return sorted(found.values(), key=lambda p: (p.source, p.start))

    def _quotes(
        self,
        sentence: str,
        passages: Sequence[Passage],
        verdict: Verdict,
        references: Sequence[CitedId],
    ) -> Iterator[tuple[int, str]]:
        """Give literal quotes: the verdict's, and the nearest sentence of what else is named."""
        own = self._source_of(verdict) if verdict.quote else 0
        if own:
            yield own, verdict.quote
        origins = self._origins(references)
        yield from ((one.source, quote) for one, quote in origins)
        quoted = {one for one, _ in origins}
        for reference in references:
            if reference in quoted:
                continue
            source, number = reference
            named = [p for p in passages if p.source == source]
            if number is not None:
                named = [p for p in named if p.id == passage_id(source, number)]
            carried = own and any(passage.id == verdict.passage for passage in named)
            if not carried and (quote := nearest_quote(sentence, named)):
                yield source, quote

    def _origins(self, references: Iterable[CitedId]) -> list[tuple[CitedId, str]]:
        """Give the passages whose figures what is cited was computed from, each with a quote."""
        cited = map(self.evidence.source, dict.fromkeys(one.source for one in references))
        texts = [source.text for source in cited if source is not None and source.via == "computed"]
        found: dict[tuple[CitedId, str], None] = {}
        for words, n, number in (row for text in texts for row in _ORIGIN.findall(text)):
            passage = self.evidence.passage(passage_id(int(n), int(number)))
            text = passage.text if passage else ""
            spans = (text[span.start : span.end] for span in sentences(text))
            quote = next((one for one in spans if words in " ".join(one.split())), text)
            found[CitedId(int(n), int(number)), quote] = None
        return list(found)

    def _source_of(self, verdict: Verdict) -> int:
        passage = self.evidence.passage(verdict.passage or "")
        return passage.source if passage else 0
