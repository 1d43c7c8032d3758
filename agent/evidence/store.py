"""A run's evidence: the sources it has read, their passages, and search over them."""

from __future__ import annotations

import hashlib
import itertools
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent.errors import ToolError
from agent.evidence.page_state import reuse_strings, split_state
from agent.evidence.passages import HEADING_SEPARATOR, PassageIndex, split_passages
from agent.types import ReportSource
from browser.net.url import normalize
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from agent.types import Passage
    from browser.types import Page, SearchResult, Via

NUMBERS_PER_LOOP = 1_000
"""Source numbers reserved for each loop, more than a loop can use."""
STEP_LABEL = "a step of this run"
"""Label of the passages that describe actions; it prevents pages from imitating them."""
FIRST_RESULT = 501
"""Number of a loop's first search result. Search results have their own range so that they do not
affect page numbers, and so that a model can tell `S501` from a page without extra tokens."""

_SOURCE_NAME = re.compile(r"\bS\d+\b")


@dataclass(frozen=True, slots=True)
class Source:
    """Text that was read, with its hash and fetch time; `n` counts from 1.

    `sha256` is the hex digest of `text` in UTF-8; passage and quote offsets point into `text`.
    `shown_from` is the offset at which the snapshot-only part of a live page's state begins; None
    for any other source. `step` is the id of the run's last action before the source was read. If
    the source shows the result of that action (`shows_action_result`), the first passage of its
    snapshot part, of kind `act`, describes the action. `canonical` is the address that the page
    gives for itself, if different.
    """

    n: int
    url: str
    title: str
    text: str = field(repr=False)
    sha256: str
    fetched_at: datetime
    via: Via
    passages: tuple[Passage, ...] = field(repr=False)
    published: str | None = None
    shown_from: int | None = None
    step: str = ""
    shows_action_result: bool = False
    canonical: str = ""

    @property
    def name(self) -> str:
        """The source's name in citations: `S3`."""
        return f"S{self.n}"

    @property
    def article(self) -> tuple[Passage, ...]:
        """The passages that READ shows: for a live page, those of its article if it has one."""
        if not self.shown_from:
            return self.passages
        return tuple(p for p in self.passages if p.start < self.shown_from)

    def for_report(self, n: int) -> ReportSource:
        """Return the source as it appears in a report, with its number there."""
        return ReportSource(
            n=n,
            url=self.url,
            title=self.title,
            fetched_at=self.fetched_at.isoformat(),
            sha256=self.sha256,
            via=self.via,
            published=self.published,
        )

    def page_of(self, quote: str) -> int | None:
        """Return the number of the page on which a quote begins; None if there are no pages."""
        at = self.text.find(quote)
        before = [p.page for p in self.passages if p.start <= max(at, 0) and p.page is not None]
        return before[-1] if before else None


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Indexes of sources: by number and passage id for the entire run, and by page for one loop."""

    numbers: dict[int, Source] = field(default_factory=dict)
    passages: dict[str, tuple[Source, int]] = field(default_factory=dict)
    texts: dict[tuple[str, str, bool], Source] = field(default_factory=dict)
    pages: dict[str, Source] = field(default_factory=dict)
    results: dict[str, Source] = field(default_factory=dict)


class Evidence:
    """The sources of a run, numbered in the order in which they were added.

    Search results are weaker sources: they are in `snippets`, have a separate number range, and
    support a sentence only if no page that was read does.

    The same text at the same URL is the same source. Changed text (after a click on a live page)
    becomes a new source: a citation is checked against one text with one hash and one fetch time,
    and that hash would not cover text added later.

    Parallel loops each have their own `Evidence` with its own range of numbers, so a source's
    number never depends on which loop was faster. Each loop can look up any source. When all
    loops are done, `join_loops` assigns a single id to a page that several of them read. `question`
    is the run's question.
    """

    def __init__(
        self, question: str = "", *, first: int = 1, lookup: _Lookup | None = None
    ) -> None:
        self.question = question
        self._next = first
        self._next_result = first - 1 + FIRST_RESULT
        self._sources: list[Source] = []
        self._snippets: list[Source] = []
        self._lookup = lookup or _Lookup()
        self._loops: dict[int, Evidence] = {}
        self._index: tuple[int, PassageIndex] | None = None

    def for_loop(self, number: int) -> Evidence:
        """Return the evidence of a parallel loop; 0 is the run itself.

        A loop can look up by URL the pages that it reads itself, and those that the run had read
        when the loop started.
        """
        if not number:
            return self
        if number not in self._loops:
            own = self._lookup
            # Numbers and passages are shared by all loops; everything else is copied.
            lookup = _Lookup(
                own.numbers, own.passages, {**own.texts}, {**own.pages}, {**own.results}
            )
            first = number * NUMBERS_PER_LOOP + 1
            self._loops[number] = Evidence(self.question, first=first, lookup=lookup)
        return self._loops[number]

    def join_loops(self, text: str) -> str:
        """Unify the ids of pages that several parallel loops read, in `text` written by one loop.

        Each such page gets its id from the loop with the lowest number, regardless of which loop
        read it first. From now on, the run can look up the loops' pages by URL.
        """
        first: dict[tuple[str, str, bool], Source] = {}
        same: dict[str, str] = {}
        for _, loop in sorted(self._loops.items()):
            for source in (*loop.sources, *loop.snippets):
                if not source.step:  # the state of a page belongs to the loop that acted on it
                    key = normalize(source.url), source.sha256, source.via == "snippet"
                    same[source.name] = first.setdefault(key, source).name
        for key, source in first.items():
            self._lookup.texts.setdefault(key, source)
            found = self._lookup.results if key[2] else self._lookup.pages
            found.setdefault(key[0], source)
        return _SOURCE_NAME.sub(lambda match: same.get(match[0], match[0]), text)

    @property
    def is_empty(self) -> bool:
        """Whether no loop of the run has read anything yet, not even search results."""
        return not self._lookup.numbers

    @property
    def sources(self) -> tuple[Source, ...]:
        """All pages and files that were read, in order, followed by those of parallel loops."""
        loops = (loop.sources for _, loop in sorted(self._loops.items()))
        return (*self._sources, *itertools.chain.from_iterable(loops))

    @property
    def snippets(self) -> tuple[Source, ...]:
        """All search results, in the same order as `sources`."""
        loops = (loop.snippets for _, loop in sorted(self._loops.items()))
        return (*self._snippets, *itertools.chain.from_iterable(loops))

    @property
    def pages_read(self) -> int:
        """The number of pages and files that were read; all states of a page count as one."""
        counted = (s for s in self.sources if s.via not in ("tool", "mcp", "computed"))
        return len({normalize(source.url) for source in counted})

    def add(self, page: Page, step: str = "", *, acted: bool = False) -> Source:
        """Add a page that was read; raises `ToolError` if it has no readable text.

        `step` is the id of the last action before the page was read; `acted` means that its text
        describes that action.
        """
        document = page.document
        if document is None or not document.text.strip():
            raise ToolError(
                f"The page {page.url} has no readable text.", hint=page.reason or ToolError.hint
            )
        text, pages = clean(document.text), document.pages
        if pages:  # each page is cleaned separately, so that the page offsets can be adjusted
            edges = [0, *pages[1:], len(document.text)]
            pieces = [clean(document.text[a:b]) for a, b in itertools.pairwise(edges)]
            pages = (0, *itertools.accumulate(map(len, pieces)))[: len(pages)]
            text = "".join(pieces)
        elif document.shown_from is not None:
            text = document.text  # its two parts are already cleaned
        published = document.modified or document.published
        return self._register(
            page.url,
            document.title,
            text,
            page.fetched_at,
            page.via,
            published=published,
            pages=pages,
            shown_from=document.shown_from,
            step=step,
            acted=acted,
            canonical=document.canonical_url or "",
        )

    def add_snippet(self, result: SearchResult, at: datetime) -> Source:
        """Add the title and snippet of a search result as a source, which is weaker than its page.

        Raises `ToolError` if the result has no text, or if no source number is left.
        """
        if self._next_result % NUMBERS_PER_LOOP == 0:
            raise ToolError("This run has reached its limit of numbered search results.")
        text = result_text(result.title, result.snippet)
        if not text.strip():
            raise ToolError(f"The search result for {result.url} has no text.")
        return self._register(
            result.url, result.title, text, at, "snippet", published=result.published
        )

    def source(self, n: int) -> Source | None:
        """Return source number `n`, or None."""
        return self._lookup.numbers.get(n)

    def by_url(self, url: str) -> Source | None:
        """Return the latest source that was read from a URL, ignoring its fragment, or None."""
        return self._lookup.pages.get(normalize(url))

    def by_hash(self, url: str, sha256: str) -> Source | None:
        """Return the source with this URL and hash, or None."""
        known = self._lookup.numbers.values()
        return next((s for s in known if (s.url, s.sha256) == (url, sha256)), None)

    def result_for(self, url: str) -> Source | None:
        """Return the latest search result for a URL, or None."""
        return self._lookup.results.get(normalize(url))

    def page_for_result(self, result: Source) -> Source | None:
        """Return the page behind a search result, or None if no loop has read it."""
        url = normalize(result.url)
        return next((s for s in reversed(self.sources) if normalize(s.url) == url), None)

    def passage(self, passage_id: str) -> Passage | None:
        """Return the passage with this id (`S3¶12`), or None."""
        source, at = self._lookup.passages.get(passage_id, (None, 0))
        return source.passages[at] if source else None

    def neighbours(self, passage_id: str) -> Sequence[Passage]:
        """Return the passages right before and after this one."""
        source, at = self._lookup.passages.get(passage_id, (None, 0))
        passages = source.passages if source else ()
        return (*passages[max(0, at - 1) : at], *passages[at + 1 : at + 2])

    def search(self, query: str, limit: int = 8, source: int | None = None) -> list[Passage]:
        """Rank passages from one source, or from all, against a query, best first."""
        sources = self.sources
        if self._index is None or self._index[0] != len(sources):
            self._index = (len(sources), PassageIndex((s.title, s.passages) for s in sources))
        return self._index[1].search(query, limit, source)

    def _register(
        self,
        url: str,
        title: str,
        text: str,
        fetched_at: datetime,
        via: Via,
        *,
        published: str | None,
        pages: Sequence[int] = (),
        shown_from: int | None = None,
        step: str = "",
        acted: bool = False,
        canonical: str = "",
    ) -> Source:
        key, is_snippet, lookup = normalize(url), via == "snippet", self._lookup
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if known := lookup.texts.get((key, digest, is_snippet)):
            return known
        n = self._next_result if is_snippet else self._next
        while n in lookup.numbers:
            n += 1
        if shown_from is not None:
            before = lookup.pages.get(key)
            own = split_state(text, n, shown_from, acted=acted)
            passages = reuse_strings(own, before.passages if before else ())
        else:
            passages = split_passages(text, n, pages)
        if is_snippet:
            passages = [replace(passage, kind="snippet") for passage in passages]
        source = Source(
            n,
            url,
            clean(title),
            text,
            digest,
            fetched_at,
            via,
            tuple(passages),
            published,
            shown_from,
            step,
            acted,
            canonical if canonical and normalize(canonical) != key else "",
        )
        if is_snippet:
            self._snippets.append(source)
            self._next_result = n + 1
            lookup.results[key] = source
        else:
            self._sources.append(source)
            self._next = n + 1
            lookup.pages[key] = source
        lookup.texts[key, digest, is_snippet] = source
        lookup.numbers[n] = source
        lookup.passages.update((p.id, (source, at)) for at, p in enumerate(source.passages))
        return source


def result_text(title: str, snippet: str) -> str:
    """Join a search result's title and snippet into a source's text; empty if it has neither."""
    return "\n\n".join(part for part in (clean(title), clean(snippet)) if part)


def format_passage(passage: Passage, evidence: Evidence) -> str:
    """Format a passage as one line, with its page title and headings in brackets before it.

    The title and headings show what `she` or `it` refers to, and name a table's columns.
    """
    source = evidence.source(passage.source)
    kind = STEP_LABEL if passage.kind == "act" else ""
    parts = [kind, source.title if source else "", *passage.heading.split(HEADING_SEPARATOR)]
    context = HEADING_SEPARATOR.join(filter(None, dict.fromkeys(parts)))
    line = f"({context}) {passage.text}" if context else passage.text
    return " ".join(line.split())
