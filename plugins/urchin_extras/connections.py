"""Channel connections other than REST calls: WebSockets and downloads, both through the guard."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from agent.errors import NotSent
from browser.errors import ConnectFailed
from browser.net.transport import certificates

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from websockets.asyncio.client import ClientConnection

    from agent.channels.channel import ChannelLink

_MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""Maximum size of a message in bytes; even a large Discord server's member list is smaller."""
_CONNECT_TIMEOUT_S = 30.0


class SocketLink:
    """A two-way JSON connection."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    @property
    def close_code(self) -> int | None:
        """The close code that the other side sent; None while the connection is open."""
        return self._connection.close_code

    async def receive(self) -> dict[str, Any]:
        """Return the next message. Raises ConnectFailed when the connection has ended."""
        from websockets.exceptions import ConnectionClosed  # noqa: PLC0415 - used only by channels

        try:
            body = json.loads(await self._connection.recv())
        except ConnectionClosed as error:
            raise ConnectFailed(f"the connection was closed: {error}") from error
        except ValueError as error:
            raise ConnectFailed(f"the message is not valid JSON: {error}") from error
        return body if isinstance(body, dict) else {}

    async def send(self, body: dict[str, Any]) -> None:
        """Send a message. Raises ConnectFailed if the connection has ended."""
        from websockets.exceptions import ConnectionClosed  # noqa: PLC0415 - as above

        try:
            await self._connection.send(json.dumps(body))
        except ConnectionClosed as error:
            raise ConnectFailed(f"the connection was closed: {error}") from error

    async def close(self, code: int) -> None:
        """Close the connection; with a code other than 1000 and 1001, it can be resumed."""
        await self._connection.close(code)


@asynccontextmanager
async def connect_websocket(url: str, proxy_url: str) -> AsyncIterator[SocketLink]:
    """Connect to a `ws:` or `wss:` address. Raises ConnectFailed."""
    from websockets.asyncio.client import connect  # noqa: PLC0415 - used only by channels
    from websockets.exceptions import WebSocketException  # noqa: PLC0415 - as above

    secure = url.startswith("wss:")
    try:
        connection = await connect(
            url,
            proxy=proxy_url,
            ssl=certificates() if secure else None,
            open_timeout=_CONNECT_TIMEOUT_S,
            max_size=_MAX_MESSAGE_BYTES,
        )
    except (WebSocketException, OSError) as error:
        where = url.partition("?")[0]  # the query contains a ticket
        raise ConnectFailed(f"{where}: {error or type(error).__name__}") from error
    async with connection:
        yield SocketLink(connection)


async def download(link: ChannelLink, service: str, url: str, token: str = "") -> bytes:
    """Download the file at an address, which may require a bearer token. Raises NotSent."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = await link.http.call("GET", url, repeatable=True, headers=headers)
    if not answer.is_success:
        raise NotSent(f"{service} did not return the file: {answer.status_code}")
    return bytes(answer.content)
