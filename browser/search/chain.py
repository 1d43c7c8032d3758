"""The search chain: engines asked in order until one answers, with a trail of what each did."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING

from browser.net.pace import current_pace
from browser.search.query import is_hard, rewrites
from browser.search.results import merge, nearest_range
from browser.search.state import Rests
from browser.text.languages import question_language
from browser.types import Outcome, SearchAttempt, SearchPage, SearchQuery, SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from browser.net.http import HttpClient
    from browser.search.provider import SearchSource
    from browser.search.state import SearchCache


# An engine answers in 0.3-2 s; one that has not after 8 s costs more than the next one.
DEADLINE = 8.0
# Whoever asks for the last days wants to see what came since they asked before.
LIFETIME_OF_NEWS = 600.0
# The share of the deadline that may go into waiting for an engine's next turn.
_PATIENCE = 0.5
# Further ways of asking where nothing was found; a third one has never found what two had not.
_MOST_REWRITES = 2


@dataclass(frozen=True, slots=True)
class ChainResult:
    """What came of a search: the results, and one attempt for each engine looked at."""

    results: tuple[SearchResult, ...]
    attempts: tuple[SearchAttempt, ...]

    @property
    def answered(self) -> bool:
        """Whether any engine answered honestly, be it with nothing found."""
        return any(attempt.outcome in (Outcome.OK, Outcome.EMPTY) for attempt in self.attempts)

    @property
    def provider(self) -> str:
        """The engines whose results these are, joined by `+`."""
        answered = (a.provider for a in self.attempts if a.outcome is Outcome.OK)
        return "+".join(dict.fromkeys(answered))


class Chain:
    """Asks `providers` in order over `http`.

    `state` is the file that remembers who rests, `cache` keeps good answers for their lifetime;
    both are optional. `deadline` is for one engine, in seconds. Opened within `pacing`, it shares
    turns and rests with others.
    """

    def __init__(
        self,
        providers: Sequence[SearchSource],
        http: HttpClient,
        state: Path | None = None,
        *,
        cache: SearchCache | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        self.providers = tuple(providers)
        self.rests = Rests(state)
        self._http = http
        self._cache = cache
        self._deadline = deadline
        self._pace = current_pace()

    async def search(
        self, query: SearchQuery, *, several: int = 1, fresh: bool = False
    ) -> ChainResult:
        """Ask until `several` engines have given results, as many at once; `fresh` skips the cache.

        An engine that rests or cannot be asked is passed over, and the trail says why; one that
        rests softly (slow or broken a moment ago) is asked when the others gave no answer.
        """
        run = _Run(query, several, fresh=fresh)
        await self._ask_until_enough(self.providers, run)
        if run.soft and not run.result().answered:
            await self._ask_until_enough(tuple(run.soft), run, even_soft=True)
        return run.result()

    def close(self) -> None:
        """Let go of the state and the cache."""
        self.rests.close()
        if self._cache is not None:
            self._cache.close()

    async def _ask_until_enough(
        self, providers: Sequence[SearchSource], run: _Run, *, even_soft: bool = False
    ) -> None:
        for local, group in groupby(providers, key=lambda provider: provider.local):
            queue = (p for p in group if self._may_ask(p, run, even_soft=even_soft))
            while batch := tuple(islice(queue, min(run.missing, 1) if local else run.missing)):
                answers = await asyncio.gather(*(self._ask(p, run) for p in batch))
                for provider, (page, seconds) in zip(batch, answers, strict=True):
                    run.note(provider, page, seconds)

    def _may_ask(self, provider: SearchSource, run: _Run, *, even_soft: bool) -> bool:
        why = provider.unavailable()
        rest = None if why else self.rests.of(provider.identity)
        if rest is not None and not self._cached(provider, run) and not (rest.soft and even_soft):
            why = f"rests {_span(self.rests.left(rest))} more after {rest.outcome.value}"
            run.soft += [provider] if rest.soft else []
        if why:
            run.note(provider, SearchPage(Outcome.SKIPPED, detail=why), 0.0)
        return not why

    async def _ask(self, provider: SearchSource, run: _Run) -> tuple[SearchPage, float]:
        """Give an engine's answer, from the cache where it is kept, and the seconds it took."""
        began = time.monotonic()
        page = self._cached(provider, run)
        if page is None:
            page = await self._ask_now(provider, run.query)
        return page, time.monotonic() - began

    async def _ask_now(self, provider: SearchSource, query: SearchQuery) -> SearchPage:
        patience = self._deadline * _PATIENCE
        if wait := await self._pace.turn(provider.identity, provider.interval, patience):
            why = f"asked too often; its next turn is in {wait:.0f} s"
            return SearchPage(Outcome.SKIPPED, detail=why)
        try:
            async with asyncio.timeout(self._deadline):
                page = await provider.search(query, self._http, deadline=self._deadline)
        except TimeoutError:
            page = SearchPage(Outcome.TIMEOUT, detail=f"no answer in {self._deadline:g} s")
        try:
            self.rests.note(provider.identity, page)
            if self._cache is not None:
                self._cache.put(provider.identity, query, page, lifetime_of(provider, query))
        except sqlite3.OperationalError as error:
            # A full disk costs the memory of an answer, not the answer.
            page = replace(page, detail=f"{page.detail} (not remembered: {error})".strip())
        rest = self.rests.of(provider.identity)
        if rest is not None and not rest.soft:
            await self._pace.rest(provider.identity, self.rests.left(rest))
        return page

    def _cached(self, provider: SearchSource, run: _Run) -> SearchPage | None:
        if self._cache is None or run.fresh:
            return None
        return self._cache.get(provider.identity, run.query)


