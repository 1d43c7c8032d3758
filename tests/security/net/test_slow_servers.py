"""Slow heads, slow bodies, loops and floods end at the deadline with a typed error."""

from __future__ import annotations

import asyncio

import pytest

from browser.errors import BadResponse, BrowserError, ConnectFailed, DeadlineExceeded, NoAnswer
from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from tests.browser.net.servers import Exchange, Handler, Origin

pytestmark = pytest.mark.row(n=13)

DEADLINE = 0.3
HANGS = 60.0  # seconds; a working deadline ends far earlier


async def drip(exchange: Exchange, data: bytes) -> None:
    """Send a byte in each loop iteration, as slowly as the reader takes it, forever."""
    while True:
        await exchange.send(data)
        await asyncio.sleep(0.01)  # the hostile server's pace, not the test's


async def slow_headers(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    await drip(exchange, b"x")


async def no_headers(exchange: Exchange) -> None:
    await exchange.reader.read()


async def slow_body(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    await drip(exchange, b"x")


async def slow_chunks(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    await drip(exchange, b"1\r\nx\r\n")


async def slow_redirects(exchange: Exchange) -> None:
    await asyncio.sleep(0.05)
    await exchange.redirect("/again")


async def early_hints_for_ever(exchange: Exchange) -> None:
    while True:
        await exchange.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 10)


async def redirect_with_endless_body(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 9999999\r\n\r\n")
    await drip(exchange, b"x")


@pytest.mark.parametrize(
    "handler",
    [
        slow_headers,
        no_headers,
        slow_body,
        slow_chunks,
        slow_redirects,
        redirect_with_endless_body,
    ],
)
@pytest.mark.sample(2)
async def test_slow_server_ends_at_the_deadline(handler: Handler) -> None:
    async with (
        Origin(handler) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress) as http,
    ):
        async with asyncio.timeout(HANGS):
            with pytest.raises(DeadlineExceeded, match=r"0\.3 s"):
                await http.get(f"{origin.url}/", deadline=DEADLINE)


async def test_redirect_loop_ends() -> None:
    async def loop(exchange: Exchange) -> None:
        await exchange.redirect("/")

    async with (
        Origin(loop) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress) as http,
    ):
        with pytest.raises(BadResponse, match="redirects more than"):
            await http.get(f"{origin.url}/", deadline=5)
    assert len(origin.requests) <= 12


async def test_interim_response_flood_ends() -> None:
    async with (
        Origin(early_hints_for_ever) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress, retries=0) as http,
    ):
        with pytest.raises((BadResponse, ConnectFailed, NoAnswer)):
            await http.get(f"{origin.url}/", deadline=5)


@pytest.mark.parametrize("line", [b"X-Flood: " + b"x" * 100 + b"\r\n", b"x" * 1000])
async def test_header_flood_ends(line: bytes) -> None:
    async def flood(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            await exchange.send(line)

    async with (
        Origin(flood) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress, retries=0) as http,
    ):
        with pytest.raises((BadResponse, ConnectFailed, NoAnswer)):
            await http.get(f"{origin.url}/", deadline=5)


async def test_client_serves_other_requests_while_some_hang() -> None:
    async def mixed(exchange: Exchange) -> None:
        await (exchange.reader.read() if exchange.target == "/stuck" else exchange.answer("ok"))

    async with (
        Origin(mixed) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress, per_host=3) as http,
    ):
        stuck = [http.get(f"{origin.url}/stuck", deadline=DEADLINE) for _ in range(6)]
        fine = [http.get(f"{origin.url}/fine", deadline=5) for _ in range(20)]
        outcomes = await asyncio.gather(*stuck, *fine, return_exceptions=True)
    assert all(isinstance(outcome, BrowserError) for outcome in outcomes[:6])
    assert all(getattr(outcome, "status", 0) == 200 for outcome in outcomes[6:])
