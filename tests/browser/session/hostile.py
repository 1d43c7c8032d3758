"""Hostile pages, by what they do, and ways in which a browser is lost."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TABS_AT_MOST = 5
PAGES = {
    "alert loop": "<script>for (;;) alert('again')</script>",
    "busy loop": "<script>for (;;);</script>",
    "busy later": "<p>x</p><script>setTimeout(() => { for (;;); }, 50)</script>",
    "popups": "<script>for (let i = 0; i < 40; i++) open('about:blank')</script>",
    "growing": "<script>setInterval(() => { for (let i = 0; i < 2000; i++) document.body.append('grow ') }, 1)</script>",
    "self reload": "<script>setTimeout(() => location.reload(), 30)</script>",
    "redirect between two": "<script>location.hash = Math.random(); setInterval(() => { location.hash = Math.random() }, 5)</script>",
    "history flood": "<script>setInterval(() => history.pushState(1, '', '#' + Math.random()), 1)</script>",
    "print": "<script>setInterval(() => print(), 20)</script>",
    "prompt loop": "<script>setInterval(() => prompt('more?'), 1)</script>",
    "beforeunload": "<script>onbeforeunload = e => { e.preventDefault(); return 'stay' }</script><p>x</p>",
    "mutating": "<p id=p></p><script>setInterval(() => { p.textContent = Math.random() }, 1)</script>",
    "very deep": "<script>let e = document.body; for (let i = 0; i < 20000; i++) { const d = document.createElement('div'); e.append(d); e = d } e.append('bottom')</script>",
    "very wide": "<script>document.write('<i>wide</i>'.repeat(200000))</script>",
    "broken builtins": "<script>JSON.stringify = Array.prototype.map = Map = undefined; Element.prototype.getBoundingClientRect = () => { throw 1 }</script><p>x</p>",
    "frames in frames": "<script>const deeper = (d, n) => { if (n) for (let i = 0; i < 3; i++) { const f = d.createElement('iframe'); d.body.append(f); deeper(f.contentDocument, n - 1) } }; deeper(document, 4)</script>",
    "worker flood": "<script>const u = URL.createObjectURL(new Blob(['for(;;);'])); for (let i = 0; i < 8; i++) new Worker(u)</script><p>x</p>",
    "never answered": "<p>x</p><script>const r = new XMLHttpRequest(); r.open('GET', '/slow?30', false); r.send()</script>",
    "closes itself": "<p>x</p><script>setTimeout(() => close(), 30)</script>",
    "downloads": "<script>setInterval(() => { const a = document.createElement('a'); a.href = 'data:application/x,1'; a.download = 'd'; a.click() }, 20)</script>",
    "permissions": "<script>setInterval(() => { navigator.geolocation.getCurrentPosition(() => 1); Notification.requestPermission() }, 10)</script><p>x</p>",
    "getters that lie": "<script>Object.defineProperty(document, 'body', {get() { for (;;); }})</script><p>x</p>",
}


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


@dataclass
class Wire:
    """A TCP relay: what is sent to `port` reaches the browser until the relay is cut."""

    port: int = 0
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    def cut(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()


@asynccontextmanager
async def wire_to(target: int) -> AsyncIterator[Wire]:
    """Forward one loopback port to another through a relay that can be cut."""
    wire = Wire()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", target)
        ends = {writer, back}
        wire._open |= ends
        await asyncio.gather(pump(reader, back), pump(there, writer), return_exceptions=True)
        wire._open -= ends

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        server.close()
        wire.cut()
