"""Redirects: followed as in a browser, each hop checked, keys withheld from other hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.errors import (
    Refused,
)
from tests.browser.net.servers import Exchange, Origin, greet

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from browser.net.http import HttpClient

    ClientOf = Callable[..., AbstractAsyncContextManager[HttpClient]]


async def test_redirects_are_followed_to_the_final_url(client_of: ClientOf) -> None:
    async def lead(exchange: Exchange) -> None:
        if exchange.target == "/a":
            await exchange.redirect("b?x#y")
        else:
            await greet(exchange)

    async with Origin(lead) as origin, client_of(origin) as http:
        answer = await http.get(f"{origin.url}/a")
    assert answer.url == f"{origin.url}/b?x#y"
    assert [request.target for request in origin.requests] == ["/a", "/b?x"]
    assert origin.connections == 1


@pytest.mark.parametrize(
    ("status", "method", "body"),
    [
        ("301 Moved", "GET", b""),
        ("302 Found", "GET", b""),
        ("303 See Other", "GET", b""),
        ("307 Temporary", "POST", b"q=tide"),
        ("308 Permanent", "POST", b"q=tide"),
    ],
)
async def test_redirected_post_uses_method_of_browsers(
    client_of: ClientOf, status: str, method: str, body: bytes
) -> None:
    async def lead(exchange: Exchange) -> None:
        await (greet(exchange) if exchange.target == "/b" else exchange.redirect("/b", status))

    async with Origin(lead) as origin, client_of(origin) as http:
        await http.post(origin.url, form={"q": "tide"})
    last = origin.requests[-1]
    assert (last.method, last.body) == (method, body)


async def test_credentials_are_not_sent_to_another_origin(client_of: ClientOf) -> None:
    async with Origin(greet) as other:

        async def lead(exchange: Exchange) -> None:
            await exchange.redirect(f"{other.url}/")

        async with Origin(lead) as origin, client_of(origin, other) as http:
            await http.get(origin.url, headers={"X-Api-Key": "secret", "Authorization": "Bearer s"})
    assert origin.requests[0].headers["x-api-key"] == "secret"
    assert not {"x-api-key", "authorization", "cookie"} & set(other.requests[0].headers)


async def test_redirect_to_private_address_is_refused(client_of: ClientOf) -> None:
    async with Origin(greet) as secret:

        async def lure(exchange: Exchange) -> None:
            await exchange.redirect(f"http://localhost:{secret.port}/")

        async with Origin(lure) as origin, client_of(origin) as http:
            with pytest.raises(Refused, match="loopback"):
                await http.get(origin.url)
    assert secret.connections == 0


@pytest.mark.parametrize("location", ["file:///etc/passwd", "data:text/html,x", "javascript:1"])
async def test_redirect_to_non_web_scheme_is_refused(client_of: ClientOf, location: str) -> None:
    async def lure(exchange: Exchange) -> None:
        await exchange.redirect(location)

    async with Origin(lure) as origin, client_of(origin) as http:
        with pytest.raises(Refused, match="not a web address"):
            await http.get(origin.url)
