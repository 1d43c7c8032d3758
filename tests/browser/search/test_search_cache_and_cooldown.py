"""What is kept between runs (cooldowns and answers), and how lists are merged."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from browser.net.pace import HostPace
from browser.search import SearchCache, build_providers
from browser.search.chain import NEWS_LIFETIME_S, cache_lifetime
from browser.search.results import merge
from browser.search.state import EngineCooldowns
from browser.types import Outcome, SearchPage, SearchResult
from tests.browser.search.sources import HOUR, QUERY, Clock, failing, hits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rests(clock: Clock) -> Iterator[EngineCooldowns]:
    with closing(EngineCooldowns(clock=clock)) as rests:
        yield rests


def test_cache_entries_expire(tmp_path: Path) -> None:
    clock = Clock()
    cache = SearchCache(tmp_path / "cache.db", clock=clock)
    cache.put("a", QUERY, hits("https://a.example/"), HOUR)

    clock.now += HOUR - 1
    assert cache.get("a", QUERY) is not None
    clock.now += 2
    assert cache.get("a", QUERY) is None
    cache.close()


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.OK])
def test_cache_does_not_store_failures(outcome: Outcome, tmp_path: Path) -> None:
    cache = SearchCache(tmp_path / "cache.db")
    results = hits("https://a.example/").results

    cache.put("a", QUERY, SearchPage(outcome, results), HOUR)

    assert cache.get("a", QUERY) is None
    cache.close()


def test_damaged_cache_is_recreated_and_unwritable_cache_is_temporary(
    tmp_path: Path,
) -> None:
    (tmp_path / "cache.db").write_bytes(b"this is no database at all, but it is long enough" * 9)
    (tmp_path / "folder.db").mkdir()
    for name in ("cache.db", "folder.db"):
        with closing(SearchCache(tmp_path / name)) as cache:
            cache.put("a", QUERY, hits("https://a.example/"), HOUR)
            assert cache.get("a", QUERY)


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (failing(Outcome.BLOCKED), 900),
        (failing(Outcome.RATE_LIMITED), 180),
        (failing(Outcome.RATE_LIMITED, 42), 42),
        (failing(Outcome.RATE_LIMITED, 10**7), 86400),
        (failing(Outcome.QUOTA), 86400),
        (failing(Outcome.UNAUTHORIZED), 86400),
        (failing(Outcome.TIMEOUT), 180),
        (failing(Outcome.ERROR), 180),
    ],
)
def test_cooldown_length_depends_on_failure(
    answer: SearchPage, seconds: float, rests: EngineCooldowns
) -> None:

    rests.record("a", answer)

    rest = rests.current("a")
    assert rest is not None
    assert rests.remaining(rest) == seconds


def test_repeated_block_doubles_cooldown_up_to_a_day(rests: EngineCooldowns, clock: Clock) -> None:
    waits = []
    for _ in range(9):
        rests.record("a", failing(Outcome.BLOCKED))
        rest = rests.current("a")
        assert rest is not None
        waits.append(rests.remaining(rest) / 60)
        clock.now = rest.until + 1

    assert waits == [15, 30, 60, 120, 240, 480, 960, 1440, 1440]


def test_simultaneous_failures_count_once(rests: EngineCooldowns) -> None:
    rests.record("a", failing(Outcome.BLOCKED))
    rests.record("a", failing(Outcome.BLOCKED))

    rest = rests.current("a")
    assert rest is not None
    assert rests.remaining(rest) == 15 * 60


@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.EMPTY])
def test_successful_answer_resets_cooldown(outcome: Outcome, rests: EngineCooldowns) -> None:
    rests.record("a", failing(Outcome.BLOCKED))
    rests.record("a", SearchPage(outcome))
    assert rests.current("a") is None

    rests.record("a", failing(Outcome.BLOCKED))
    rest = rests.current("a")
    assert rest is not None
    assert rest.times == 1


def test_cooldown_is_separate_per_key_and_address() -> None:
    (one,) = build_providers(["serper"], keys={"serper": "old"})
    (two,) = build_providers(["serper"], keys={"serper": "new"})
    (three,) = build_providers(["serper"], keys={"serper": "new"}, urls={"serper": "http://x.test"})

    assert len({one.identity, two.identity, three.identity}) == 3
    assert "old" not in one.identity


def test_mirrors_and_mobile_pages_are_deduplicated() -> None:
    said = "The harbour of Port Elm was dug by hand between 1804 and 1811, says the plaque."
    one = [SearchResult("https://en.wiki.example/elm", "Port Elm", said, "a", 1)]
    two = [SearchResult("https://mirror.example/elm", "Port Elm", said, "b", 1)]
    three = [SearchResult("https://m.wiki.example/tide?utm_medium=x", "Tide", "", "c", 1)]
    four = [SearchResult("http://www.wiki.example/tide/", "Tide", "longer", "d", 1)]

    merged = merge([one, two, three, four], 10)

    assert [r.provider for r in merged] == ["a+b", "c+d"]
    assert merged[1].snippet == "longer"


def test_one_site_does_not_dominate_merged_results() -> None:
    many = [SearchResult(f"https://big.example/{n}", f"Big {n}", "", "a", n) for n in range(1, 9)]
    few = [SearchResult(f"https://s{n}.test/", f"Small {n}", "", "b", n) for n in range(1, 4)]

    merged = merge([many, few], 6)

    assert sum("big.example" in r.url for r in merged) == 3
    assert len(merged) == 6
    assert [r.url for r in merge([many], 8)] == [r.url for r in many]


async def test_host_pace_spaces_turns_and_returns_long_waits() -> None:
    pace = HostPace()

    assert await pace.turn("a", 60.0, patience=1.0) == 0.0
    assert await pace.turn("b", 60.0, patience=1.0) == 0.0
    assert await pace.turn("a", 60.0, patience=1.0) == pytest.approx(60.0, abs=1.0)


def test_near_identical_snippets_are_deduplicated() -> None:
    said = "the lock keeper opened the gates of port elm again after a long winter of repairs"
    title = "Lock opens"
    first = SearchResult("https://post.example/lock", title, said)
    copy = SearchResult("https://mirror.example/lock", title, f"May 2024 {said}")
    told = "the mayor opened the gates of port elm again after a short summer of strikes by crews"
    other = SearchResult("https://else.example/", title, told)
    merged = merge([(first, other), (copy,)], 10)
    assert [hit.url for hit in merged] == ["https://post.example/lock", "https://else.example/"]


def test_recent_queries_are_cached_only_briefly() -> None:
    engine = build_providers(["arxiv"])[0]
    today = datetime.now(UTC).date()
    recent = replace(QUERY, since=(today - timedelta(days=2)).isoformat())
    assert cache_lifetime(engine, QUERY) == engine.lifetime
    assert cache_lifetime(engine, recent) == NEWS_LIFETIME_S
    assert cache_lifetime(engine, replace(QUERY, since="2001-01-01")) == engine.lifetime
