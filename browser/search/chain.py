"""The search chain: queries engines in order until one answers, and keeps a trail of attempts."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby, islice
from typing import TYPE_CHECKING

from browser.net.pace import current_pace
from browser.search.query import is_hard, rewrites
from browser.search.results import merge, nearest_range
from browser.search.state import EngineCooldowns
from browser.text.languages import question_language
from browser.types import Outcome, SearchAttempt, SearchPage, SearchQuery, SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from browser.net.http import HttpClient
    from browser.search.provider import SearchSource
    from browser.search.state import SearchCache


# Seconds. An engine answers in 0.3-2 s; after 8 s, it is better to query the next one.
DEADLINE = 8.0
# Seconds. A repeated query for the last few days should return new results.
NEWS_LIFETIME_S = 600.0
# Maximum share of the deadline spent waiting for an engine's next turn.
_MAX_WAIT_SHARE = 0.5
# Maximum number of rewritten queries to try if nothing was found; a third one has never helped.
_MAX_REWRITES = 2


class Local(StrEnum):
    """How a search treats local sources, such as the user's folder.

    `FIRST`: they are queried first, and the engines only if none of them answers. `BESIDE`: both
    they and the engines are queried. `ONLY`: no engine is queried. `NEVER`: they are not queried.
    """

    FIRST = "first"
    BESIDE = "beside"
    ONLY = "only"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class ChainResult:
    """The outcome of a search: the results found, and one attempt for each engine considered."""

    results: tuple[SearchResult, ...]
    attempts: tuple[SearchAttempt, ...]

    @property
    def answered(self) -> bool:
        """Whether any engine gave a real answer, including "nothing found"."""
        return any(attempt.outcome in (Outcome.OK, Outcome.EMPTY) for attempt in self.attempts)

    @property
    def provider(self) -> str:
        """The engines that returned the results, joined by `+`."""
        answered = (a.provider for a in self.attempts if a.outcome is Outcome.OK)
        return "+".join(dict.fromkeys(answered))


class Chain:
    """Queries `providers` in order over `http`.

    `state` is the file that stores the engines' cooldowns; `cache` keeps successful answers for
    their lifetime. Both are optional. `deadline` applies to each engine, in seconds. Inside
    `shared_pace`, turns and cooldowns are shared with other chains.
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
        self.cooldowns = EngineCooldowns(state)
        self._http = http
        self._cache = cache
        self._deadline = deadline
        self._pace = current_pace()

    async def search(
        self,
        query: SearchQuery,
        *,
        engines: int = 1,
        fresh: bool = False,
        local: Local = Local.FIRST,
    ) -> ChainResult:
        """Query engines, up to `engines` at once, until that many have returned results.

        `fresh` skips the cache. An engine that is unavailable or in a cooldown is skipped, and the
        reason is added to the trail. An engine in a soft cooldown (it was recently slow or broken)
        is still queried if no other engine answered.
        """
        run = _SearchState(query, engines, fresh=fresh, local=local)
        left_out = {Local.ONLY: False, Local.NEVER: True}.get(local)
        providers = [one for one in self.providers if one.local is not left_out]
        await self._query_until_enough(providers, run)
        if run.soft and not run.result().answered:
            await self._query_until_enough(tuple(run.soft), run, even_soft=True)
        return run.result()

    def close(self) -> None:
        """Close the providers, the state file and the cache file."""
        for provider in self.providers:
            provider.close()
        self.cooldowns.close()
        if self._cache is not None:
            self._cache.close()

    async def _query_until_enough(
        self, providers: Sequence[SearchSource], run: _SearchState, *, even_soft: bool = False
    ) -> None:
        # Local sources are queried one by one, because one answer may be enough.
        for local, group in groupby(providers, key=lambda provider: provider.local):
            queue = (p for p in group if self._is_available(p, run, even_soft=even_soft))
            while batch := tuple(islice(queue, min(run.missing, 1) if local else run.missing)):
                answers = await asyncio.gather(*(self._query(p, run) for p in batch))
                for provider, (page, seconds) in zip(batch, answers, strict=True):
                    run.add(provider, page, seconds)

    def _is_available(self, provider: SearchSource, run: _SearchState, *, even_soft: bool) -> bool:
        """Whether an engine can be queried; if not, the reason is added to the trail."""
        reason = provider.unavailable()
        if not reason:
            cooldown = self.cooldowns.current(provider.identity)
            if cooldown and not self._cached(provider, run) and not (cooldown.soft and even_soft):
                seconds = self.cooldowns.remaining(cooldown)
                reason = (
                    f"paused for another {_format_span(seconds)} after {cooldown.outcome.value}"
                )
                if cooldown.soft:
                    run.soft.append(provider)
        if reason:
            run.add(provider, SearchPage(Outcome.SKIPPED, detail=reason), 0.0)
        return not reason

    async def _query(self, provider: SearchSource, run: _SearchState) -> tuple[SearchPage, float]:
        """Return an engine's answer, cached or new, and the seconds it took."""
        started = time.monotonic()
        page = self._cached(provider, run)
        if page is None:
            page = await self._query_engine(provider, run.query)
        return page, time.monotonic() - started

    async def _query_engine(self, provider: SearchSource, query: SearchQuery) -> SearchPage:
        patience = self._deadline * _MAX_WAIT_SHARE
        if wait := await self._pace.turn(provider.identity, provider.interval, patience):
            detail = f"queried too often; the next query is possible in {wait:.0f} s"
            return SearchPage(Outcome.SKIPPED, detail=detail)
        try:
            async with asyncio.timeout(self._deadline):
                page = await provider.search(query, self._http, deadline=self._deadline)
        except TimeoutError:
            page = SearchPage(Outcome.TIMEOUT, detail=f"no answer within {self._deadline:g} s")
        try:
            self.cooldowns.record(provider.identity, page)
            if self._cache is not None:
                self._cache.put(provider.identity, query, page, cache_lifetime(provider, query))
        except sqlite3.OperationalError as error:
            # If the disk is full, the answer is still valid; it just cannot be stored.
            page = replace(page, detail=f"{page.detail} (not stored: {error})".strip())
        # Other workers that share the pace but not the state file must also pause the engine.
        cooldown = self.cooldowns.current(provider.identity)
        if cooldown is not None and not cooldown.soft:
            await self._pace.start_cooldown(provider.identity, self.cooldowns.remaining(cooldown))
        return page

    def _cached(self, provider: SearchSource, run: _SearchState) -> SearchPage | None:
        if self._cache is None or run.fresh:
            return None
        return self._cache.get(provider.identity, run.query)


