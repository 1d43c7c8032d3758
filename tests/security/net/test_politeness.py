"""robots.txt, crawl delays and Retry-After are obeyed, even by eight workers on one host."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from statistics import median

import pytest

from browser.errors import DeadlineExceeded, Refused
from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from browser.net.polite import Polite
from browser.net.url import netloc
from tests.browser.net.servers import Exchange, Origin

pytestmark = pytest.mark.row(n=26)

DELAY = 0.05
WORKERS, PAGES = 8, 16


class Site:
    """A host with rules, which records when pages were requested (s)."""

    def __init__(self, rules: str = "") -> None:
        self.rules = rules
        self.starts: list[float] = []
        self.rest = ""

    async def __call__(self, exchange: Exchange) -> None:
        if exchange.target == "/robots.txt":
            await exchange.answer(self.rules)
            return
        self.starts.append(asyncio.get_running_loop().time())
        rest, self.rest = self.rest, ""
        if rest:
            await exchange.answer("later", "429 Too Many Requests", Retry_After=rest)
        else:
            await exchange.answer("page")


async def test_concurrent_workers_respect_crawl_delay() -> None:
    site = Site(f"User-agent: *\nCrawl-delay: {DELAY}\n")
    async with (
        Origin(site) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress) as http,
    ):
        polite = Polite(http)
        todo = iter(range(PAGES))

        async def work() -> None:
            for n in todo:
                await polite.get(f"{origin.url}/{n}")

        await asyncio.gather(*(work() for _ in range(WORKERS)))
    gaps = [later - earlier for earlier, later in pairwise(site.starts)]
    assert len(site.starts) == PAGES
    # the server sees arrivals: on a busy machine, one may be late and the next one punctual
    assert median(gaps) >= DELAY * 0.95
    assert site.starts[-1] - site.starts[0] >= DELAY * (PAGES - 1) * 0.95


async def test_disallowed_page_is_never_requested() -> None:
    site = Site("User-agent: *\nDisallow: /private\n")
    async with (
        Origin(site) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress) as http,
    ):
        polite = Polite(http)
        with pytest.raises(Refused, match=r"robots\.txt"):
            await polite.get(f"{origin.url}/private/x")
        assert site.starts == []
        assert (await Polite(http, obey_robots=False).get(f"{origin.url}/private/x")).ok


async def test_retry_after_applies_to_all_workers() -> None:
    site = Site()
    site.rest = "1"
    async with (
        Origin(site) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress, retries=0) as http,
    ):
        polite = Polite(http)
        assert (await polite.get(f"{origin.url}/first")).status == 429
        await asyncio.gather(*(polite.get(f"{origin.url}/{n}") for n in range(WORKERS)))
    assert site.starts[1] - site.starts[0] >= 0.95


async def test_retry_after_beyond_deadline_fails_immediately() -> None:
    site = Site()
    site.rest = "3600"
    async with (
        Origin(site) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress) as http,
    ):
        polite = Polite(http)
        await polite.get(f"{origin.url}/first")
        with pytest.raises(DeadlineExceeded, match=f"{netloc(origin.url)} asks clients to wait"):
            await polite.get(f"{origin.url}/second", deadline=5)
    assert len(site.starts) == 1
