"""The chain: order, cooldowns across runs, several engines at once, the cache, the trail."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from browser.errors import BrowserGone
from browser.search import SearchCache, build_providers
from browser.types import Outcome, SearchPage, SearchQuery
from tests.browser.search.pages import ROWS, Row, results_page
from tests.browser.search.sources import QUERY, Fixed, failing, hits
from tests.browser.search.stand_in import Reply, StandIn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from browser.search import Chain

    OpenChain = Callable[..., Chain]


async def test_chain_stops_at_first_good_answer(open_chain: OpenChain) -> None:
    first, second = Fixed("a", hits("https://a.example/")), Fixed("b", hits("https://b.example/"))

    result = await open_chain([first, second]).search(QUERY)

    assert [r.url for r in result.results] == ["https://a.example/"]
    assert second.asked == []
    assert result.provider == "a"
    assert result.answered


async def test_failure_of_all_engines_lists_each_and_is_unanswered(open_chain: OpenChain) -> None:
    chain = open_chain(
        [Fixed("a", failing(Outcome.BLOCKED)), Fixed("b", failing(Outcome.RATE_LIMITED))]
    )

    result = await chain.search(QUERY)

    trail = [(a.provider, a.outcome, a.detail) for a in result.attempts]
    assert trail == [("a", Outcome.BLOCKED, "as told"), ("b", Outcome.RATE_LIMITED, "as told")]
    assert not result.answered
    assert result.results == ()


async def test_empty_results_count_as_an_answer(open_chain: OpenChain) -> None:
    result = await open_chain([Fixed("a", SearchPage(Outcome.EMPTY))]).search(QUERY)

    assert result.answered
    assert result.results == ()


async def test_blocked_engine_cools_down_across_runs(open_chain: OpenChain, tmp_path: Path) -> None:
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
    assert "paused for another 15 min after blocked" in result.attempts[0].detail


async def test_slow_engine_is_retried_only_if_others_find_nothing(
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


async def test_engine_without_key_or_address_is_skipped_with_reason(
    open_chain: OpenChain, engines: StandIn
) -> None:
    engines.replies["/html/"] = Reply(results_page("duckduckgo"))
    providers = build_providers(["serper", "searxng", "ddg"], urls={"ddg": engines.url()}, keys={})

    result = await open_chain(providers).search(QUERY)

    assert [(a.outcome, a.detail) for a in result.attempts] == [
        (Outcome.SKIPPED, "no key; set SERPER_API_KEY"),
        (Outcome.SKIPPED, "no address; set --searxng-url"),
        (Outcome.OK, ""),
    ]


async def test_refused_address_explains_how_to_allow_it(
    open_chain: OpenChain,
) -> None:
    providers = build_providers(["ddg"], urls={"ddg": "http://10.1.2.3/"})

    result = await open_chain(providers).search(QUERY)

    assert result.attempts[0].outcome is Outcome.REFUSED
    assert "--allow-private" in result.attempts[0].detail


async def test_multiple_engines_are_merged_by_reciprocal_rank(open_chain: OpenChain) -> None:
    one = Fixed("one", hits("https://a.example/", "https://b.example/"))
    two = Fixed("two", failing(Outcome.BLOCKED))
    three = Fixed("three", hits("https://b.example/?utm_source=x", "https://c.example/"))
    four = Fixed("four", hits("https://d.example/"))

    result = await open_chain([one, two, three, four]).search(QUERY, engines=2)

    assert result.results[0].url == "https://b.example/"
    assert len(result.results) == 3
    assert four.asked == []
    assert result.provider == "one+three"


async def test_cached_answer_skips_engine_unless_fresh(
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


async def test_cached_answer_is_served_during_cooldown(
    open_chain: OpenChain, tmp_path: Path
) -> None:
    source = Fixed("a", hits("https://a.example/"))
    chain = open_chain([source], cache=SearchCache(tmp_path / "cache.db"))
    await chain.search(QUERY)
    source.page = failing(Outcome.BLOCKED)
    await chain.search(SearchQuery("another"))

    result = await chain.search(QUERY)

    assert result.attempts[0].outcome is Outcome.OK


async def test_engine_queried_too_often_is_skipped_without_cooldown(
    open_chain: OpenChain,
) -> None:
    busy = Fixed("busy", hits("https://a.example/"), interval=60.0)
    chain = open_chain([busy, Fixed("b", hits("https://b.example/"))])
    await chain.search(QUERY)

    result = await chain.search(QUERY)

    assert [a.outcome for a in result.attempts] == [Outcome.SKIPPED, Outcome.OK]
    assert "next query" in result.attempts[0].detail
    assert chain.cooldowns.current("busy") is None


async def test_searxng_without_json_is_parsed_as_html(
    open_chain: OpenChain, engines: StandIn
) -> None:
    rows = "".join(
        f'<article class="result"><a class="url_header" href="{r.url}">x › y</a>'
        f'<h3><a href="{r.url}">{r.title}</a></h3><p class="content">{r.snippet}</p></article>'
        for r in (Row("https://a.example/", "A", "About the letter A."), ROWS[2])
    )

    class Picky(dict[str, Reply]):
        """JSON is refused, but the page is not."""

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


async def test_serper_url_without_path_is_accepted(open_chain: OpenChain, engines: StandIn) -> None:
    engines.replies["/serper"] = Reply(results_page("serper"))
    providers = build_providers(["serper"], urls={"serper": engines.url()}, keys={"serper": "k"})

    result = await open_chain(providers).search(QUERY)

    assert result.attempts[0].outcome is Outcome.OK
    assert engines.asked["/serper"][0].headers["x-api-key"] == "k"


async def test_browser_engine_uses_same_parser(open_chain: OpenChain, engines: StandIn) -> None:
    opened = []

    async def render(url: str, deadline: float) -> tuple[str, str]:
        opened.append(url)
        return url, results_page("bing")

    async def broken(url: str, deadline: float) -> tuple[str, str]:
        raise BrowserGone("the browser was killed", hint="Start it again.")

    result = await open_chain(build_providers(["bing_browser"], render=render)).search(QUERY)
    failed = await open_chain(build_providers(["bing_browser"], render=broken)).search(QUERY)
    without = await open_chain(build_providers(["bing_browser"])).search(QUERY)

    assert [r.url for r in result.results] == [row.url for row in ROWS]
    assert {r.provider for r in result.results} == {"bing_browser"}
    assert opened[0].startswith("https://www.bing.com/search?q=tides")
    assert failed.attempts[0].outcome is Outcome.ERROR
    assert "killed" in failed.attempts[0].detail
    assert without.attempts[0].detail == "no browser"


async def test_results_ignoring_site_filter_are_dropped(
    open_chain: OpenChain, engines: StandIn
) -> None:
    providers = build_providers(
        ["serper"], urls={"serper": engines.url("/s")}, keys={"serper": "k"}
    )
    engines.replies["/s"] = Reply(results_page("serper"))
    chain = open_chain(providers)

    there = await chain.search(SearchQuery("gulls", site="gulls.example"))
    elsewhere = await chain.search(SearchQuery("gulls", site="other.example"))

    assert [r.url for r in there.results] == [ROWS[2].url]
    assert elsewhere.attempts[0].outcome is Outcome.EMPTY
    assert elsewhere.answered


async def test_attempts_never_contain_api_keys(open_chain: OpenChain, engines: StandIn) -> None:
    engines.replies["/s"] = Reply('{"error": "api key s3cr3t-k3y is invalid"}')
    engines.replies["/slow"] = Reply(hangs=True)
    loud = build_providers(
        ["serper"], urls={"serper": engines.url("/s")}, keys={"serper": "s3cr3t-k3y"}
    )
    slow = build_providers(
        ["openalex"], urls={"openalex": engines.url("/slow")}, keys={"openalex": "s3cr3t-k3y"}
    )

    one = await open_chain(loud).search(QUERY)
    two = await open_chain(slow, deadline=0.2).search(QUERY)

    assert one.attempts[0].outcome is Outcome.UNAUTHORIZED
    assert two.attempts[0].outcome is Outcome.TIMEOUT
    assert "s3cr3t" not in f"{one}{two}"


async def test_cache_write_failure_does_not_lose_answer(
    open_chain: OpenChain, tmp_path: Path
) -> None:
    cache = SearchCache(tmp_path / "cache.db")
    with closing(sqlite3.connect(tmp_path / "cache.db")) as db:
        db.execute("DROP TABLE answer")

    result = await open_chain([Fixed("a", hits("https://a.example/"))], cache=cache).search(
        QUERY, fresh=True
    )

    assert [r.url for r in result.results] == ["https://a.example/"]
    assert "not stored" in result.attempts[0].detail