class _Run:
    """One search under way: what was asked so far and what came."""

    def __init__(self, query: SearchQuery, several: int, *, fresh: bool) -> None:
        self.query = query
        self.fresh = fresh
        self.soft: list[SearchSource] = []
        self._several = several
        self._pages: list[SearchPage] = []
        self._trail: dict[str, SearchAttempt] = {}

    @property
    def missing(self) -> int:
        """How many engines must still give results."""
        return max(0, self._several - len(self._pages))

    def note(self, provider: SearchSource, page: SearchPage, seconds: float) -> None:
        """Add a line to the trail, and the results if there are any."""
        if page.outcome is Outcome.OK:
            self._pages.append(page)
            if provider.local:  # what one's own folder answers is asked of nobody else
                self._several = 0
        self._trail.pop(provider.name, None)
        self._trail[provider.name] = SearchAttempt(
            query=self.query.text,
            provider=provider.name,
            outcome=page.outcome,
            results=len(page.results),
            ms=round(seconds * 1000),
            detail=page.detail,
        )

    def result(self) -> ChainResult:
        """Merge what came."""
        lists = [page.results for page in self._pages]
        return ChainResult(merge(lists, self.query.limit), tuple(self._trail.values()))


def lifetime_of(provider: SearchSource, query: SearchQuery) -> float:
    """Seconds that an answer may be kept: the engine's own, less where the newest was asked for."""
    newest = nearest_range(query.since) in ("day", "week")
    return min(provider.lifetime, LIFETIME_OF_NEWS) if newest else provider.lifetime


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{round(seconds)} s"
    return f"{round(seconds / 60)} min" if seconds < 2 * 3600 else f"{round(seconds / 3600)} h"


async def ask(
    chain: Chain, query: SearchQuery, *, engines: int = 1, fresh: bool = False
) -> ChainResult:
    """Ask a chain, `engines` of it at once where the question is hard (`is_hard`).

    The query's language is told from its words where none was named, unless it is English, which
    engines take for granted. Where everybody says that nothing was found, other forms are asked:
    without the language, as keywords, with the names in quotes. The trail has all of them.
    """
    several = engines if is_hard(query.text) else 1
    attempts: list[SearchAttempt] = []
    for form in _forms(query):
        result = await chain.search(form, several=several, fresh=fresh)
        for attempt in result.attempts:
            if form.lang != query.lang:  # nobody had named it: the trail says so
                detail = f"{attempt.detail}; pages in {form.lang}".removeprefix("; ")
                attempt = replace(attempt, detail=detail)  # noqa: PLW2901 - the same, with a word more
            attempts.append(attempt)
        if result.results or not result.answered:
            break
    return ChainResult(result.results, tuple(attempts))


def _forms(query: SearchQuery) -> Iterator[SearchQuery]:
    """The query as it is, then the forms in which it may find more."""
    language = None if query.lang else question_language(query.text)
    if language not in (None, "en"):
        yield replace(query, lang=language)
    yield query
    for text in rewrites(query.text)[1 : 1 + _MOST_REWRITES]:
        yield replace(query, text=text)


def joined(answers: Sequence[ChainResult], limit: int) -> ChainResult:
    """Merge the answers to several ways of asking; the trail has all of them, in order."""
    found = [answer.results for answer in answers if answer.results]
    trail = tuple(attempt for answer in answers for attempt in answer.attempts)
    return ChainResult(merge(found, limit), trail)