class _SearchState:
    """The state of one search: the pages so far and the trail."""

    def __init__(self, query: SearchQuery, engines: int, *, fresh: bool, local: Local) -> None:
        self.query = query
        self.fresh = fresh
        self._local = local
        self.soft: list[SearchSource] = []  # skipped because of a soft cooldown
        self._engines = engines
        self._pages: list[SearchPage] = []
        self._counted = 0
        self._trail: dict[str, SearchAttempt] = {}

    @property
    def missing(self) -> int:
        """The number of engines that must still return results."""
        return max(0, self._engines - self._counted)

    def add(self, provider: SearchSource, page: SearchPage, seconds: float) -> None:
        """Add an engine's answer: its results, and an attempt in the trail."""
        if page.outcome is Outcome.OK:
            self._pages.append(page)
            self._counted += not provider.local
            if provider.local and self._local is Local.FIRST:
                self._engines = 0
        self._trail.pop(provider.name, None)  # a second attempt moves to the end
        self._trail[provider.name] = SearchAttempt(
            query=self.query.text,
            provider=provider.name,
            outcome=page.outcome,
            results=len(page.results),
            ms=round(seconds * 1000),
            detail=page.detail,
        )

    def result(self) -> ChainResult:
        """Merge the results so far."""
        lists = [page.results for page in self._pages]
        return ChainResult(merge(lists, self.query.limit), tuple(self._trail.values()))


def cache_lifetime(provider: SearchSource, query: SearchQuery) -> float:
    """How many seconds an answer may be cached: the engine's value, or less for recent pages."""
    newest = nearest_range(query.since) in ("day", "week")
    return min(provider.lifetime, NEWS_LIFETIME_S) if newest else provider.lifetime


def _format_span(seconds: float) -> str:
    if seconds < 90:
        return f"{round(seconds)} s"
    if seconds < 2 * 3600:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h"


async def search_with_rewrites(
    chain: Chain,
    query: SearchQuery,
    *,
    engines: int = 1,
    fresh: bool = False,
    local: Local = Local.FIRST,
) -> ChainResult:
    """Search a chain; if the question is hard (`is_hard`), query `engines` engines at once.

    If the query has no language, it is detected from the words; English is not set, because it is
    the engines' default. If no engine found anything, variants of the query are tried: without the
    language, as keywords, with names in quotes. The trail contains the attempts for all variants.
    """
    wanted = engines if is_hard(query.text) else 1
    attempts: list[SearchAttempt] = []
    for form in _query_forms(query):
        result = await chain.search(form, engines=wanted, fresh=fresh, local=local)
        for attempt in result.attempts:
            if form.lang != query.lang:  # the caller did not specify it, so the trail mentions it
                detail = f"{attempt.detail}; pages in {form.lang}".removeprefix("; ")
                attempt = replace(attempt, detail=detail)  # noqa: PLW2901 - adds a detail
            attempts.append(attempt)
        if result.results or not result.answered:
            break
    return ChainResult(result.results, tuple(attempts))


def _query_forms(query: SearchQuery) -> Iterator[SearchQuery]:
    """Yield the query, then variants of it that may find more."""
    language = None if query.lang else question_language(query.text)
    if language not in (None, "en"):
        yield replace(query, lang=language)
    yield query
    for text in rewrites(query.text)[1 : 1 + _MAX_REWRITES]:
        yield replace(query, text=text)


def merge_answers(answers: Sequence[ChainResult], limit: int) -> ChainResult:
    """Merge the answers to several queries; the trail contains all attempts, in order."""
    found = [answer.results for answer in answers if answer.results]
    trail = tuple(attempt for answer in answers for attempt in answer.attempts)
    return ChainResult(merge(found, limit), trail)
