"""The chain: order, rests over runs, several engines at once, the cache, the trail."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from browser.errors import SearchError
from browser.search import Chain, SearchCache, build_providers
from browser.search.merge import merge
from browser.search.pace import Pace
from browser.search.rests import Rests
from browser.types import Outcome, SearchPage, SearchQuery, SearchResult
from tests.browser.search.pages import ROWS, Row, results_page
from tests.browser.search.stand_in import Reply, StandIn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    OpenChain = Callable[..., Chain]

QUERY = SearchQuery("tides at Port Elm")
HOUR = 3600.0


@dataclass
class Clock:
    """Time that passes when the test says so."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rests(clock: Clock) -> Iterator[Rests]:
    with closing(Rests(clock=clock)) as rests:
        yield rests


@dataclass
class Fixed:
    """A source that answers what it is told to."""

    name: str
    page: SearchPage
    lifetime: float = HOUR
    interval: float = 0.0
    asked: list[str] = field(default_factory=list)

    @property
    def identity(self) -> str:
        return self.name

    def unavailable(self) -> str:
        return ""

    async def search(self, query: SearchQuery, http: object, *, deadline: float) -> SearchPage:
        self.asked.append(query.text)
        return self.page


def hits(*urls: str, snippet: str = "") -> SearchPage:
    found = (SearchResult(u, f"Title of {u}", snippet, "x", n) for n, u in enumerate(urls, 1))
    return SearchPage(Outcome.OK, tuple(found))


def failing(outcome: Outcome, retry_after: float | None = None) -> SearchPage:
    return SearchPage(outcome, detail="as told", retry_after=retry_after)


async def test_first_good_answer_ends_the_chain(open_chain: OpenChain) -> None:
    first, second = Fixed("a", hits("https://a.example/")), Fixed("b", hits("https://b.example/"))

    result = await open_chain([first, second]).search(QUERY)

    assert [r.url for r in result.results] == ["https://a.example/"]
    assert second.asked == []
    assert result.provider == "a"
    assert result.answered


async def test_everything_failing_names_each_engine_and_is_no_answer(open_chain: OpenChain) -> None:
    chain = open_chain(
        [Fixed("a", failing(Outcome.BLOCKED)), Fixed("b", failing(Outcome.RATE_LIMITED))]
    )

    result = await chain.search(QUERY)

    trail = [(a.provider, a.outcome, a.detail) for a in result.attempts]
    assert trail == [("a", Outcome.BLOCKED, "as told"), ("b", Outcome.RATE_LIMITED, "as told")]
    assert not result.answered
    assert result.results == ()


async def test_nothing_found_anywhere_is_an_answer(open_chain: OpenChain) -> None:
    result = await open_chain([Fixed("a", SearchPage(Outcome.EMPTY))]).search(QUERY)

    assert result.answered
    assert result.results == ()


async def test_a_blocked_engine_rests_over_runs_and_the_trail_says_why(
    open_chain: OpenChain, tmp_path: Path
) -> None:
    state = tmp_path / "data" / "rests.db"
    blocked = Fixed("a", failing(Outcome.BLOCKED))
    other = Fixed("b", hits("https://b.example/"))
    first = open_chain([blocked, other], state)
    await first.search(QUERY)
    first.close()

    second = open_chain([blocked, other], state)
    result = await second.search(QUERY)
    second.close()

    assert blocked.asked == [QUERY.text]
    assert [a.outcome for a in result.attempts] == [Outcome.SKIPPED, Outcome.OK]
    assert "rests 15 min more after blocked" in result.attempts[0].detail


async def test_a_slow_engine_is_asked_again_only_when_the_others_give_nothing(
    open_chain: OpenChain,
) -> None:
    slow = Fixed("slow", failing(Outcome.TIMEOUT))
    other = Fixed("other", hits("https://b.example/"))
    chain = open_chain([slow, other])
    await chain.search(QUERY)
    await chain.search(QUERY)
    assert len(slow.asked) == 1

    other.page = failing(Outcome.BLOCKED)
    slow.page = hits("https://late.example/")
    result = await chain.search(QUERY)

    assert [r.url for r in result.results] == ["https://late.example/"]
    assert [(a.provider, a.outcome) for a in result.attempts] == [
        ("other", Outcome.BLOCKED),
        ("slow", Outcome.OK),
    ]


