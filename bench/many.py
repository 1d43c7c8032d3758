"""Politely reads 200 pages from 20 hosts, each 200 ms away: `python -m bench.many`.

The hosts are servers on loopback in a separate process. Prints the seconds beside the best that the
limits per host and overall allow, and the peak memory; once with an empty page cache and once
without one. Exits with 8 if it takes more than 1.5 times the best time or 300 MB.
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import time
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from browser.net.egress import Egress, EgressPolicy
from browser.net.http import MAX_PER_HOST, HttpClient
from browser.net.pace import MAX_OVERALL
from browser.net.polite import Polite
from browser.read.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

HOSTS, PAGES, LATENCY = 20, 10, 0.2
MOST_TIMES, MOST_MEGABYTES = 1.5, 300
TARGETS_MISSED = 8
ROUNDS = 3
_SENTENCE = "The harbour has been dredged every spring since the channel silted up that year."
_PAGE = f"<title>Page</title><h1>Page</h1>{f'<p>{_SENTENCE}</p>' * 60}".encode()


def main() -> int:
    """Measure; return 8 if a target is missed."""
    with hosts() as ports, TemporaryDirectory() as folder:
        plain = [asyncio.run(read(ports, None)) for _ in range(ROUNDS)]
        cached = [asyncio.run(read(ports, Path(folder) / f"{n}.db")) for n in range(ROUNDS)]
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    good = [_print_timing("without a cache", plain), _print_timing("into a cache", cached)]
    print(f"peak memory     {megabytes:.0f} MB (target {MOST_MEGABYTES})")
    return 0 if all(good) and megabytes <= MOST_MEGABYTES else TARGETS_MISSED


def _print_timing(name: str, took: list[float]) -> bool:
    best = LATENCY * max(ceil(PAGES / MAX_PER_HOST), ceil(HOSTS * PAGES / MAX_OVERALL))
    middle = sorted(took)[len(took) // 2]
    print(f"{name:15} {middle:.2f} s, {middle / best:.2f} x the best, {best:.2f} s")
    return middle <= MOST_TIMES * best


async def read(ports: list[int], cache: Path | None) -> float:
    """Read all pages concurrently; return the seconds it took."""
    policy = EgressPolicy(allow_private=("127.0.0.1",))
    async with Egress(policy) as egress, HttpClient(egress, cache=cache) as http:
        reader = Reader(Polite(http))
        urls = [f"http://127.0.0.1:{port}/{number}" for port in ports for number in range(PAGES)]
        began = time.perf_counter()
        pages = await asyncio.gather(*(reader.read(url, mode="http") for url in urls))
        took = time.perf_counter() - began
    assert all(page.document and _SENTENCE in page.document.text for page in pages)
    return took


@contextmanager
def hosts() -> Iterator[list[int]]:
    """Serve in a separate process until the block ends; yields the ports."""
    command = [sys.executable, __file__, "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield [int(port) for port in server.stdout.readline().split()]
        finally:
            server.terminate()


async def serve() -> None:
    """Act as the hosts: any path is a page that arrives late; there is no robots.txt."""
    servers = [await asyncio.start_server(_answer, "127.0.0.1", 0) for _ in range(HOSTS)]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith(b"GET /robots.txt "):
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                continue
            await asyncio.sleep(LATENCY)
            length = str(len(_PAGE)).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"1\"\r\nContent-Length: "
                + length + b"\r\n\r\n" + _PAGE
            )  # fmt: skip
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        sys.exit(main())
