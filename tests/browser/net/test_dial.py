"""Names to addresses to sockets: one lookup, the first answer wins, failures give reasons."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address

import pytest

from browser.errors import ConnectFailed, NameUnknown
from browser.net.dial import SystemResolver, dial
from tests.browser.net.servers import Origin, greet

HERE, NOT_HERE = ip_address("127.0.0.1"), ip_address("127.0.0.2")


async def test_the_systems_answer_is_given_without_repeats() -> None:
    resolve = SystemResolver()
    addresses = await resolve("localhost")
    assert HERE in addresses
    assert len(addresses) == len(set(addresses))
    resolve.close()


async def test_many_who_ask_at_once_get_one_answer() -> None:
    resolve = SystemResolver()
    answers = await asyncio.gather(*(resolve("localhost") for _ in range(50)))
    assert all(answer is answers[0] for answer in answers)
    resolve.close()


@pytest.mark.parametrize("name", ["no-such-host.invalid", "a..b", "x" * 64 + ".test"])
async def test_an_unknown_name_is_told_as_such(name: str) -> None:
    resolve = SystemResolver()
    with pytest.raises(NameUnknown, match="unknown"):
        await resolve(name)
    resolve.close()


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    async with Origin(greet) as origin:
        dead = (ip_address("::1"), NOT_HERE)
        _, writer = await dial((*dead, HERE), origin.port)
        assert writer.get_extra_info("peername")[0] == str(HERE)
        writer.close()


async def test_when_none_answers_the_first_reason_is_told() -> None:
    async with Origin(greet) as origin:
        pass
    with pytest.raises(ConnectFailed, match=rf"port {origin.port} of 127\.0\.0\.1: .*refused"):
        await dial((HERE, NOT_HERE), origin.port)