async def test_an_engine_without_key_or_address_is_passed_over_with_the_reason(
    open_chain: OpenChain, engines: StandIn
) -> None:
    engines.replies["/html/"] = Reply(results_page("duckduckgo"))
    providers = build_providers(["serper", "searxng", "ddg"], urls={"ddg": engines.url()}, keys={})

    result = await open_chain(providers).search(QUERY)

    assert [(a.outcome, a.detail) for a in result.attempts] == [
        (Outcome.SKIPPED, "no key; set SERPER_API_KEY"),
        (Outcome.SKIPPED, "no address; give --searxng-url"),
        (Outcome.OK, ""),
    ]


async def test_an_address_that_is_refused_is_an_error_that_says_how_to_allow_it(
    open_chain: OpenChain,
) -> None:
    providers = build_providers(["ddg"], urls={"ddg": "http://10.1.2.3/"})

    result = await open_chain(providers).search(QUERY)

    assert result.attempts[0].outcome is Outcome.ERROR
    assert "--allow-private" in result.attempts[0].detail


async def test_several_engines_are_merged_by_reciprocal_rank(open_chain: OpenChain) -> None:
    one = Fixed("one", hits("https://a.example/", "https://b.example/"))
    two = Fixed("two", failing(Outcome.BLOCKED))
    three = Fixed("three", hits("https://b.example/?utm_source=x", "https://c.example/"))
    four = Fixed("four", hits("https://d.example/"))

    result = await open_chain([one, two, three, four]).search(QUERY, several=2)

    assert result.results[0].url == "https://b.example/"
    assert len(result.results) == 3
    assert [r.rank for r in result.results] == [1, 2, 3]
    assert four.asked == []
    assert result.provider == "one+three"


async def test_a_kept_answer_spares_the_engine_and_fresh_goes_round_it(
    open_chain: OpenChain, tmp_path: Path
) -> None:
    source = Fixed("a", hits("https://a.example/"))
    chain = open_chain([source], cache=SearchCache(tmp_path / "cache.db"))

    await chain.search(QUERY)
    again = await chain.search(SearchQuery("  Tides at   port elm "))
    assert len(source.asked) == 1
    assert again.attempts[0].detail == "cached"
    assert again.results[0].url == "https://a.example/"

    await chain.search(QUERY, fresh=True)
    assert len(source.asked) == 2
    await chain.search(SearchQuery(QUERY.text, lang="de"))
    assert len(source.asked) == 3


async def test_a_kept_answer_serves_while_its_engine_rests(
    open_chain: OpenChain, tmp_path: Path
) -> None:
    source = Fixed("a", hits("https://a.example/"))
    chain = open_chain([source], cache=SearchCache(tmp_path / "cache.db"))
    await chain.search(QUERY)
    source.page = failing(Outcome.BLOCKED)
    await chain.search(SearchQuery("another"))

    result = await chain.search(QUERY)

    assert result.attempts[0].outcome is Outcome.OK


def test_the_cache_lets_answers_go_after_their_lifetime(tmp_path: Path) -> None:
    clock = Clock()
    cache = SearchCache(tmp_path / "cache.db", clock=clock)
    cache.put("a", QUERY, hits("https://a.example/"), HOUR)

    clock.now += HOUR - 1
    assert cache.get("a", QUERY) is not None
    clock.now += 2
    assert cache.get("a", QUERY) is None
    cache.close()


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.OK])
def test_the_cache_keeps_no_failure(outcome: Outcome, tmp_path: Path) -> None:
    cache = SearchCache(tmp_path / "cache.db")
    results = hits("https://a.example/").results

    cache.put("a", QUERY, SearchPage(outcome, results), HOUR)

    assert cache.get("a", QUERY) is None
    cache.close()


def test_a_damaged_cache_is_made_anew_and_an_unwritable_one_says_so(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_bytes(b"no database " * 500)
    SearchCache(tmp_path / "cache.db").close()
    (tmp_path / "file").write_text("")

    with pytest.raises(SearchError) as failure:
        SearchCache(tmp_path / "file" / "cache.db")
    assert "--data-dir" in failure.value.hint


@pytest.mark.parametrize(
    ("page", "seconds"),
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
def test_how_long_an_engine_rests(page: SearchPage, seconds: float, rests: Rests) -> None:

    rests.note("a", page)

    rest = rests.of("a")
    assert rest is not None
    assert rests.left(rest) == seconds


def test_a_wall_met_again_doubles_the_rest_up_to_a_day(rests: Rests, clock: Clock) -> None:
    waits = []
    for _ in range(9):
        rests.note("a", failing(Outcome.BLOCKED))
        rest = rests.of("a")
        assert rest is not None
        waits.append(rests.left(rest) / 60)
        clock.now = rest.until + 1

    assert waits == [15, 30, 60, 120, 240, 480, 960, 1440, 1440]


@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.EMPTY])
def test_an_honest_answer_ends_the_rest_and_its_history(outcome: Outcome, rests: Rests) -> None:
    rests.note("a", failing(Outcome.BLOCKED))
    rests.note("a", SearchPage(outcome))
    assert rests.of("a") is None

    rests.note("a", failing(Outcome.BLOCKED))
    rest = rests.of("a")
    assert rest is not None
    assert rest.times == 1


