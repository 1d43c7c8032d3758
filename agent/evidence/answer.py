"""Checks a model's answer sentence by sentence and numbers the sources that it cites."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from agent.evidence.literal import is_fragment
from agent.evidence.markers import (
    CitedId,
    MarkerReader,
    answer_parts,
    sentences_with_markers,
)
from agent.evidence.origins import is_duplicate
from agent.evidence.passages import nearest_quote, passage_id, split_row
from agent.evidence.tokens import is_negation, token_keys
from agent.evidence.verify import (
    CITED,
    check_claim,
    is_literal,
    not_found,
    statement_index,
    with_judge,
)
from agent.types import ReportSource, Sentence, Verdict, VerdictState
from browser.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.evidence.literal import StatementIndex
    from agent.evidence.markers import AnswerPart, Marker
    from agent.evidence.store import Evidence, Source
    from agent.evidence.verify import Judge
    from agent.types import Passage

PASSAGES_PER_SOURCE = 12
"""Maximum number of passages, best first, compared with a sentence that cites an entire source."""
PASSAGES_FOR_UNCITED = 4
"""Maximum number of the run's passages that a judge sees for a sentence without a citation."""

_CITES_NOTHING = "cites nothing"
_SNIPPET_ONLY = "supported only by a search result;"
_PAGE_NOT_READ = f"{_SNIPPET_ONLY} its page was not read"
_SNIPPET_DIFFERS = "its only source is a search result, which does not contain this wording"
_PAGE_DIFFERS = f"{_SNIPPET_ONLY} its page was read but does not contain this wording"

_NO_STEP = "no step of the run performed this action"
_NO_EFFECT_SEEN = "the action was started, but no page seen afterwards shows that it took effect"

_COMPUTED_INPUT = re.compile(r"^- “(.*)” in S(\d+)¶(\d+), ", re.MULTILINE)
"""A line of a computed source that quotes one of its inputs and gives the passage id."""

