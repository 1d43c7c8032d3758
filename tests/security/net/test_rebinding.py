"""A name server that changes its answers cannot cause a connection to a private address."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from ipaddress import ip_address
from itertools import cycle
from typing import TYPE_CHECKING

import pytest

from browser.errors import BrowserError, Refused
from browser.net.egress import Egress
from browser.net.http import HttpClient
from tests.browser.net.servers import Origin, greet

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from playwright.async_api import BrowserContext

pytestmark = pytest.mark.row(n=10)

TRIES = 500
# Whether anything answers at this public address does not matter: a test may have no network.
PUBLIC, PRIVATE = ip_address("192.31.196.1"), ip_address("127.0.0.1")


class Rebinder:
    """Alternates public and private answers, like a rebinding name server."""

    def __init__(self) -> None:
        self.answers = cycle([(PUBLIC,), (PRIVATE,), (PRIVATE, PUBLIC), (PUBLIC, PRIVATE)])
        self.asked = 0

    async def __call__(self, host: str) -> tuple:
        self.asked += 1
        return next(self.answers)


async def test_alternating_dns_answers_never_pass_private_address(
    record_property: Callable[[str, object], None],
) -> None:
    passed: set[object] = set()
    egress = Egress(resolve=Rebinder())
    for _ in range(TRIES):
        with suppress(Refused):
            passed.update(await egress.guard.addresses("rebind.test", 80))
    assert passed == {PUBLIC}
    record_property("figure", f"0 private addresses passed in {TRIES} alternating answers")


async def test_connection_uses_the_checked_address() -> None:
    names = Rebinder()
    async with (
        Origin(greet) as secret,
        Egress(resolve=names) as egress,
        HttpClient(egress, retries=0, per_host=40) as http,
    ):

        async def attempt(scheme: str) -> None:
            with suppress(BrowserError):
                await http.get(f"{scheme}://rebind.test:{secret.port}/", deadline=2)

        await asyncio.gather(*(attempt(scheme) for scheme in ["http", "https"] * 20))
    assert names.asked == 40
    assert secret.connections == 0


async def test_page_cannot_rebind_its_own_hostname(
    browser_behind: Callable[[Egress], AbstractAsyncContextManager[BrowserContext]],
) -> None:
    async def private(host: str) -> tuple:
        return (PRIVATE,)

    async with (
        Origin(greet) as secret,
        Egress(resolve=private) as egress,
        browser_behind(egress) as context,
    ):
        page = await context.new_page()
        answer = await page.goto(f"http://rebind.test:{secret.port}/")
        assert answer is not None
        assert answer.status == 403
    assert secret.connections == 0