def test_another_key_or_address_is_another_engine_to_rest() -> None:
    (one,) = build_providers(["serper"], keys={"serper": "old"})
    (two,) = build_providers(["serper"], keys={"serper": "new"})
    (three,) = build_providers(["serper"], keys={"serper": "new"}, urls={"serper": "http://x.test"})

    assert len({one.identity, two.identity, three.identity}) == 3
    assert "old" not in one.identity


def test_mirrors_and_telephone_pages_are_folded() -> None:
    said = "The harbour of Port Elm was dug by hand between 1804 and 1811, says the plaque."
    one = [SearchResult("https://en.wiki.example/elm", "Port Elm", said, "a", 1)]
    two = [SearchResult("https://mirror.example/elm", "Port Elm", said, "b", 1)]
    three = [SearchResult("https://m.wiki.example/tide?utm_medium=x", "Tide", "", "c", 1)]
    four = [SearchResult("http://www.wiki.example/tide/", "Tide", "longer", "d", 1)]

    merged = merge([one, two, three, four], 10)

    assert [r.provider for r in merged] == ["a+b", "c+d"]
    assert merged[1].snippet == "longer"


def test_one_site_does_not_crowd_out_the_others() -> None:
    many = [SearchResult(f"https://big.example/{n}", f"Big {n}", "", "a", n) for n in range(1, 9)]
    few = [SearchResult(f"https://s{n}.test/", f"Small {n}", "", "b", n) for n in range(1, 4)]

    merged = merge([many, few], 6)

    assert sum("big.example" in r.url for r in merged) == 3
    assert len(merged) == 6
    assert [r.url for r in merge([many], 8)] == [r.url for r in many]


async def test_turns_lie_an_interval_apart_and_far_ones_are_not_waited_for() -> None:
    pace = Pace()

    assert await pace.turn("a", 60.0, patience=1.0) == 0.0
    assert await pace.turn("b", 60.0, patience=1.0) == 0.0
    assert await pace.turn("a", 60.0, patience=1.0) == pytest.approx(60.0, abs=1.0)


async def test_an_engine_asked_too_often_is_skipped_and_does_not_rest(
    open_chain: OpenChain,
) -> None:
    busy = Fixed("busy", hits("https://a.example/"), interval=60.0)
    chain = open_chain([busy, Fixed("b", hits("https://b.example/"))])
    await chain.search(QUERY)

    result = await chain.search(QUERY)

    assert [a.outcome for a in result.attempts] == [Outcome.SKIPPED, Outcome.OK]
    assert "next turn" in result.attempts[0].detail
    assert chain.rests.of("busy") is None


async def test_an_instance_without_json_is_read_as_a_page(
    open_chain: OpenChain, engines: StandIn
) -> None:
    rows = "".join(
        f'<article class="result"><a class="url_header" href="{r.url}">x › y</a>'
        f'<h3><a href="{r.url}">{r.title}</a></h3><p class="content">{r.snippet}</p></article>'
        for r in (Row("https://a.example/", "A", "About the letter A."), ROWS[2])
    )

    class Picky(dict[str, Reply]):
        """JSON is refused, the page is not."""

        def get(self, path: str, default: Reply | None = None) -> Reply:
            last = engines.asked[path][-1]
            if last.query.get("format") == ["json"]:
                return Reply("403 Forbidden", 403)
            return Reply(f'<html><body><div id="urls">{rows}</div></body></html>')

    engines.replies, plain = Picky(), engines.replies
    providers = build_providers(["searxng"], urls={"searxng": engines.url("/searx")})

    result = await open_chain(providers).search(QUERY)
    engines.replies = plain

    assert [r.title for r in result.results] == ["A", "Gulls of the coast"]
    assert [a.path for a in engines.asked["/searx/search"]] == ["/searx/search"] * 2


async def test_stand_in_named_by_host_alone_is_found_at_either_path_of_serper(
    open_chain: OpenChain, engines: StandIn
) -> None:
    engines.replies["/serper"] = Reply(results_page("serper"))
    providers = build_providers(["serper"], urls={"serper": engines.url()}, keys={"serper": "k"})

    result = await open_chain(providers).search(QUERY)

    assert result.attempts[0].outcome is Outcome.OK
    assert engines.asked["/serper"][0].headers["x-api-key"] == "k"
