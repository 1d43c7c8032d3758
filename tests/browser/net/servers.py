"""Real loopback servers that answer as a test requires: normal, slow, endless or hostile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Self

Handler = Callable[["Exchange"], Awaitable[None]]


@dataclass
class Exchange:
    """A request as received, and the stream for the answer."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answer(self, body: bytes | str = b"", status: str = "200 OK", **headers: str) -> None:
        """Send a complete response; header names are written with `_` for `-`."""
        body = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)

    async def redirect(self, location: str, status: str = "302 Found") -> None:
        await self.answer(b"moved", status, Location=location)

    async def send(self, data: bytes) -> None:
        """Send raw bytes."""
        self.writer.write(data)
        await self.writer.drain()


@dataclass
class Origin:
    """A server that runs during `async with` and records the requests that reached it."""

    handler: Handler
    requests: list[Exchange] = field(default_factory=list)
    connections: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def named(self) -> str:
        """The server's address in the form used by `allow_private`."""
        return f"127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.connections += 1
        try:
            while exchange := await self._read(reader, writer):
                self.requests.append(exchange)
                await self.handler(exchange)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has seen enough, or the test is over
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Exchange:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *rest = head.rstrip().split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in rest)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, target, _ = first.split(" ")
        return Exchange(method, target, headers, body, reader, writer)


async def greet(exchange: Exchange) -> None:
    """Answer everything with a small page."""
    await exchange.answer("<title>Quay</title><p>Moored.", Content_Type="text/html")
