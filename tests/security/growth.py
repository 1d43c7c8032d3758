"""Measures what a process that reads many pages retains: memory, handles, processes.

The pages come over loopback, through the egress, the reader and its cache; the server runs in this
process too and sends prepared bytes. Only memory still resident after a collection counts.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from browser.net.polite import Polite
from browser.read.reader import Reader
from browser.types import Outcome

MB = 1024 * 1024
_PAGES = [
    path.read_bytes()
    for path in sorted((Path(__file__).parents[2] / "fixtures/pages").glob("*.html"))
]
_REFUSED = {
    "/bomb": (b"text/html\r\nContent-Encoding: gzip", gzip.compress(bytes(60 * MB))),
    "/long": (b"text/html", bytes(26 * MB)),
    "/picture": (b"image/png", b"\x89PNG" + bytes(8 * MB)),
}


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
            name, _, number = path.partition("?")
            kind, body = _REFUSED.get(name, (b"text/html", b""))
            if name == "/page":
                body = _PAGES[int(number) % len(_PAGES)] + f"<p>Page {number}</p>".encode()
            head = b'HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n'
            writer.write(head % (kind, len(body)) + body)
            await writer.drain()
    writer.close()


def resident() -> float:
    """Return this process's resident megabytes after a collection."""
    gc.collect()
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) / 1024


def count_open_resources() -> tuple[int, int]:
    """Count the handles of this process, and the processes that it started."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()
    return len(list(Path("/proc/self/fd").iterdir())), len(children)


async def read(reader: Reader, urls: list[str], *, refused: bool = False) -> float:
    """Read URLs one after another; returns the megabytes then resident."""
    for url in urls:
        page = await reader.read(url, mode="http", deadline=60)
        assert (page.outcome is Outcome.ERROR) is refused, f"{url}: {page.outcome}, {page.reason}"
    return resident()


@dataclass(frozen=True)
class MemoryGrowth:
    """MB at the end beyond those after the first hundred pages; and what was open both times."""

    a_hundred: float
    of_refused: float
    open_before: tuple[int, int]
    open_after: tuple[int, int]


async def grown(count: int, first: int = 100, refused: int = 20) -> MemoryGrowth:
    """Read this many pages over loopback, then bodies that are refused.

    Counting starts after the `first` pages.
    """
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    policy = EgressPolicy(allow_private=("127.0.0.1",))
    with TemporaryDirectory() as folder:
        async with (
            Egress(policy) as egress,
            HttpClient(egress, cache=Path(folder) / "c.db") as http,
        ):
            reader = Reader(Polite(http))
            pages = [f"{base}/page?{n}" for n in range(count)]
            early = await read(reader, pages[:first])
            before = count_open_resources()
            last = await read(reader, pages[first:])
            opened = count_open_resources()
            bodies = [f"{base}{name}?{n}" for n in range(refused) for name in _REFUSED][:refused]
            after = await read(reader, bodies, refused=True)
    server.close()
    return MemoryGrowth((last - early) * 100 / (count - first), after - last, before, opened)
