"""Messages between the server and the process of a run: lines of JSON over a socket.

To the worker: first the job (`question` or `resume`, `attended`, `flags`), then `stop`, `hint`,
`look` (a picture of the page, after an `act` where one is given). From it: `run` (its id), `wrote`
(the journal has grown), `delta` (an event that the journal does not keep), `question` (for the
person), `unread` (hints that came too late), `refused` (why the run did not begin).

`look` and `question` are requests, numbered by who makes them: the other end sends `reply` with
the number, and is told by `settled` that nobody waits for it any more. The end of the stream means
`stop` to a worker, and the end of the run to the server.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator

LONGEST_LINE: Final = 32 * 2**20
"""Bytes of a message: a picture of a page is the longest."""


class WorkerConnection:
    """One end of the line between the server and a worker."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._requests: dict[int, asyncio.Future[Any]] = {}
        self._count = 0

    @classmethod
    async def open(cls, line: socket.socket) -> Self:
        """Take over one end of a pair of sockets."""
        return cls(*await asyncio.open_connection(sock=line, limit=LONGEST_LINE))

    def send(self, **message: Any) -> None:
        """Send a message; to an end that is closed it is lost."""
        if not self._writer.is_closing():
            self._writer.write(json.dumps(message, default=str).encode() + b"\n")

    async def drain(self) -> None:
        """Wait until what was sent is on its way; raises `ConnectionError`."""
        await self._writer.drain()

    async def request(self, **message: Any) -> Any:
        """Send a request and return the reply; raises `ConnectionError` if the other end closes."""
        self._count += 1
        number = self._count
        reply = self._requests[number] = asyncio.get_running_loop().create_future()
        self.send(n=number, **message)
        try:
            return await reply
        finally:
            del self._requests[number]
            self.send(settled=number)

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """Yield what comes in, replies aside, until the other end closes."""
        try:
            while line := await self._reader.readline():
                message = json.loads(line)
                if "reply" not in message:
                    yield message
                elif (request := self._requests.get(message["n"])) and not request.done():
                    request.set_result(message["reply"])
        except ConnectionError:
            pass  # the other process was killed

    def close(self) -> None:
        """Close this end, and fail the requests that are open."""
        for request in self._requests.values():
            if not request.done():
                request.set_exception(ConnectionAbortedError("the other end closed"))
        self._writer.close()
