"""A small loopback site whose pages are written by each test."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass
class Site:
    """Paths and their responses: (status, headers, body)."""

    base: str = ""
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    cut: set[str] = field(default_factory=set)
    """Paths whose body is shorter than its header says."""

    def page(self, path: str, html: str, status: int = 200, **headers: str) -> str:
        """Serve HTML at a path; returns the URL."""
        kind = {"Content-Type": "text/html; charset=utf-8"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers[path] = (status, kind | named, html.encode())
        return self.base + path


@asynccontextmanager
async def serve(site: Site) -> AsyncIterator[Site]:
    """Serve a site on a free port of 127.0.0.1."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split(" ")[1]
        site.asked.append(path)
        status, headers, body = site.answers.get(path, (404, {}, b"nothing here"))
        length = len(body) + (path in site.cut)
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {length}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    site.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield site
