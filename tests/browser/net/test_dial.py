"""Names to addresses to sockets: one lookup, the first answer wins, failures give reasons."""

from __future__ import annotations

import asyncio
import gc
import warnings
from ipaddress import ip_address

import pytest

from browser.errors import ConnectFailed, NameUnknown
from browser.net.dial import SystemResolver, dial
from tests.browser.net.servers import Origin, greet

HERE, NOT_HERE = ip_address("127.0.0.1"), ip_address("127.0.0.2")


async def test_system_addresses_are_deduplicated() -> None:
    resolve = SystemResolver()
    addresses = await resolve("localhost")
    assert HERE in addresses
    assert len(addresses) == len(set(addresses))
    resolve.close()


async def test_concurrent_lookups_share_one_answer() -> None:
    resolve = SystemResolver()
    answers = await asyncio.gather(*(resolve("localhost") for _ in range(50)))
    assert all(answer is answers[0] for answer in answers)
    resolve.close()


@pytest.mark.parametrize("name", ["no-such-host.invalid", "a..b", "x" * 64 + ".test"])
async def test_unknown_name_raises_name_unknown(name: str) -> None:
    resolve = SystemResolver()
    with pytest.raises(NameUnknown, match="unknown"):
        await resolve(name)
    resolve.close()


async def test_dial_falls_back_to_next_address() -> None:
    async with Origin(greet) as origin:
        dead = (ip_address("::1"), NOT_HERE)
        _, writer = await dial((*dead, HERE), origin.port)
        assert writer.get_extra_info("peername")[0] == str(HERE)
        writer.close()


async def test_dial_reports_first_failure_if_all_addresses_fail() -> None:
    async with Origin(greet) as origin:
        pass
    with pytest.raises(ConnectFailed, match=rf"port {origin.port} of 127\.0\.0\.1: .*refused"):
        await dial((HERE, NOT_HERE), origin.port)


async def test_dial_leaves_no_socket_open_when_cancelled_at_any_point() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        await _cancel_dialing_at_each_turn()
        gc.collect()
    assert [str(one.message) for one in caught] == []


async def _cancel_dialing_at_each_turn() -> None:
    async with Origin(greet) as origin:
        for turns in range(12):
            dialing = asyncio.create_task(dial((HERE,), origin.port))
            for _ in range(turns):
                await asyncio.sleep(0)
            dialing.cancel()
            (done,) = await asyncio.gather(dialing, return_exceptions=True)
            if isinstance(done, tuple):
                done[1].close()
            del dialing, done
    await asyncio.sleep(0)
