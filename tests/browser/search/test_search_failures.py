"""Every failure in every engine: the right outcome, the next engine asked, nothing cached."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from browser.search import SearchCache, build_providers
from browser.search.declared import Declaration
from browser.search.engines import load
from browser.types import Outcome, SearchQuery
from tests.browser.search.pages import ENGINES, ROWS, empty_page, results_page
from tests.browser.search.stand_in import Reply, StandIn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from browser.search import Chain

CHALLENGE = (
    "<html><head><title>Just a moment...</title></head>"
    '<body><form id="challenge-form"></form></body></html>'
)
CONSENT = (
    "<html><head><title>Before you continue</title></head>"
    '<body><form action="https://consent.search.example/save"></form></body></html>'
)
DRILLS = {
    "captcha": (Reply(CHALLENGE), Outcome.BLOCKED),
    "limited": (Reply("no", 429), Outcome.RATE_LIMITED),
    "limited for a while": (Reply("no", 429, {"Retry-After": "7200"}), Outcome.RATE_LIMITED),
    "broken": (Reply("no", 500), Outcome.ERROR),
    "garbage": (Reply(b"\x00\xff\xfe lorem { [ <"), Outcome.ERROR),
    "consent": (Reply("", 302, {"Location": "/consent"}), Outcome.BLOCKED),
}
DEADLINE = 5.0  # seconds; the other engine answers before it, on a busy machine too
MINUTE = 60
OWN = "mine"
"""An engine that a user declares."""


def chain_of(
    engine: str, engines: StandIn, open_chain: Callable[..., Chain], cache: SearchCache
) -> Chain:
    """The engine under test at `/engine`, then one that always answers at `/next`."""
    after = Declaration("after", engines.url("/next?q={query}"))
    engines.replies["/next"] = Reply(results_page("tavily"))
    engines.replies["/consent"] = Reply(CONSENT)
    path = "/engine/search" if engine == "searxng" else "/engine"
    own = Declaration(OWN, engines.url("/engine?q={query}"))
    providers = build_providers(
        [engine, "after"],
        urls={engine: engines.url(path)} if engine != OWN else {},
        keys={engine: "k"},
        declared=[after, own],
    )
    return open_chain(providers, cache=cache, deadline=DEADLINE)


def answer(engines: StandIn, engine: str, reply: Reply) -> None:
    engines.replies["/engine/search" if engine == "searxng" else "/engine"] = reply


@pytest.fixture
def cache(tmp_path: Path) -> SearchCache:
    return SearchCache(tmp_path / "cache.db")


@pytest.mark.parametrize("engine", [*ENGINES, OWN])
@pytest.mark.parametrize("drill", DRILLS)
@pytest.mark.sample(40)
async def test_engine_failure_is_named_and_next_engine_answers(
    engine: str, drill: str, engines: StandIn, open_chain: Callable[..., Chain], cache: SearchCache
) -> None:
    reply, expected = DRILLS[drill]
    answer(engines, engine, reply)
    chain = chain_of(engine, engines, open_chain, cache)

    result = await chain.search(SearchQuery("tides at Port Elm"))

    assert [attempt.outcome for attempt in result.attempts] == [expected, Outcome.OK]
    assert result.attempts[0].detail
    assert result.provider == "after"
    assert cache.get(chain.providers[0].identity, SearchQuery("tides at Port Elm")) is None
    rest = chain.cooldowns.current(chain.providers[0].identity)
    assert rest is not None
    waits = chain.cooldowns.remaining(rest)
    assert (waits > 100 * MINUTE) == (drill == "limited for a while")
    assert 2 * MINUTE < waits <= 24 * 60 * MINUTE


async def test_timeout_is_named_and_next_engine_answers(
    engines: StandIn, open_chain: Callable[..., Chain], cache: SearchCache
) -> None:
    engines.replies |= dict.fromkeys(("/engine", "/engine/search"), Reply("", hangs=True))
    chains = [chain_of(engine, engines, open_chain, cache) for engine in (*ENGINES, OWN)]

    asking = (chain.search(SearchQuery("tides at Port Elm")) for chain in chains)
    results = await asyncio.gather(*asking)  # all wait for the same deadline

    assert {tuple(a.outcome for a in result.attempts) for result in results} == {
        (Outcome.TIMEOUT, Outcome.OK)
    }
    for chain, result in zip(chains, results, strict=True):
        assert result.attempts[0].detail
        identity = chain.providers[0].identity
        assert cache.get(identity, SearchQuery("tides at Port Elm")) is None
        rest = chain.cooldowns.current(identity)
        assert rest is not None
        assert 2 * MINUTE < chain.cooldowns.remaining(rest) <= 24 * 60 * MINUTE


@pytest.mark.parametrize("engine", ENGINES)
async def test_empty_result_causes_no_cooldown_and_is_not_cached(
    engine: str, engines: StandIn, open_chain: Callable[..., Chain], cache: SearchCache
) -> None:
    answer(engines, engine, Reply(empty_page(engine)))
    chain = chain_of(engine, engines, open_chain, cache)

    result = await chain.search(SearchQuery("tides at Port Elm"))

    assert [attempt.outcome for attempt in result.attempts] == [Outcome.EMPTY, Outcome.OK]
    assert chain.cooldowns.current(chain.providers[0].identity) is None
    assert cache.get(chain.providers[0].identity, SearchQuery("tides at Port Elm")) is None


@pytest.mark.parametrize("engine", ENGINES)
async def test_results_stop_the_chain_and_are_cached(
    engine: str, engines: StandIn, open_chain: Callable[..., Chain], cache: SearchCache
) -> None:
    answer(engines, engine, Reply(results_page(engine)))
    chain = chain_of(engine, engines, open_chain, cache)

    result = await chain.search(SearchQuery("tides at Port Elm"))

    assert [attempt.outcome for attempt in result.attempts] == [Outcome.OK]
    assert not engines.asked["/next"]
    assert len(result.results) == 3
    assert [hit.title for hit in result.results] == [row.title for row in ROWS]
    if engine != "wikipedia":
        assert [hit.snippet for hit in result.results] == [row.snippet for row in ROWS]
    if engine not in ("wikipedia", "reddit"):
        assert [hit.url for hit in result.results] == [row.url for row in ROWS]
    kept = cache.get(chain.providers[0].identity, SearchQuery("tides at Port Elm"))
    assert kept is not None
    assert len(kept.results) == len(ROWS)


@pytest.mark.parametrize("engine", ENGINES)
async def test_forbidden_means_unauthorized_with_keys_else_blocked(
    engine: str, engines: StandIn, open_chain: Callable[..., Chain], cache: SearchCache
) -> None:
    answer(engines, engine, Reply('{"message": "Forbidden."}', 403))
    chain = chain_of(engine, engines, open_chain, cache)

    result = await chain.search(SearchQuery("tides at Port Elm"))

    expected = Outcome.UNAUTHORIZED if load(engine).key_variables else Outcome.BLOCKED
    assert result.attempts[0].outcome is expected
