"""Sixty spellings of private addresses: neither the HTTP client nor the browser reaches any."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest

from browser.errors import Refused
from browser.net.egress import Egress
from browser.net.http import HttpClient
from tests.browser.net.servers import Origin, greet

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from playwright.async_api import BrowserContext

pytestmark = pytest.mark.row(n=8)

FETCHED = """([urls, how]) => Promise.all(urls.map(
  (url) => fetch(url, how).then((answer) => answer.type, (error) => error.name)))"""
# Each stands for a host in a URL; those on loopback lead to a server that really listens.
SPELLINGS = """
127.0.0.1 127.0.0.1. 127.1 127.0.1 127.0.0.2 127.255.255.254 0177.0.0.1 0177.1 0x7f.0.0.1
0x7f.1 0x7f000001 0X7F000001 017700000001 2130706433 00000000177.0.0.1 127.0.0.0x1 0x7f.0x0.0x1
* 0 0.0.0.0 0x0 00 localhost LOCALHOST localhost. quay.localhost loc\u00adalhost
１２７.０.０.１ 127。0。0。1 127．0．0．1 127｡0｡0｡1 ①②⑦.0.0.1 ⓛⓞⓒⓐⓛⓗⓞⓢⓣ %31%32%37.0.0.1
127%2e0%2e0%2e1 %6c%6fcalhost %EF%BC%91%EF%BC%92%EF%BC%97.0.0.1
[::1] [::] [0:0:0:0:0:0:0:1] [0000::0001] [::ffff:127.0.0.1] [::ffff:7f00:1]
[0:0:0:0:0:ffff:7f00:0001] [::127.0.0.1] [::7f00:1] [64:ff9b::7f00:1] [64:ff9b:1::127.0.0.1]
[2002:7f00:1::] [2001:0:4136:e378:8000:63bf:80ff:fffe] [fe80::1] [fc00::1] [fd00:ec2::254]
[fec0::1] [ff02::1] [::ffff:a9fe:a9fe] [64:ff9b::a9fe:a9fe] [::a9fe:a9fe] [fe80::5efe:7f00:1]
10.0.0.1 012.0.0.1 0xa.0.0.1 167772161 172.16.0.1 172.31.255.255 192.168.0.1 0300.0250.0.1
3232235521 169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518
168.63.129.16 100.100.100.200 100.64.0.1 224.0.0.1 255.255.255.255 192.0.2.1 198.18.0.1
""".split()
# The browser also navigates to one of each kind; a page requests all of the above.
KINDS = """
127.0.0.1 127.1 0177.0.0.1 0x7f000001 2130706433 localhost quay.localhost １２７.０.０.１
127｡0｡0｡1 ⓛⓞⓒⓐⓛⓗⓞⓢⓣ %31%32%37.0.0.1 [::1] [::ffff:7f00:1] [64:ff9b::7f00:1] [2002:7f00:1::]
[fe80::1] 10.0.0.1 169.254.169.254 100.64.0.1 224.0.0.1
""".split()


def test_at_least_sixty_address_spellings_are_tested() -> None:
    assert len(set(SPELLINGS)) >= 60


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_http_client_blocks_private_address_spellings(
    scheme: str, record_property: Callable[[str, object], None]
) -> None:
    async with Origin(greet) as secret, Egress() as egress, HttpClient(egress) as http:
        for spelling in SPELLINGS:
            with pytest.raises(Refused):
                await http.get(f"{scheme}://{spelling}:{secret.port}/")
    assert secret.connections == 0
    told = f"{scheme}: {secret.connections} of {len(SPELLINGS)} spellings of an address connected"
    record_property("figure", told)


async def test_browser_blocks_private_address_spellings(
    browser_behind: Callable[[Egress], AbstractAsyncContextManager[BrowserContext]],
) -> None:
    async with Origin(greet) as secret, Egress() as egress, browser_behind(egress) as context:
        page = await context.new_page()
        for spelling in KINDS:
            answer = await page.goto(f"http://{spelling}:{secret.port}/")
            assert answer is not None
            assert answer.status == 403, spelling
        answers = []
        page.on("response", lambda response: answers.append(response.status))
        plain = [f"http://{spelling}:{secret.port}/" for spelling in SPELLINGS]
        tls = [f"https://{spelling}:{secret.port}/" for spelling in SPELLINGS]
        refused = set(await page.evaluate(FETCHED, [plain, {"mode": "no-cors"}]))
        assert refused <= {"opaque", "basic"}  # `basic` for the page's own host
        assert set(await page.evaluate(FETCHED, [tls, {}])) == {"TypeError"}
        assert answers == [403] * len(SPELLINGS)
    assert secret.connections == 0


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]
)
async def test_hostname_resolving_to_private_address_is_blocked(address: str) -> None:
    async def lead_in(host: str) -> tuple:
        return (ip_address(address),)

    async with (
        Origin(greet) as secret,
        Egress(resolve=lead_in) as egress,
        HttpClient(egress) as http,
    ):
        with pytest.raises(Refused, match=r"quay\.test resolves to"):
            await http.get(f"http://quay.test:{secret.port}/")
    assert secret.connections == 0
