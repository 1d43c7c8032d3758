"""The HTTP client against real servers: redirects, retries, cookies, limits and typed errors."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from browser.errors import (
    BadResponse,
    ConnectFailed,
    DeadlineExceeded,
    NoAnswer,
    Refused,
    TooLarge,
)
from browser.net.egress import Egress
from browser.net.http import HttpClient
from tests.browser.net.servers import Exchange, Origin, greet

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    ClientOf = Callable[..., AbstractAsyncContextManager[HttpClient]]


async def test_get_returns_status_headers_and_body(client_of: ClientOf) -> None:
    async with Origin(greet) as origin, client_of(origin) as http:
        answer = await http.get(f"{origin.url}/quay#tide", params={"q": "low water", "n": "1"})
    assert (answer.status, answer.ok) == (200, True)
    assert answer.headers["Content-Type"] == answer.content_type == "text/html"
    assert answer.body.endswith(b"Moored.")
    assert origin.requests[0].target == "/quay?q=low+water&n=1"


async def test_requests_carry_browser_headers(client_of: ClientOf) -> None:
    async with Origin(greet) as origin, client_of(origin) as http:
        await http.get(origin.url, headers={"accept-language": "de"})
    headers = origin.requests[0].headers
    assert "Chrome/" in headers["user-agent"]
    assert headers["accept"].startswith("text/html")
    assert headers["accept-language"] == "de"
    assert "python" not in str(headers).lower()


async def test_connections_are_reused(client_of: ClientOf) -> None:
    async with Origin(greet) as origin, client_of(origin) as http:
        for _ in range(5):
            await http.get(origin.url)
    assert origin.connections == 1


async def test_cookies_are_kept_between_calls(client_of: ClientOf) -> None:
    async def hand_out(exchange: Exchange) -> None:
        await exchange.answer("ok", Set_Cookie="berth=7; Path=/")

    async with Origin(hand_out) as origin, client_of(origin) as http:
        await http.get(origin.url)
        await http.get(origin.url)
    assert origin.requests[1].headers["cookie"] == "berth=7"


async def test_json_and_form_bodies_are_posted(client_of: ClientOf) -> None:
    async with Origin(greet) as origin, client_of(origin) as http:
        await http.post(origin.url, json={"knots": 4})
        await http.post(origin.url, form={"q": "low water"})
    first, second = origin.requests
    assert (first.headers["content-type"], json.loads(first.body)) == (
        "application/json",
        {"knots": 4},
    )
    assert second.headers["content-type"] == "application/x-www-form-urlencoded"
    assert second.body == b"q=low+water"


async def test_error_status_is_returned_without_raising(client_of: ClientOf) -> None:
    async def missing(exchange: Exchange) -> None:
        await exchange.answer("gone", "404 Not Found")

    async with Origin(missing) as origin, client_of(origin) as http:
        answer = await http.get(origin.url)
    assert (answer.status, answer.ok, len(origin.requests)) == (404, False, 1)


async def test_invalid_json_raises_bad_response(client_of: ClientOf) -> None:
    async with Origin(greet) as origin, client_of(origin) as http:
        answer = await http.get(origin.url)
    with pytest.raises(BadResponse, match="JSON"):
        answer.json()


async def test_503_is_retried(client_of: ClientOf) -> None:
    async def recover(exchange: Exchange) -> None:
        busy = len(origin.requests) == 1
        await (exchange.answer("", "503 Busy", Retry_After="0") if busy else greet(exchange))

    async with Origin(recover) as origin, client_of(origin) as http:
        assert (await http.get(origin.url)).status == 200


async def test_429_with_retry_after_is_retried(client_of: ClientOf) -> None:
    async def answer(exchange: Exchange) -> None:
        limited = len(origin.requests) < 2
        if limited:
            await exchange.answer("", "429 Too Many Requests", Retry_After="0")
        else:
            await greet(exchange)

    async with Origin(answer) as origin, client_of(origin) as http:
        assert (await http.get(origin.url)).status == 200
    assert len(origin.requests) == 2


async def test_long_retry_after_is_not_waited_for(client_of: ClientOf) -> None:
    async def busy(exchange: Exchange) -> None:
        await exchange.answer("later", "503 Busy", Retry_After="120")

    async with Origin(busy) as origin, client_of(origin) as http:
        answer = await http.get(origin.url)
    assert (answer.status, len(origin.requests)) == (503, 1)


async def test_last_error_response_is_returned_after_retries(client_of: ClientOf) -> None:
    async def busy(exchange: Exchange) -> None:
        await exchange.answer("no", "502 Bad Gateway")

    async with Origin(busy) as origin, client_of(origin, retries=1) as http:
        answer = await http.get(origin.url)
    assert (answer.status, len(origin.requests)) == (502, 2)


async def test_post_is_never_retried(client_of: ClientOf) -> None:
    async def busy(exchange: Exchange) -> None:
        await exchange.answer("no", "503 Busy")

    async with Origin(busy) as origin, client_of(origin) as http:
        assert (await http.post(origin.url, json=1)).status == 503
    assert len(origin.requests) == 1


async def test_dropped_connection_is_retried(client_of: ClientOf) -> None:
    async def drop_first(exchange: Exchange) -> None:
        if len(origin.requests) == 1:
            exchange.writer.transport.abort()
        else:
            await greet(exchange)

    async with Origin(drop_first) as origin, client_of(origin) as http:
        assert (await http.get(origin.url)).status == 200


async def test_closed_port_raises_connect_failed(client_of: ClientOf) -> None:
    async with Origin(greet) as origin:
        pass
    async with client_of(origin, retries=0) as http:
        with pytest.raises(ConnectFailed, match=str(origin.port)):
            await http.get(origin.url)


async def test_unknown_name_raises_connect_failed_without_retry() -> None:
    asked: list[str] = []

    async def nothing(host: str) -> tuple:
        asked.append(host)
        return ()

    async with Egress(resolve=nothing) as egress, HttpClient(egress) as http:
        for scheme in ("http", "https"):
            with pytest.raises(ConnectFailed, match=r"quay\.test"):
                await http.get(f"{scheme}://quay.test/")
    assert asked == ["quay.test", "quay.test"]


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 xx OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
async def test_malformed_http_raises(client_of: ClientOf, answer: bytes) -> None:
    async def babble(exchange: Exchange) -> None:
        await exchange.send(answer)
        exchange.writer.close()

    async with Origin(babble) as origin, client_of(origin, retries=0) as http:
        with pytest.raises((BadResponse, ConnectFailed, NoAnswer)):
            await http.get(origin.url)


async def test_body_over_limit_raises_too_large(client_of: ClientOf) -> None:
    async def long(exchange: Exchange) -> None:
        await exchange.answer(b"x" * 100_000)

    async with Origin(long) as origin, client_of(origin) as http:
        assert len((await http.get(origin.url, max_bytes=100_000)).body) == 100_000
        with pytest.raises(TooLarge, match="99,999"):
            await http.get(origin.url, max_bytes=99_999)


async def test_call_without_deadline_uses_client_timeout(client_of: ClientOf) -> None:
    async def silent(exchange: Exchange) -> None:
        await exchange.reader.read()

    async with Origin(silent) as origin, client_of(origin, timeout=0.05) as http:
        with pytest.raises(DeadlineExceeded, match=r"0\.05 s"):
            await http.get(origin.url)


async def test_concurrent_requests_per_host_are_limited(client_of: ClientOf) -> None:
    running = most = 0

    async def count(exchange: Exchange) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(20):  # let the other requests arrive, if the limit allows it
            await asyncio.sleep(0)
        running -= 1
        await greet(exchange)

    async with Origin(count) as origin, client_of(origin, per_host=3) as http:
        await asyncio.gather(*(http.get(f"{origin.url}/{n}") for n in range(30)))
    assert most <= 3
    assert len(origin.requests) == 30


@pytest.mark.parametrize("url", ["", "harbour", "http://", "http://[::1", "file:///etc/passwd"])
async def test_non_web_url_is_refused(url: str) -> None:
    async with Egress() as egress, HttpClient(egress) as http:
        with pytest.raises(Refused):
            await http.get(url)


def test_importing_client_does_not_import_heavy_dependencies() -> None:
    code = (
        "import sys, browser.net.http, browser.net.egress, browser.net.polite; print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"httpx2", "httpcore2", "tld", "tenacity", "rich"} & set(loaded.stdout.split())
