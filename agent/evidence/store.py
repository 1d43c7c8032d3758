"""What a run has read: its sources in order, their passages, and search over them."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent.errors import ToolError
from agent.evidence.passages import HEADING_SEPARATOR, PassageIndex, split_passages
from browser.net.url import normalize
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from agent.types import Passage
    from browser.types import Page, SearchResult, Via

BLOCK = 1_000
"""Numbers set apart for each part: more sources than one loop reads."""
RESULTS = 501
"""Where the numbers of search results begin in a block: what is read is counted as if there were
none, and `S501` tells a result from a page at the price of no further token."""


@dataclass(frozen=True, slots=True)
class Source:
    """One text that was read, under one hash and one time; `n` counts from 1.

    `sha256` is the hex digest of `text` in UTF-8; offsets of passages and quotes point into `text`.
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

    @property
    def name(self) -> str:
        """The source's name in citations: `S3`."""
        return f"S{self.n}"


@dataclass(frozen=True, slots=True)
class _Known:
    """Where sources are looked up: by number and passage in the whole run, by page in a part."""

    numbers: dict[int, Source] = field(default_factory=dict)
    passages: dict[str, tuple[Source, int]] = field(default_factory=dict)
    texts: dict[tuple[str, str, bool], Source] = field(default_factory=dict)
    pages: dict[str, Source] = field(default_factory=dict)
    results: dict[str, Source] = field(default_factory=dict)


class Evidence:
    """The sources of a run, numbered in the order in which they were added.

    What search results say of pages are sources too, weaker ones: `snippets` holds them, with
    numbers of their own, and a sentence rests on one only where no page that was read carries it.

    The same text at the same URL is the same source again. A changed text (after a click on a
    live page) is a new source: a citation is checked against one text with one hash and one
    time, and text added later would stand under a hash that does not cover it.

    Loops that run side by side each have a part, with numbers of its own: what a source is called
    never depends on which loop was faster. Any source can be looked up from any part.
    `question` is what it was all read for.
    """

    def __init__(self, question: str = "", *, first: int = 1, known: _Known | None = None) -> None:
        self.question = question
        self._next = first
        self._next_result = first - 1 + RESULTS
        self._sources: list[Source] = []
        self._snippets: list[Source] = []
        self._known = known or _Known()
        self._parts: dict[int, Evidence] = {}
        self._index: tuple[int, PassageIndex] | None = None

    def part(self, number: int) -> Evidence:
        """Give the part of a loop, which knows what was read before it began; 0 is the whole."""
        if not number:
            return self
        if number not in self._parts:
            of = self._known
            known = _Known(of.numbers, of.passages, {**of.texts}, {**of.pages}, {**of.results})
            self._parts[number] = Evidence(self.question, first=number * BLOCK + 1, known=known)
        return self._parts[number]

    @property
    def is_empty(self) -> bool:
        """No word of the web was read, by any loop of the run: no search result either."""
        return not self._known.numbers

    @property
    def sources(self) -> tuple[Source, ...]:
        """All that was read, in order; what the parts read after our own."""
        parts = (part.sources for _, part in sorted(self._parts.items()))
        return (*self._sources, *itertools.chain.from_iterable(parts))

    @property
    def snippets(self) -> tuple[Source, ...]:
        """All search results, in the same order."""
        parts = (part.snippets for _, part in sorted(self._parts.items()))
        return (*self._snippets, *itertools.chain.from_iterable(parts))

    def add(self, page: Page) -> Source:
        """Register a page that was read; raises ToolError where nothing readable came."""
        document = page.document
        if document is None or not document.text.strip():
            raise ToolError(f"Nothing to read on {page.url}.", hint=page.reason or ToolError.hint)
        text, pages = clean(document.text), document.pages
        if pages:  # cleaned one by one, so that their offsets stay true
            edges = [0, *pages[1:], len(document.text)]
            pieces = [clean(document.text[a:b]) for a, b in itertools.pairwise(edges)]
            pages = (0, *itertools.accumulate(map(len, pieces)))[: len(pages)]
            text = "".join(pieces)
        published = document.modified or document.published
        return self._register(
            page.url, document.title, text, page.fetched_at, page.via, published, pages
        )

    def add_snippet(self, result: SearchResult, at: datetime) -> Source:
        """Register a search result, its title and snippet, as a source: weaker than its page.

        Raises `ToolError` where it has no text, or so many came before that no number is left.
        """
        if self._next_result % BLOCK == 0:
            raise ToolError("There are too many search results to number them all.")
        text = result_text(result.title, result.snippet)
        if not text.strip():
            raise ToolError(f"The search result for {result.url} has no text.")
        return self._register(result.url, result.title, text, at, "snippet", result.published)

    def source(self, n: int) -> Source | None:
        """Source number `n`, or None."""
        return self._known.numbers.get(n)

    def by_url(self, url: str) -> Source | None:
        """Find the latest source read from a URL, fragments aside."""
        return self._known.pages.get(normalize(url))

    def result_for(self, url: str) -> Source | None:
        """Find the latest search result that names a URL."""
        return self._known.results.get(normalize(url))

    def page_of(self, result: Source) -> Source | None:
        """Find the page that a search result is about, if any loop has read it."""
        place = normalize(result.url)
        return next((s for s in reversed(self.sources) if normalize(s.url) == place), None)

    def passage(self, passage_id: str) -> Passage | None:
        """Look up the passage with this id (`S3¶12`); None where there is none."""
        source, at = self._known.passages.get(passage_id, (None, 0))
        return source.passages[at] if source else None

    def neighbours(self, passage_id: str) -> Sequence[Passage]:
        """Give the passages right before and behind this one."""
        source, at = self._known.passages.get(passage_id, (None, 0))
        passages = source.passages if source else ()
        return (*passages[max(0, at - 1) : at], *passages[at + 1 : at + 2])

    def search(self, query: str, limit: int = 8, source: int | None = None) -> list[Passage]:
        """Rank passages against a query, best first; within one source, or over all of them."""
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
        published: str | None,
        pages: Sequence[int] = (),
    ) -> Source:
        place, weaker = normalize(url), via == "snippet"
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if known := self._known.texts.get((place, digest, weaker)):
            return known
        n = self._next_result if weaker else self._next
        while n in self._known.numbers:
            n += 1
        passages = split_passages(text, n, pages)
        if weaker:
            passages = [replace(passage, kind="snippet") for passage in passages]
        source = Source(
            n, url, clean(title), text, digest, fetched_at, via, tuple(passages), published
        )
        if weaker:
            self._snippets.append(source)
            self._next_result = n + 1
        else:
            self._sources.append(source)
            self._next = n + 1
        (self._known.results if weaker else self._known.pages)[place] = source
        self._known.texts[place, digest, weaker] = source
        self._known.numbers[n] = source
        self._known.passages.update((p.id, (source, at)) for at, p in enumerate(source.passages))
        return source


def result_text(title: str, snippet: str) -> str:
    """Write a result's title and snippet as the text of a source; empty where it has neither."""
    return "\n\n".join(part for part in (clean(title), clean(snippet)) if part)


def format_passage(passage: Passage, evidence: Evidence) -> str:
    """Write a passage on a line behind its page's title and its heading, in brackets.

    They say what `she` or `it` is, and what the columns of a table are.
    """
    source = evidence.source(passage.source)
    parts = [source.title if source else "", *passage.heading.split(HEADING_SEPARATOR)]
    above = HEADING_SEPARATOR.join(filter(None, dict.fromkeys(parts)))
    return " ".join(f"{f'({above}) ' if above else ''}{passage.text}".split())
