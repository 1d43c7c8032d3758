"""h11 on asyncio streams: HTTP/1.1 messages in and out, with back-pressure; raw bytes after."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import h11

if TYPE_CHECKING:
    from collections.abc import Iterable

    from browser.net.dial import Streams

# A request or response head larger than this is an attack or a mistake; Chromium's own limit.
MAX_HEAD = 256 * 1024
_CHUNK = 64 * 1024
# A tunnel of which one side has ended may take this long (s) to drain the other.
_LINGER_S = 10.0

Event = h11.Event | type[h11.PAUSED]
Header = tuple[bytes, bytes]


class Wire:
    """One end of an HTTP/1.1 connection: `h11.SERVER` towards clients, `h11.CLIENT` outwards."""

    def __init__(self, role: type[h11.CLIENT | h11.SERVER], streams: Streams) -> None:
        self.reader, self.writer = streams
        self.http = h11.Connection(role, max_incomplete_event_size=MAX_HEAD)

    async def receive(self) -> Event:
        """Return the next event. Raises h11.RemoteProtocolError, OSError."""
        while (event := self.http.next_event()) is h11.NEED_DATA:
            self.http.receive_data(await self.reader.read(_CHUNK))
        return event  # type: ignore[return-value]  # NEED_DATA is excluded by the loop

    async def send(self, event: h11.Event) -> None:
        """Write one event, waiting while the other side is slow."""
        for part in self.http.send_with_data_passthrough(event) or ():
            self.writer.write(part)
        await self.writer.drain()

    async def gone(self) -> bool:
        """Wait for bytes or the end; True where the other side has left."""
        data = await self.reader.read(_CHUNK)
        self.http.receive_data(data)
        return not data

    def reusable(self) -> bool:
        """Say whether another message can follow on this connection, and make ready for it."""
        if self.http.our_state is not h11.DONE or self.http.their_state is not h11.DONE:
            return False
        self.http.start_next_cycle()
        return not self.writer.is_closing()

    def close(self) -> None:
        """Close without waiting for the other side."""
        self.writer.close()

    @property
    def streams(self) -> Streams:
        """The raw streams, once the protocol has been switched."""
        return self.reader, self.writer


async def splice(left: Wire, right: Wire) -> None:
    """Carry bytes both ways until both ends are through; what h11 has read ahead goes first."""
    for source, sink in ((left, right), (right, left)):
        sink.writer.write(source.http.trailing_data[0])
    pumps = {
        asyncio.create_task(_pump(left.reader, right.writer)),
        asyncio.create_task(_pump(right.reader, left.writer)),
    }
    try:
        _, pending = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        if pending:
            await asyncio.wait(pending, timeout=_LINGER_S)
    finally:
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):  # a reset ends a tunnel as well as a farewell does
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


# RFC 9110, 7.6.1: these speak of one connection and are not passed on; nor is our own verdict.
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-connection proxy-authorization proxy-authenticate te trailer "
    b"upgrade".split()
)


def end_to_end(headers: Iterable[Header], *, dropping: Iterable[bytes] = ()) -> list[Header]:
    """Return the headers that are for the far end; names are in lower case."""
    headers = list(headers)
    named = {
        token.strip().lower()
        for name, value in headers
        if name == b"connection"
        for token in value.split(b",")
    }
    dropped = _HOP_BY_HOP.union(named, dropping)
    return [(name, value) for name, value in headers if name not in dropped]
