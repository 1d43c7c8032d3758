"""robots.txt as in RFC 9309: what it allows, what its absence allows, fetched once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from browser.errors import ConnectFailed, DeadlineExceeded, NoAnswer, Refused
from browser.net.pace import HostPace, shared_pace
from browser.net.polite import Polite
from tests.browser.net.servers import Exchange, Origin, greet

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from browser.net.http import HttpClient

    ClientOf = Callable[..., AbstractAsyncContextManager[HttpClient]]

RULES = """\ufeffUser-agent: *
Disallow: /hold
Allow: /hold/open
Crawl-delay: 2

User-agent: Urchin
Disallow: /ours/
Disallow: /*.pdf$
Crawl-delay: 0.5
Request-rate: 1/3
"""


def serving(body: str, status: str = "200 OK") -> Callable[[Exchange], object]:
    async def handle(exchange: Exchange) -> None:
        await exchange.answer(body, status, Content_Type="text/plain")

    return handle


async def refusal(polite: Polite, url: str) -> str:
    try:
        await polite.wait_turn(url, deadline=5)
    except Refused as refused:
        return str(refused)
    return ""


async def allows(http: HttpClient, url: str) -> bool:
    return not await refusal(Polite(http), url)


async def delay_of(http: HttpClient, url: str) -> float | None:
    """Return the seconds between two requests once a page on the host has been requested."""
    pace = HostPace()
    with shared_pace(pace):
        await Polite(http).wait_turn(url, deadline=5)
    return next(iter(pace.delays.values()), None)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", True),
        ("/hold/secret", True),  # the group that names us is the only one that counts
        ("/ours/x", False),
        ("/ours", True),
        ("/tide.pdf", False),
        ("/tide.pdf?x", True),
        ("/robots.txt", True),
    ],
)
async def test_own_user_agent_group_takes_precedence(
    client_of: ClientOf, path: str, allowed: bool
) -> None:
    async with Origin(serving(RULES)) as origin, client_of(origin) as http:
        assert await allows(http, f"{origin.url}{path}") is allowed


async def test_wildcard_group_applies_without_own_group(client_of: ClientOf) -> None:
    rules = RULES.replace("Urchin", "Stranger")
    async with Origin(serving(rules)) as origin, client_of(origin) as http:
        assert not await allows(http, f"{origin.url}/hold/x")
        assert await allows(http, f"{origin.url}/hold/open/x")
        assert await delay_of(http, f"{origin.url}/") == 2.0


async def test_longer_of_crawl_delay_and_request_rate_applies(client_of: ClientOf) -> None:
    async with Origin(serving(RULES)) as origin, client_of(origin) as http:
        assert await delay_of(http, f"{origin.url}/") == 3.0


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone", "401 Unauthorized", "403 No"])
async def test_robots_txt_client_error_allows_all(client_of: ClientOf, status: str) -> None:
    async with Origin(serving("Disallow: /", status)) as origin, client_of(origin) as http:
        assert await allows(http, f"{origin.url}/x")
        assert await delay_of(http, f"{origin.url}/x") is None


@pytest.mark.parametrize("status", ["500 Oops", "503 Busy"])
async def test_robots_txt_server_error_forbids_all(client_of: ClientOf, status: str) -> None:
    async with Origin(serving("", status)) as origin, client_of(origin, retries=0) as http:
        assert "could not fetch the robots.txt" in await refusal(Polite(http), f"{origin.url}/x")


async def test_unreachable_server_raises_connection_error(client_of: ClientOf) -> None:
    async with Origin(greet) as origin:
        pass
    async with client_of(origin, retries=0) as http:
        with pytest.raises((ConnectFailed, NoAnswer)):
            await allows(http, f"{origin.url}/x")


async def test_html_in_place_of_robots_txt_allows_all(client_of: ClientOf) -> None:
    async with Origin(greet) as origin, client_of(origin) as http:
        assert await allows(http, f"{origin.url}/x")


async def test_robots_txt_is_fetched_once_per_origin(client_of: ClientOf) -> None:
    async with (
        Origin(serving("User-agent: *\nDisallow: /hold")) as one,
        Origin(serving("User-agent: *\nDisallow: /hold")) as two,
        client_of(one, two) as http,
    ):
        polite = Polite(http)
        urls = [f"{origin.url}/{n}" for n in range(10) for origin in (one, two)]
        await asyncio.gather(*(polite.wait_turn(url, deadline=5) for url in urls))
    assert [len(one.requests), len(two.requests)] == [1, 1]


async def test_file_url_is_always_allowed(client_of: ClientOf) -> None:
    async with client_of() as http:
        assert await allows(http, "file:///corpus/tide.md")


async def test_failed_robots_txt_fetch_is_retried_on_next_request(client_of: ClientOf) -> None:
    answers = iter(("", RULES))

    async def handle(exchange: Exchange) -> None:
        body = next(answers)
        if body:
            await exchange.answer(body, Content_Type="text/plain")
        else:
            exchange.writer.close()

    async with Origin(handle) as origin, client_of(origin, retries=0) as http:
        polite = Polite(http)
        with pytest.raises((ConnectFailed, NoAnswer)):
            await polite.wait_turn(f"{origin.url}/x", deadline=5)
        assert await refusal(polite, f"{origin.url}/x") == ""
        assert "does not allow" in await refusal(polite, f"{origin.url}/ours/x")


async def test_robots_txt_fetch_shares_page_deadline(client_of: ClientOf) -> None:
    async def silent(exchange: Exchange) -> None:
        await exchange.reader.read()

    async with Origin(silent) as origin, client_of(origin) as http:
        with pytest.raises(DeadlineExceeded):
            await Polite(http).get(f"{origin.url}/x", deadline=0.1)
