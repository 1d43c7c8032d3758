"""Bombs in every encoding, endless and huge bodies use at most 64 MB more memory and 10 s.

The servers also run in this process, so they send prepared bytes and keep none.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

import brotli
import pytest

from browser.errors import BadResponse, BrowserError, DeadlineExceeded, TooLarge
from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from tests.browser.net.servers import Exchange, Origin

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MB = 1024 * 1024
SECONDS = 10.0  # the deadline, which must not be what ends a bomb
pytestmark = [
    pytest.mark.row(n=12),
    pytest.mark.skipif(
        not Path("/proc/self/clear_refs").exists(), reason="the high-water mark is Linux's"
    ),
]


def high_water() -> int:
    """Return this process's peak resident memory in bytes since `reset_high_water`."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def reset_high_water() -> int:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return high_water()


def long_stream(packer: object, megabytes: int) -> bytes:
    """A single stream of zeros, made without ever holding them all."""
    piece = bytes(MB)
    parts = [packer.compress(piece) for _ in range(megabytes)]  # type: ignore[attr-defined]
    return b"".join([*parts, packer.flush()])  # type: ignore[attr-defined]


def brotli_stream(megabytes: int) -> bytes:
    packer = brotli.Compressor(quality=5)
    parts = [packer.process(bytes(MB)) for _ in range(megabytes)]
    return b"".join([*parts, packer.finish()])


BOMBS = {
    "gzip": lambda: long_stream(zlib.compressobj(9, wbits=31), 256),
    "deflate": lambda: long_stream(zlib.compressobj(9), 256),
    "br": lambda: brotli_stream(256),
    "zstd": lambda: long_stream(zstd.ZstdCompressor(level=1), 256),
    "gzip, gzip": lambda: gzip.compress(long_stream(zlib.compressobj(9, wbits=31), 256)),
    "zstd, br, gzip": lambda: gzip.compress(bytes(MB)),
}


@pytest.mark.parametrize("encoding", BOMBS)
@pytest.mark.sample(2)
async def test_compression_bomb_is_rejected(encoding: str) -> None:
    bomb = BOMBS[encoding]()

    async def explode(exchange: Exchange) -> None:
        await exchange.answer(bomb, Content_Encoding=encoding)

    async with (
        Origin(explode) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress) as http,
    ):
        before = reset_high_water()
        with pytest.raises((TooLarge, BadResponse)):
            await http.get(origin.url, deadline=SECONDS)
        assert high_water() - before <= 64 * MB


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n",
    ],
)
async def test_endless_body_is_cut_off(head: bytes) -> None:
    async def endless(exchange: Exchange) -> None:
        await exchange.send(head)
        while True:
            await exchange.send(bytes(MB))

    async with (
        Origin(endless) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress) as http,
    ):
        before = reset_high_water()
        with pytest.raises(TooLarge):
            await http.get(origin.url, deadline=SECONDS)
        assert high_water() - before <= 64 * MB


async def test_redirect_body_bomb_is_not_read() -> None:
    bomb = BOMBS["gzip"]()

    async def lead(exchange: Exchange) -> None:
        if exchange.target == "/":
            await exchange.answer(bomb, "302 Found", Location="/safe", Content_Encoding="gzip")
        else:
            await exchange.answer("safe")

    async with (
        Origin(lead) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress) as http,
    ):
        before = reset_high_water()
        assert (await http.get(f"{origin.url}/", deadline=5)).body == b"safe"
        assert high_water() - before <= 64 * MB


async def test_slow_reader_applies_backpressure_to_server() -> None:
    """Back-pressure: what a slow reader has not taken does not accumulate in the proxy."""
    sent = 0

    async def pour(exchange: Exchange) -> None:
        nonlocal sent
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
        while True:
            await exchange.send(bytes(MB))
            sent += 1

    async with (
        Origin(pour) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        HttpClient(egress) as http,
    ):
        with pytest.raises((TooLarge, DeadlineExceeded, BrowserError)):
            await http.get(origin.url, max_bytes=1000)
    assert sent < 32
