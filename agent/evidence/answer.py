"""From what a model answered to numbered, checked sentences with literal quotes."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.evidence.literal import is_fragment
from agent.evidence.markers import AnswerPart, CitedId, MarkerReader, units
from agent.evidence.passages import cells_of, nearest_quote, passage_id
from agent.evidence.verify import check_claim, ground_of, is_literal, judged, not_found
from agent.evidence.wording import denies, keys_of
from agent.types import ReportSource, Sentence, Verdict, VerdictState
from browser.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.evidence.literal import Ground
    from agent.evidence.markers import Marker, Unmarked
    from agent.evidence.store import Evidence, Source
    from agent.evidence.verify import Judge
    from agent.types import Passage

WHOLE_SOURCE = 12
"""Passages looked at where a whole source is cited: its best ones for this sentence."""
UNCITED_LOOKED_AT = 4
"""Passages that a judge is shown for a sentence without a citation: the best of all."""
FEWEST_WORDS = 4
"""A sentence without a marker is looked up word for word from this length on."""
LONGEST_ASKED = 40
"""Words of a question that is put before an answer without a verb; a longer one tells a story."""

ONLY_A_RESULT = "only a search result says so,"
_NOTHING = "cites nothing"
_NOT_READ = "its page was not read"
_READ = "its page, which was read, does not say it in these words"

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
    opening, said = frozenset(keys[:_SUBJECT]), frozenset(keys)
    first = next((n for n, key in enumerate(keys[:_SUBJECT]) if key in _SEARCHERS), len(keys))
    found = not _FINDING.isdisjoint(keys[first:])
    told = opening & _SOURCES and said & _SAYING
    return bool(found or told) and any(map(denies, keys))


class _AnswerCheck:
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
        text = "".join(self._unit(unit) for unit in units(body)).strip()
        sources = ((self._evidence.source(n), quotes) for n, quotes in self._quotes.items())
        numbered = [
            report_source(number, source, quotes)
            for number, (source, quotes) in enumerate(sources, 1)
            if source is not None
        ]
        found = tuple(self._sentences), tuple(numbered), tuple(self._carried), tuple(self._unread)
        return CheckedAnswer(text, *found)

    def _unit(self, unit: AnswerPart) -> str:
        if unit.kind == "verbatim":
            return unit.text
        unmarked = self._reader.unmark(unit.text)
        text = self._row(unmarked, unit) if unit.kind == "row" else self._prose(unmarked, unit)
        return unit.prefix + text + unit.suffix

    def _row(self, row: Unmarked, unit: AnswerPart) -> str:
        text = row.text.strip()
        numbers = self._checked(text, row.markers, unit, _row_claim(text, unit.head))
        if not numbers:
            return row.text
        return f"{row.text.rstrip().removesuffix('|').rstrip()} {_marks(numbers)} |"

    def _prose(self, prose: Unmarked, unit: AnswerPart) -> str:
        text, done = "", 0
        spans = sentences(prose.text)
        edges = [span.start for span in spans[1:]] + [len(prose.text) + 1]
        markers = list(prose.markers)
        for span, edge in zip(spans, edges, strict=False):
            own = [m for m in markers if m.offset < edge]
            markers = markers[len(own) :]
            sentence = prose.text[span.start : span.end]
            numbers = self._checked(sentence, own, unit, sentence)
            marked = f"{sentence} {_marks(numbers)}" if numbers else sentence
            text += prose.text[done : span.start] + marked
            done = span.end
        return text + prose.text[done:]

    def _checked(
        self, text: str, markers: Sequence[Marker], unit: AnswerPart, claim: str
    ) -> list[int]:
        """Check one sentence; give the report numbers of the sources that it cites."""
        if not (unit.claims or markers):
            return []
        support = self._finder.find(claim, markers)
        if not unit.claims and not support.cited:
            return []
        numbers = list(dict.fromkeys(self._number(self._one(n)) for n in support.cited))
        for n, quote in support.quotes:
            source = self._one(n)
            if quote not in self._quotes[source]:
                self._quotes[source].append(quote)
        if unit.claims:
            self._keep(text, numbers, support, markers)
        return numbers

    def _keep(
        self, text: str, numbers: list[int], support: Support, markers: Sequence[Marker]
    ) -> None:
        verdict, reason = support.verdict, support.verdict.reason
        if verdict.missing and verdict.decided_by == "code" and numbers:
            reason = not_found(verdict.missing, _marks(numbers))
        unread = list(dict.fromkeys(name for marker in markers for name in marker.unknown))
        if unread:
            self._unread.append((text, ", ".join(unread)))
            note = f"cites {', '.join(unread)}, which was not read"
            reason = f"{reason}; {note}" if reason not in ("", _NOTHING) else note
        if verdict.state is VerdictState.SUPPORTED:
            self._carried.append(f"{text} {_ids(verdict, support)}")
        self._sentences.append(
            Sentence(
                text=text,
                citations=numbers,
                verdict=verdict.state,
                decided_by=verdict.decided_by,
                reason=reason,
                weak=support.weak,
                about_search=support.about_search,
                missing=list(verdict.missing) if verdict.decided_by == "code" else [],
            )
        )

    def _number(self, source: int) -> int:
        """Give a source's number in the report: the order of first citation."""
        self._quotes.setdefault(source, [])
        return list(self._quotes).index(source) + 1

    def _one(self, n: int) -> int:
        """Give the first cited of the sources that are the same text of the same page."""
        source = self._evidence.source(n)
        return self._same.setdefault((source.url, source.sha256), n) if source else n