# Words in sentences about the search itself. English only: in other languages, such sentences count
# as claims.
_SEARCH_SUBJECTS = frozenset("i we search searches nothing none".split())
_FINDING_VERBS = frozenset(
    """find found locate located see seen determine determined verify verified confirm confirmed
    turned""".split()
)
_SOURCE_NOUNS = frozenset("source sources page pages passage passages results none".split())
_STATING_VERBS = frozenset(
    """say says state states mention mentions give gives list lists specify specifies contain
    contains""".split()
)
_MAX_OPENING_WORDS = 6
"""Maximum number of words before the subject in a sentence about the search."""


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer as shown in the report: Markdown whose `[1]` markers are source numbers.

    `supported` contains the supported sentences, with passage ids as a model would cite them.
    `unread_citations` pairs each sentence with the ids that it cites but that were never read.
    """

    answer: str
    sentences: tuple[Sentence, ...]
    sources: tuple[ReportSource, ...]
    supported: tuple[str, ...] = ()
    unread_citations: tuple[tuple[str, str], ...] = ()


def check_answer(answer: str, evidence: Evidence, judge: Judge | None = None) -> CheckedAnswer:
    """Read an answer's citation markers, check each sentence and number the cited sources.

    Sources are numbered in the order of their first citation. Markers for passages that were not
    read are dropped, and the sentence's reason mentions them. A sentence without a marker is
    searched for in everything that was read; if a passage contains it verbatim, that passage is
    cited.
    """
    return _AnswerCheck(evidence, judge).run(answer)


class SourceList:
    """The sources of a report, numbered in the order in which they are added.

    Identical text from the same page counts as one source, even if it was read several times or
    under several of the page's addresses.
    """

    def __init__(self, sources: Iterable[ReportSource] = ()) -> None:
        self._sources = {(source.url, source.sha256): source for source in sources}
        self._kept: list[Source] = []

    def __iter__(self) -> Iterator[ReportSource]:
        return iter(self._sources.values())

    def __contains__(self, source: Source) -> bool:
        return (source.url, source.sha256) in self._sources

    def add(self, source: Source, quote: str = "") -> ReportSource:
        """Return a source as it appears in the report, adding it or its quote if new."""
        if source not in self:
            source = next((kept for kept in self._kept if is_duplicate(source, kept)), source)
        if source not in self:
            self._kept.append(source)
            number = len(self._sources) + 1
            self._sources[source.url, source.sha256] = source.for_report(number)
        found = self._sources[source.url, source.sha256]
        if quote and quote not in found.quotes:
            found.quotes.append(quote)
            if (page := source.page_of(quote)) is not None:
                found.pages.append(page)
        return found


def is_about_search(sentence: str) -> bool:
    """Return whether a sentence only reports what the search did not find.

    It is used only for sentences without a citation, since a sentence that cites something is a
    claim. English only: `I found no figure for 2023.`, `The sources do not say who built it.`
    """
    keys = token_keys(sentence)
    if not any(map(is_negation, keys)):
        return False
    opening = keys[:_MAX_OPENING_WORDS]
    for position, key in enumerate(opening):
        if key in _SEARCH_SUBJECTS:
            if not _FINDING_VERBS.isdisjoint(keys[position:]):
                return True
            break
    return not _SOURCE_NOUNS.isdisjoint(opening) and not _STATING_VERBS.isdisjoint(keys)


class _AnswerCheck:
    """Rewrites one answer, and collects its sentences and its sources with their quotes."""

    def __init__(self, evidence: Evidence, judge: Judge | None) -> None:
        self._evidence = evidence
        self._reader = MarkerReader(evidence)
        self._finder = SupportFinder(evidence, judge)
        self._sentences: list[Sentence] = []
        self._supported: list[str] = []
        self._unread_citations: list[tuple[str, str]] = []
        self._sources = SourceList()

    def run(self, answer: str) -> CheckedAnswer:
        body = self._reader.take_footnotes(answer)
        text = "".join(
            part.prefix + self._check_part(part) + part.suffix for part in answer_parts(body)
        )
        return CheckedAnswer(
            text.strip(),
            tuple(self._sentences),
            tuple(self._sources),
            tuple(self._supported),
            tuple(self._unread_citations),
        )

    def _check_part(self, part: AnswerPart) -> str:
        """Check the sentences in a part; return its text with report markers added."""
        if part.kind == "verbatim":
            return part.text
        plain, markers = self._reader.strip_markers(part.text)
        if part.kind == "row":
            row = plain.strip()
            marks = self._check_sentence(row, _row_claim(row, part.head), markers, part)
            return f"{plain.rstrip().removesuffix('|').rstrip()} {marks} |" if marks else plain

        text, done = "", 0
        for start, end, own in sentences_with_markers(plain, markers):
            sentence = plain[start:end]
            marks = self._check_sentence(sentence, sentence, own, part)
            text += plain[done:start] + " ".join(filter(None, (sentence, marks)))
            done = end
        return text + plain[done:]

    def _check_sentence(
        self, text: str, claim: str, markers: Sequence[Marker], part: AnswerPart
    ) -> str:
        """Check one sentence and record the result; return the report markers for its sources.

        `claim` is the text to check: the sentence, or a table row with its column names.
        """
        if not (part.makes_claims or markers):
            return ""
        support = self._finder.find(claim, markers)
        if not part.makes_claims and not support.cited:
            return ""

        sources = [s for s in map(self._evidence.source, support.cited) if s is not None]
        cited = dict.fromkeys(self._sources.add(source).n for source in sources)
        for n, quote in support.quotes:
            if source := self._evidence.source(n):
                self._sources.add(source, quote)
        marks = "".join(f"[{number}]" for number in sorted(cited))
        if not part.makes_claims:
            return marks

        verdict, missing = support.verdict, support.verdict.missing
        reason = verdict.reason.replace(CITED, marks) if cited else verdict.reason
        if missing and verdict.state is VerdictState.SUPPORTED:
            reason = f"{reason}; {not_found(missing, marks)}"
        unread = ", ".join(dict.fromkeys(name for marker in markers for name in marker.unknown))
        if unread:
            self._unread_citations.append((text, unread))
            note = f"cites {unread}, which was not read"
            reason = f"{reason}; {note}" if reason not in ("", _CITES_NOTHING) else note
        if verdict.state.holds:
            ids = [verdict.passage] if verdict.passage else [f"S{n}" for n in support.cited]
            self._supported.append(f"{text} {''.join(f'[{id_}]' for id_ in ids)}")
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
                step=support.step,
            )
        )
        return marks


def _row_claim(row: str, head: Sequence[str]) -> str:
    """Format a table row with the names of its columns: `Ship: Heron; Cars: 24`."""
    cells = split_row(row)
    if len(cells) != len(head):
        return row
    pairs = zip(head, cells, strict=True)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


@dataclass(frozen=True, slots=True)
class Support:
    """A sentence's verdict, its sources' numbers in the run, and (source number, quote) pairs.

    `weak` means that only search results support it; `about_search` means that it is not a claim.
    `step` is the id of the action that it describes.
    """

    verdict: Verdict
    cited: tuple[int, ...] = ()
    quotes: tuple[tuple[int, str], ...] = ()
    weak: bool = False
    about_search: bool = False
    step: str = ""

    @property
    def is_supported(self) -> bool:
        """Whether the sentence is supported, or the action was done."""
        return self.verdict.state.holds


@dataclass(frozen=True, slots=True)
class SupportFinder:
    """Finds the passages that support one sentence: those that it cites or should have cited."""

    evidence: Evidence
    judge: Judge | None = None

    def find(self, sentence: str, markers: Sequence[Marker]) -> Support:
        """Check a sentence against what its markers cite; without markers, look for support."""
        # If there are passage markers too, `[12]` is a footnote marker copied from the page.
        exact = [marker for marker in markers if not marker.numeric and marker.references]
        references = dict.fromkeys(
            reference for marker in exact or markers for reference in marker.references
        )
        if references:
            return self._check_cited(sentence, list(references))
        about_search = not markers and bool(self.evidence.question) and is_about_search(sentence)
        # If a sentence cites only unread pages, no support is looked for elsewhere: the model must
        # revise the sentence.
        is_unread = any(marker.unknown for marker in markers)
        found = self._check_uncited(sentence, None if about_search or is_unread else self.judge)
        if found.is_supported or not about_search:
            return found
        verdict = Verdict(VerdictState.UNCITED, reason="it is about the search itself")
        return replace(found, verdict=verdict, about_search=True)

    def _check_cited(self, sentence: str, references: list[CitedId]) -> Support:
        """Check a sentence against its citations; pages that were read outrank search results.

        If search results are cited, code first tries the other cited pages and the pages that the
        results link to, then everything that was read. The search results themselves are used only
        if none of these supports the sentence.
        """
        for reference, _ in self._computed_inputs(references):
            if reference not in references:
                references.append(reference)
        sources = (self.evidence.source(reference.source) for reference in references)
        results = {s.n: s for s in sources if s is not None and s.via == "snippet"}
        if results:
            result_pages = (self.evidence.page_for_result(result) for result in results.values())
            pages = [reference for reference in references if reference.source not in results]
            pages += [CitedId(page.n) for page in result_pages if page is not None]
            if pages:
                found = self._check_references(sentence, list(dict.fromkeys(pages)), None)
                if found.is_supported:
                    return found
            if elsewhere := self._find_literally(sentence):
                return elsewhere

        found = self._check_references(sentence, references, self.judge)
        if found.verdict.state is VerdictState.UNDECIDED and results.keys() == set(found.cited):
            reason = f"{found.verdict.reason}; {_SNIPPET_DIFFERS}"
            return replace(found, verdict=replace(found.verdict, reason=reason))
        supporting = self._source_number(found.verdict)
        weak = [n for n in ([supporting] if supporting else found.cited) if n in results]
        if not (found.is_supported and weak):
            return found
        page_was_read = any(self.evidence.page_for_result(results[n]) for n in weak)
        reason = _PAGE_DIFFERS if page_was_read else _PAGE_NOT_READ
        return replace(found, verdict=replace(found.verdict, reason=reason), weak=True)

    def _check_references(
        self, sentence: str, references: Sequence[CitedId], judge: Judge | None
    ) -> Support:
        """Check a sentence against cited passages and their sources, in code and with the judge.

        The supporting words may be near the cited passage rather than in it, so the best passages
        from its source are tried before a contradiction is reported. The judge sees only pages that
        were read: a search result supports a sentence only if it contains the sentence literally.
        """
        claim = self._with_question(sentence)
        passages = self._resolve(sentence, references)
        cited = tuple(dict.fromkeys(reference.source for reference in references))
        sources = [source for n in cited if (source := self.evidence.source(n))]
        texts = tuple(f"{source.title}\n{source.text}" for source in sources)
        verdict = check_claim(claim, self._index(passages), texts)
        if not is_literal(verdict):
            best = [p for source in sources for p in self._best_passages(sentence, source)]
            wider = check_claim(claim, self._index(best), texts)
            if is_literal(wider):
                verdict = replace(wider, reason=f"{wider.reason} ({wider.passage})")
            elif judge is not None and (read := [p for p in passages if p.kind != "snippet"]):
                pages = [source for source in sources if source.via != "snippet"]
                quotable = [*read, *(p for source in pages for p in source.passages)]
                titles = [source.title for source in pages]
                verdict = with_judge(claim, verdict, judge(claim, read), quotable, titles)
        verdict, step = self._check_action(verdict, sources)
        quotes = tuple(self._quotes(sentence, passages, verdict, references))
        return Support(verdict, cited, quotes, step=step)

    def _check_action(self, verdict: Verdict, cited: Sequence[Source]) -> tuple[Verdict, str]:
        """Check a verdict on an action against the record; returns the verdict and the step id.

        An action counts as done only if the judge's quote comes from the state of a page after an
        action. If the page is as it was before, the quote must be from an event of the action.
        """
        if verdict.state not in (VerdictState.DONE, VerdictState.ATTEMPTED):
            return verdict, ""
        step = next((source.step for source in reversed(cited) if source.step), "")
        quoted = self.evidence.source(self._source_number(verdict)) if verdict.quote else None
        if not step:
            return replace(verdict, state=VerdictState.UNDECIDED, reason=_NO_STEP), ""
        shows_result = bool(
            quoted and quoted.step and not self._shows_nothing_new(quoted, verdict.quote)
        )
        if verdict.state is VerdictState.DONE and not shows_result:
            verdict = replace(verdict, state=VerdictState.ATTEMPTED, reason=_NO_EFFECT_SEEN)
        return verdict, quoted.step if quoted and quoted.step else step

    def _shows_nothing_new(self, state: Source, quote: str) -> bool:
        """Return whether a page is as the run first saw it, and no event contains the quote."""
        same_page = (s for s in self.evidence.sources if s.url == state.url and s.n < state.n)
        first = next(same_page, None)
        if first is None:
            return False
        shown, before = (
            [passage.text for passage in source.passages if passage.kind != "act"]
            for source in (state, first)
        )
        # The description of an act is followed by the events that it caused.
        acts = [p.text.partition("; ")[0] for p in state.passages if p.kind == "act"]
        return shown == before and any(quote in text for text in (first.text, *acts))

    def _check_uncited(self, sentence: str, judge: Judge | None) -> Support:
        """Look for a passage that contains a sentence literally, otherwise ask the judge."""
        if found := self._find_literally(sentence):
            return found
        uncited = Verdict(VerdictState.UNCITED, reason=_CITES_NOTHING)
        best = self._best_passages(sentence)[:PASSAGES_FOR_UNCITED]
        if not (judge and best):
            return Support(uncited)
        claim = self._with_question(sentence)
        missing = check_claim(claim, self._index(best)).missing
        decided = with_judge(claim, replace(uncited, missing=missing), judge(claim, best), best)
        source = self._source_number(decided)
        page = self.evidence.source(source)
        decided, step = self._check_action(decided, [page] if page else [])
        if decided.state.holds and source:
            return Support(decided, (source,), ((source, decided.quote),), step=step)
        if decided.decided_by == "judge":
            decided = replace(decided, reason=f"{_CITES_NOTHING}; {decided.reason}")
        return Support(replace(decided, missing=()))

    def _find_literally(self, sentence: str) -> Support | None:
        """Look for a sentence verbatim in everything that was read; None if it is not found."""
        verdict = check_claim(sentence, self._index(self._best_passages(sentence)))
        if not is_literal(verdict):
            return None
        source = self._source_number(verdict)
        cited = replace(verdict, reason=f"{verdict.reason}; citation added by code")
        return Support(cited, (source,), ((source, verdict.quote),))

    def _with_question(self, sentence: str) -> str:
        """Prepend the question to an answer that has no verb; return other answers unchanged."""
        question = self.evidence.question
        if question.endswith("?") and "|" not in sentence and is_fragment(sentence):
            return f"{question} {sentence}"
        return sentence

    def _index(self, passages: Sequence[Passage]) -> StatementIndex:
        numbers = dict.fromkeys(passage.source for passage in passages)
        titles = ((n, s.title) for n in numbers if (s := self.evidence.source(n)) is not None)
        return statement_index(tuple(passages), tuple(titles))

    def _best_passages(self, sentence: str, source: Source | None = None) -> Sequence[Passage]:
        """Return the passages most similar to a sentence, from one source or from all of them."""
        found = self.evidence.search(sentence, PASSAGES_PER_SOURCE, source.n if source else None)
        return found or (source.passages[:PASSAGES_PER_SOURCE] if source else ())

    def _resolve(self, sentence: str, references: Iterable[CitedId]) -> list[Passage]:
        """Look up the cited passages; for a source cited without a passage, take its best ones."""
        found: dict[str, Passage] = {}
        whole: list[list[Passage]] = []  # for each source that is cited without a passage
        for n, number in references:
            source = self.evidence.source(n)
            if source is not None and number is not None:
                passage = source.passages[number - 1]
                found.setdefault(passage.id, passage)
                continue
            acts: list[Passage] = []  # the passage that describes the action
            if source is not None and source.shows_action_result:
                acts = [passage for passage in source.passages if passage.kind == "act"]
            whole.append([*acts, *self._best_passages(sentence, source)])
        # Cited passages are in reading order. Found ones are sorted best first, alternating between
        # sources, since a judge sees only the first ones.
        best = {p.id: p for row in zip_longest(*whole) for p in row if p is not None}
        named = sorted(found.values(), key=lambda p: (p.source, p.start))
        return [*named, *(p for p in best.values() if p.id not in found)]

    def _quotes(
        self,
        sentence: str,
        passages: Sequence[Passage],
        verdict: Verdict,
        references: Sequence[CitedId],
    ) -> Iterator[tuple[int, str]]:
        """Yield verbatim quotes with their source numbers.

        The quotes are those in the verdict, the inputs of computed sources and, for each other
        citation, the most similar sentence.
        """
        quoted_source = self._source_number(verdict) if verdict.quote else 0
        if quoted_source:
            yield quoted_source, verdict.quote
        for quote in verdict.quotes if quoted_source else ():
            numbers = dict.fromkeys((quoted_source, *(passage.source for passage in passages)))
            pages = filter(None, map(self.evidence.source, numbers))
            if page := next((page for page in pages if quote in page.text), None):
                yield page.n, quote
        inputs = self._computed_inputs(references)
        yield from ((reference.source, quote) for reference, quote in inputs)
        already_quoted = {reference for reference, _ in inputs}
        for reference in references:
            if reference in already_quoted:
                continue
            source, number = reference
            cited = [p for p in passages if p.source == source]
            if number is not None:
                cited = [p for p in cited if p.id == passage_id(source, number)]
            if quoted_source and any(passage.id == verdict.passage for passage in cited):
                continue
            if any(quote in passage.text for quote in verdict.quotes for passage in cited):
                continue
            if quote := nearest_quote(sentence, cited):
                yield source, quote

    def _computed_inputs(self, references: Iterable[CitedId]) -> list[tuple[CitedId, str]]:
        """List the passages that cited computed sources use as input, each with a quote."""
        found: dict[tuple[CitedId, str], None] = {}
        for n in dict.fromkeys(reference.source for reference in references):
            source = self.evidence.source(n)
            if source is None or source.via != "computed":
                continue
            for words, origin, number in _COMPUTED_INPUT.findall(source.text):
                reference = CitedId(int(origin), int(number))
                passage = self.evidence.passage(passage_id(int(origin), int(number)))
                quote = passage.text if passage else ""
                for span in sentences(quote):
                    sentence = quote[span.start : span.end]
                    if words in " ".join(sentence.split()):
                        quote = sentence
                        break
                found[reference, quote] = None
        return list(found)

    def _source_number(self, verdict: Verdict) -> int:
        """Return the number of the source that a verdict quotes; 0 if there is none."""
        passage = self.evidence.passage(verdict.passage or "")
        return passage.source if passage else 0
