"""The HTTP side of the egress proxy: CONNECT tunnels and plain HTTP requests.

`HttpPeer` is h11 on asyncio streams with back-pressure; `Connector` dials what the guard allows,
directly or through the user's upstream proxy; `ProxyConnection` serves one client.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

import h11
from ada_url import URL

from browser.errors import ConnectFailed, NoAnswer, Refused
from browser.net.dial import Streams, authority, dial
from browser.net.guard import VERDICT_HEADER, verdict_for
from browser.net.url import DEFAULT_PORTS, Url, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from browser.errors import BrowserError
    from browser.net.guard import Guard


# Maximum size of a request or response head in bytes; this is Chromium's limit.
_MAX_HEAD_BYTES = 256 * 1024
_CHUNK_BYTES = 64 * 1024
# Seconds that the other side of a tunnel has to finish after one side has ended.
_HALF_CLOSED_TIMEOUT_S = 10.0
# Maximum number of interim responses (1xx) before the final one. Servers send one or two; an
# attacker may send any number.
_MAX_INTERIM_RESPONSES = 16
# RFC 9110, 7.6.1: these concern a single connection and are not forwarded.
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-connection proxy-authorization proxy-authenticate te trailer "
    b"upgrade".split()
)

Header = tuple[bytes, bytes]


class HttpPeer:
    """Our end of an HTTP/1.1 connection: as `h11.SERVER` to clients, `h11.CLIENT` to servers."""

    def __init__(self, role: type[h11.CLIENT | h11.SERVER], streams: Streams) -> None:
        self.reader, self.writer = streams
        self.http = h11.Connection(role, max_incomplete_event_size=_MAX_HEAD_BYTES)

    async def receive(self) -> h11.Event | type[h11.PAUSED]:
        """Return the next event. Raises h11.RemoteProtocolError, OSError."""
        while (event := self.http.next_event()) is h11.NEED_DATA:
            self.http.receive_data(await self.reader.read(_CHUNK_BYTES))
        return event  # type: ignore[return-value]  # NEED_DATA is excluded by the loop

    async def send(self, *events: h11.Event) -> None:
        """Write events, waiting if the other side is slow."""
        for event in events:
            for part in self.http.send_with_data_passthrough(event) or ():
                self.writer.write(part)
            await self.writer.drain()

    def reusable(self) -> bool:
        """Whether another message can follow on this connection; if so, prepares for it."""
        if self.http.our_state is not h11.DONE or self.http.their_state is not h11.DONE:
            return False
        self.http.start_next_cycle()
        return not self.writer.is_closing()


async def _relay_both_ways(left: HttpPeer, right: HttpPeer) -> None:
    """Copy bytes both ways until both ends are done, starting with bytes that h11 read ahead."""
    for source, sink in ((left, right), (right, left)):
        sink.writer.write(source.http.trailing_data[0])
    pumps = {
        asyncio.create_task(_pump(left.reader, right.writer)),
        asyncio.create_task(_pump(right.reader, left.writer)),
    }
    try:
        _, pending = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        if pending:
            await asyncio.wait(pending, timeout=_HALF_CLOSED_TIMEOUT_S)
    finally:
        await _cancel(*pumps)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):  # a reset also ends the tunnel
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def _cancel(*tasks: asyncio.Task[None] | asyncio.Task[bool]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class UpstreamConnection:
    """An open connection. `proxy_headers` are set if it leads to a proxy, which needs full URLs."""

    streams: Streams
    proxy_headers: tuple[Header, ...] | None = None


class Connector:
    """Connects to hosts that the guard allows, directly or through an upstream proxy.

    The proxy is `http://[user:password@]host:port`; raises ValueError for anything else.
    """

    def __init__(self, guard: Guard, upstream_proxy: str | None = None) -> None:
        self._guard = guard
        self._upstream: tuple[str, int] | None = None
        self._headers: tuple[Header, ...] = ()
        if upstream_proxy:
            url = URL(upstream_proxy if "://" in upstream_proxy else f"http://{upstream_proxy}")
            if url.protocol != "http:":
                raise ValueError(f"only http:// proxies can be chained, not {url.protocol}//")
            self._upstream = url.hostname.strip("[]"), int(url.port or DEFAULT_PORTS["http"])
            if url.username:
                pair = f"{unquote(url.username)}:{unquote(url.password)}".encode()
                self._headers = ((b"Proxy-Authorization", b"Basic " + base64.b64encode(pair)),)

    async def connect(self, host: str, port: int, *, tunnel: bool) -> UpstreamConnection:
        """Connect for the raw bytes of a tunnel or, without `tunnel`, for plain HTTP requests.

        Raises Refused or ConnectFailed.
        """
        if self._upstream is None or self._guard.is_named(host, port):
            return UpstreamConnection(await dial(await self._guard.addresses(host, port), port))
        # Behind some proxies, public names do not resolve locally: then only host rules and
        # literal addresses are checked, and the upstream proxy decides.
        with contextlib.suppress(ConnectFailed):
            await self._guard.addresses(host, port)
        try:
            streams = await asyncio.open_connection(*self._upstream)
        except OSError as error:
            raise ConnectFailed(
                f"the upstream proxy {authority(*self._upstream)}: {error}"
            ) from error
        if not tunnel:
            return UpstreamConnection(streams, self._headers)
        target_authority = authority(host, port)
        wire = HttpPeer(h11.CLIENT, streams)
        headers = [(b"Host", target_authority.encode()), *self._headers]
        request = h11.Request(method="CONNECT", target=target_authority, headers=headers)
        await wire.send(request, h11.EndOfMessage())
        response = await wire.receive()
        if isinstance(response, h11.Response) and response.status_code == 200:
            return UpstreamConnection(streams)
        wire.writer.close()
        status = response.status_code if isinstance(response, h11.Response) else "nothing"
        raise ConnectFailed(f"the upstream proxy returned {status} for {target_authority}")


class ProxyConnection:
    """Serves one client until it disconnects."""

    def __init__(self, streams: Streams, connector: Connector) -> None:
        self._client = HttpPeer(h11.SERVER, streams)
        self._connector = connector
        self._server: HttpPeer | None = None
        self._server_netloc = ""  # host and port that `_server` is connected to
        self._route: UpstreamConnection | None = None

    async def serve(self) -> None:
        """Serve requests one after another until either side closes."""
        try:
            while await self._serve_one() and self._client.reusable():
                pass
        except h11.ProtocolError as error:
            await self._answer("400", str(error))
        finally:
            self._drop_server()
            self._client.writer.close()

    async def _serve_one(self) -> bool:
        """Serve one request; returns False if no other can follow on this connection."""
        request = await self._client.receive()
        if not isinstance(request, h11.Request):
            return False
        connect = request.method == b"CONNECT"
        target = request.target.decode("latin-1")
        if connect:
            host, _, port = target.rpartition(":")
            # httpcore2 sends IPv6 without brackets: `::1:443`.
            unbracketed = ":" in host and not host.startswith("[")
            target = f"http://[{host}]:{port}" if unbracketed else f"http://{target}"
        url = parse(target)
        if url is None or url.scheme != "http" or not url.host:
            return await self._answer("400", "not a proxy request")
        try:
            return await (self._tunnel(url) if connect else self._forward(request, url))
        except (Refused, ConnectFailed, NoAnswer) as error:
            return await self._answer_error(error)

    async def _tunnel(self, url: Url) -> bool:
        route = await self._connector.connect(url.host, url.port, tunnel=True)
        self._server = HttpPeer(h11.CLIENT, route.streams)
        await self._client.receive()
        await self._client.send(h11.Response(status_code=200, reason=b"Connected", headers=[]))
        await _relay_both_ways(self._client, self._server)
        return False

    async def _forward(self, request: h11.Request, url: Url) -> bool:
        """Forward a request and its response concurrently: a server may respond early."""
        server, route = await self._connect(url)
        uplink = asyncio.create_task(
            self._send_request(_forwarded_request(request, url, route), server)
        )
        downlink = asyncio.create_task(self._forward_response(server))
        try:
            await asyncio.wait({uplink, downlink}, return_when=asyncio.FIRST_COMPLETED)
            if uplink.done() and uplink.exception() is None and uplink.result():
                return False
            await downlink
        except (h11.ProtocolError, OSError) as error:
            self._drop_server()
            return await self._answer_error(NoAnswer(f"{url.host}: {error}"))
        finally:
            await _cancel(uplink, downlink)
        if not server.reusable():
            self._drop_server()
        return True

    async def _connect(self, url: Url) -> tuple[HttpPeer, UpstreamConnection]:
        """Return the last request's connection if it leads to the same server, or a new one."""
        server, route = self._server, self._route
        if server and route and self._server_netloc == url.netloc and not server.reader.at_eof():
            return server, route
        self._drop_server()
        self._route = await self._connector.connect(url.host, url.port, tunnel=False)
        self._server, self._server_netloc = HttpPeer(h11.CLIENT, self._route.streams), url.netloc
        return self._server, self._route

    async def _send_request(self, request: h11.Request, server: HttpPeer) -> bool:
        """Forward the request; returns True if the client disconnects before the response."""
        await server.send(request)
        while not isinstance(event := await self._client.receive(), h11.EndOfMessage):
            if not isinstance(event, h11.Data):
                return True
            await server.send(event)
        await server.send(event)
        data = await self._client.reader.read(_CHUNK_BYTES)
        self._client.http.receive_data(data)
        return not data

    async def _forward_response(self, server: HttpPeer) -> None:
        """Forward the response until it ends."""
        hints = 0
        while True:
            event = await server.receive()
            match event:
                case h11.InformationalResponse() if hints < _MAX_INTERIM_RESPONSES:
                    hints += 1
                    await self._client.send(event)
                case h11.Response(status_code=status, reason=reason, headers=headers):
                    ours = _end_to_end_headers(headers, dropping=VERDICT_HEADER.encode())
                    answer = h11.Response(status_code=status, reason=reason, headers=ours)
                    await self._client.send(answer)
                case h11.Data():
                    await self._client.send(event)
                case h11.EndOfMessage():
                    await self._client.send(event)
                    return
                case _:
                    raise h11.RemoteProtocolError("the server did not respond")

    async def _answer_error(self, error: BrowserError) -> bool:
        return await self._answer(verdict_for(error), str(error))

    async def _answer(self, verdict: str, reason: str) -> bool:
        """Send the guard's verdict to the client, if it is still waiting for a response."""
        if self._client.http.our_state not in {h11.SEND_RESPONSE, h11.IDLE}:
            return False
        text = reason.encode("ascii", "replace").replace(b"\r", b" ").replace(b"\n", b" ")[:300]
        headers = [
            (VERDICT_HEADER, verdict),
            ("content-length", str(len(text))),
            ("connection", "close"),
        ]
        head = h11.Response(status_code=int(verdict), reason=text, headers=headers)
        await self._client.send(head, h11.Data(data=text), h11.EndOfMessage())
        return False

    def _drop_server(self) -> None:
        if self._server:
            self._server.writer.close()
        self._server = self._route = None


def _forwarded_request(request: h11.Request, url: Url, route: UpstreamConnection) -> h11.Request:
    """The request to forward: with the server's `Host` and without headers meant for the proxy."""
    headers = [
        (b"Host", url.netloc.encode()),
        *_end_to_end_headers(request.headers, dropping=b"host"),
    ]
    target = url.path_and_query
    if route.proxy_headers is not None:
        headers += route.proxy_headers
        target = f"http://{url.netloc}{url.path_and_query}"
    return h11.Request(method=request.method, target=target.encode(), headers=headers)


def _end_to_end_headers(headers: Iterable[Header], *, dropping: bytes) -> list[Header]:
    """Return the headers, in lower case, except hop-by-hop headers and the header `dropping`."""
    headers = list(headers)
    connection = b",".join(value for name, value in headers if name == b"connection")
    listed = {token.strip().lower() for token in connection.split(b",")}
    dropped = _HOP_BY_HOP.union(listed, {dropping})
    return [(name, value) for name, value in headers if name not in dropped]