@dataclass(frozen=True, slots=True)
class SupportFinder:
    """Finds what carries one sentence of an answer: the passages it cites, or should have cited."""

    evidence: Evidence
    judge: Judge | None = None

    def find(self, sentence: str, markers: Sequence[Marker]) -> Support:
        """Check a sentence against what its markers name, or look for what carries it."""
        references = _references(markers)
        origins = dict.fromkeys(one for one, _ in self._origins(references))
        references += [one for one in origins if one not in references]
        if references:
            on_pages = self._on_pages(sentence, references)
            return on_pages or self._marked(self._support(sentence, references, self.judge))
        about_search = not markers and bool(self.evidence.question) and is_about_search(sentence)
        found = self._uncited(sentence, None if about_search else self.judge)
        if found.verdict.state is VerdictState.SUPPORTED or not about_search:
            return found
        verdict = Verdict(VerdictState.UNCITED, reason="it is about the search itself")
        return replace(found, verdict=verdict, about_search=True)

    def _origins(self, references: Iterable[CitedId]) -> list[tuple[CitedId, str]]:
        """Give the passages whose figures what is cited was computed from, each with a quote."""
        cited = map(self.evidence.source, dict.fromkeys(one.source for one in references))
        texts = [source.text for source in cited if source is not None and source.via == "computed"]
        found: dict[tuple[CitedId, str], None] = {}
        for words, n, number in itertools.chain.from_iterable(map(_ORIGIN.findall, texts)):
            passage = self.evidence.passage(passage_id(int(n), int(number)))
            text = passage.text if passage else ""
            spans = (text[span.start : span.end] for span in sentences(text))
            quote = next((one for one in spans if words in " ".join(one.split())), text)
            found[CitedId(int(n), int(number)), quote] = None
        return list(found)

    def _support(
        self, sentence: str, references: Sequence[CitedId], judge: Judge | None
    ) -> Support:
        """Check a sentence against what is named."""
        passages = self._passages(sentence, references)
        cited = tuple(dict.fromkeys(reference.source for reference in references))
        verdict = self._verify(sentence, passages, cited, judge)
        return Support(verdict, cited, tuple(self._quotes(sentence, passages, verdict, references)))

    def _verify(
        self, sentence: str, passages: Sequence[Passage], cited: Sequence[int], judge: Judge | None
    ) -> Verdict:
        """Check a sentence in code against what it cites and the rest of its sources, then judge.

        What the cited passage does not have may stand beside it: the best passages of the source
        are looked at before anything is called contradicted.
        """
        claim = self._in_full(sentence)
        texts = tuple(
            f"{source.title}\n{source.text}" for n in cited if (source := self.evidence.source(n))
        )
        verdict = check_claim(claim, self._ground(passages), texts)
        if is_literal(verdict):
            return verdict
        best = [passage for n in cited for passage in self._best(sentence, n)]
        wider = check_claim(claim, self._ground(best), texts)
        if is_literal(wider):
            return replace(wider, reason=f"{wider.reason} ({wider.passage})")
        if judge is None:
            return verdict
        sources = map(self.evidence.source, cited)
        beside = [passage for source in sources if source for passage in source.passages]
        return judged(judge(claim, passages), [*passages, *beside]) or verdict

    def _uncited(self, sentence: str, judge: Judge | None) -> Support:
        """Look for a read passage that carries a sentence word for word, else ask the judge."""
        found = self._anywhere(sentence)
        if found:
            return found
        verdict = Verdict(VerdictState.UNCITED, reason=_NOTHING)
        best = self._best(sentence, None)[:UNCITED_LOOKED_AT]
        if judge is None or not best:
            return Support(verdict)
        decided = judged(judge(self._in_full(sentence), best), best)
        if decided is None:
            return Support(verdict)
        if decided.state is not VerdictState.SUPPORTED or not decided.passage:
            return Support(replace(decided, reason=f"cites nothing; {decided.reason}"))
        source = self._source_of(decided)
        return Support(decided, (source,), ((source, decided.quote),))

    def _anywhere(self, sentence: str) -> Support | None:
        if len(sentence.split()) < FEWEST_WORDS:
            return None
        verdict = check_claim(sentence, self._ground(self._best(sentence, None)))
        if not is_literal(verdict):
            return None
        source = self._source_of(verdict)
        cited = replace(verdict, reason=f"{verdict.reason}; cited in code")
        return Support(cited, (source,), ((source, verdict.quote),))

    def _on_pages(self, sentence: str, references: Sequence[CitedId]) -> Support | None:
        """Where search results are named, rest on pages that were read, if they carry it in code.

        Those are the pages that are named too, those that the results are about, or any other.
        """
        sources = (self.evidence.source(reference.source) for reference in references)
        results = {s.n: s for s in sources if s is not None and s.via == "snippet"}
        if not results:
            return None
        named = [reference for reference in references if reference.source not in results]
        read = (self.evidence.page_of(result) for result in results.values())
        pages = [*named, *(CitedId(page.n) for page in read if page is not None)]
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
        sources = (self.evidence.source(n) for n in ([carrying] if carrying else found.cited))
        results = [source for source in sources if source is not None and source.via == "snippet"]
        if not results:
            return found
        read = any(self.evidence.page_of(result) for result in results)
        reason = f"{ONLY_A_RESULT} {_READ if read else _NOT_READ}"
        return replace(found, verdict=replace(found.verdict, reason=reason), weak=True)

    def _in_full(self, sentence: str) -> str:
        """Put the question before an answer that has no verb; another is given as it is."""
        question = self.evidence.question
        asked = question.rstrip().endswith("?") and len(question.split()) <= LONGEST_ASKED
        alone = asked and "|" not in sentence and is_fragment(sentence)
        return f"{question} {sentence}" if alone else sentence

    def _ground(self, passages: Sequence[Passage]) -> Ground:
        numbers = dict.fromkeys(passage.source for passage in passages)
        titles = ((n, s.title) for n in numbers if (s := self.evidence.source(n)) is not None)
        return ground_of(tuple(passages), tuple(titles))

    def _best(self, sentence: str, source: int | None) -> list[Passage]:
        found = self.evidence.search(sentence, WHOLE_SOURCE, source)
        whole = self.evidence.source(source) if source else None
        return found or list(whole.passages[:WHOLE_SOURCE] if whole else ())

    def _passages(self, sentence: str, references: Iterable[CitedId]) -> list[Passage]:
        found: dict[str, Passage] = {}
        for source, number in references:
            known = self.evidence.source(source)
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
        references: Sequence[CitedId],
    ) -> Iterable[tuple[int, str]]:
        """Give literal quotes: the verdict's, and the nearest sentence of what else is named."""
        own = self._source_of(verdict) if verdict.quote else 0
        if own:
            yield own, verdict.quote
        origins = self._origins(references)
        yield from ((one.source, quote) for one, quote in origins)
        exact = {one for one, _ in origins}
        for source, number in references:
            if (source, number) in exact:
                continue
            named = [p for p in passages if p.source == source]
            if number is not None:
                named = [p for p in named if p.id == passage_id(source, number)]
            carried = own and any(passage.id == verdict.passage for passage in named)
            if not carried and (quote := nearest_quote(sentence, named)):
                yield source, quote

    def _source_of(self, verdict: Verdict) -> int:
        passage = self.evidence.passage(verdict.passage or "")
        return passage.source if passage else 0


def _references(markers: Sequence[Marker]) -> list[CitedId]:
    """Collect what is named; beside passage markers, `[12]` is a footnote mark of the page."""
    exact = [m for m in markers if not m.numeric and m.references]
    used = exact or markers
    return list(dict.fromkeys(reference for m in used for reference in m.references))


def _row_claim(row: str, head: Sequence[str]) -> str:
    """Write a row of an answer's table with the names of its columns: `Ship: Heron; Cars: 24`."""
    cells = cells_of(row)
    if len(cells) != len(head):
        return row
    pairs = zip(head, cells, strict=True)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


def _ids(verdict: Verdict, support: Support) -> str:
    named = [verdict.passage] if verdict.passage else [f"S{n}" for n in support.cited]
    return "".join(f"[{name}]" for name in named)


def _marks(numbers: Sequence[int]) -> str:
    return "".join(f"[{number}]" for number in sorted(numbers))
