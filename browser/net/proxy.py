"""The egress proxy's side of one connection: CONNECT tunnels, plain HTTP, upgrades.

`Wire` is h11 on asyncio streams with back-pressure; `Connector` dials what the guard passes, or
chains behind the upstream proxy that the user named; `ProxyConnection` serves one client.
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

from browser.errors import ConnectFailed, NameUnknown, Refused
from browser.net.dial import Streams, dial
from browser.net.guard import REFUSED, UNANSWERED, UNKNOWN, UNREACHABLE, VERDICT
from browser.net.url import DEFAULT_PORTS, Url, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from browser.net.guard import Guard


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


@dataclass(frozen=True, slots=True)
class Route:
    """A connected way.

    `via_proxy` is set where the far end is a proxy that expects whole URLs: the headers for it.
    """

    streams: Streams
    via_proxy: tuple[Header, ...] | None = None


@dataclass(frozen=True, slots=True)
class Upstream:
    """A proxy behind the guard: where it is, and the headers that let us in."""

    host: str
    port: int
    headers: tuple[Header, ...] = ()

    @classmethod
    def parse(cls, url: str) -> Upstream:
        """Read `http://[user:password@]host:port`. Raises ValueError for anything else."""
        parsed = URL(url if "://" in url else f"http://{url}")
        if parsed.protocol != "http:":
            raise ValueError(f"only http:// proxies can be chained, not {parsed.protocol}//")
        port = int(parsed.port or DEFAULT_PORTS["http"])
        if not parsed.username:
            return cls(parsed.hostname.strip("[]"), port)
        pair = f"{unquote(parsed.username)}:{unquote(parsed.password)}".encode()
        credentials = b"Basic " + base64.b64encode(pair)
        return cls(parsed.hostname.strip("[]"), port, ((b"Proxy-Authorization", credentials),))


class Connector:
    """Connects to what the guard passes. Its methods raise Refused or ConnectFailed."""

    def __init__(self, guard: Guard, upstream: Upstream | None = None) -> None:
        self._guard = guard
        self._upstream = upstream

    async def connect(self, host: str, port: int, *, tunnel: bool) -> Route:
        """Connect for the raw bytes of a tunnel, or else for plain HTTP requests."""
        upstream = self._upstream
        if upstream is None or self._guard.is_named(host, port):
            return Route(await dial(await self._guard.addresses(host, port), port))
        # Behind some proxies no public name resolves from here: then host rules and literals are
        # all there is to judge by, and the proxy decides.
        with contextlib.suppress(ConnectFailed):
            await self._guard.addresses(host, port)
        try:
            streams = await asyncio.open_connection(upstream.host, upstream.port)
        except OSError as error:
            where = f"{upstream.host}:{upstream.port}"
            raise ConnectFailed(f"the upstream proxy {where}: {error}") from error
        if not tunnel:
            return Route(streams, via_proxy=upstream.headers)
        authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return Route(await _request_tunnel(streams, authority, upstream.headers))


async def _request_tunnel(streams: Streams, authority: str, headers: tuple[Header, ...]) -> Streams:
    """Ask an upstream proxy for a tunnel. Raises ConnectFailed with its answer."""
    upstream = Wire(h11.CLIENT, streams)
    host = (b"Host", authority.encode())
    await upstream.send(h11.Request(method="CONNECT", target=authority, headers=[host, *headers]))
    await upstream.send(h11.EndOfMessage())
    answer = await upstream.receive()
    if isinstance(answer, h11.Response) and answer.status_code == 200:
        return upstream.streams
    upstream.close()
    said = answer.status_code if isinstance(answer, h11.Response) else "nothing"
    raise ConnectFailed(f"the upstream proxy answered {said} for {authority}")


# Interim answers (1xx) before the final one; servers send one or two, floods never end.
_MAX_HINTS = 16


class ProxyConnection:
    """Serves one client until it leaves."""

    def __init__(self, streams: Streams, router: Connector) -> None:
        self._client = Wire(h11.SERVER, streams)
        self._router = router
        self._server: Wire | None = None
        self._route: tuple[str, Route] | None = None

    async def serve(self) -> None:
        """Answer requests one after the other; ends when either side does."""
        try:
            while await self._serve_one() and self._client.reusable():
                pass
        except h11.ProtocolError as error:
            await self._answer("400", str(error))
        finally:
            self._drop_server()
            self._client.close()

    async def _serve_one(self) -> bool:
        request = await self._client.receive()
        if not isinstance(request, h11.Request):
            return False
        connect = request.method == b"CONNECT"
        target = request.target.decode("latin-1")
        url = parse(f"http://{_bracketed(target)}" if connect else target)
        if url is None or url.scheme not in {"http", "ws"} or not url.host:
            return await self._answer("400", "not a proxy request")
        try:
            return await (self._tunnel(url) if connect else self._forward(request, url))
        except Refused as refused:
            return await self._answer(REFUSED, str(refused))
        except NameUnknown as unknown:
            return await self._answer(UNKNOWN, str(unknown))
        except ConnectFailed as failed:
            return await self._answer(UNREACHABLE, str(failed))

    async def _tunnel(self, url: Url) -> bool:
        route = await self._router.connect(url.host, url.port, tunnel=True)
        self._server = Wire(h11.CLIENT, route.streams)
        await self._client.receive()
        await self._client.send(h11.Response(status_code=200, reason=b"Connected", headers=[]))
        await splice(self._client, self._server)
        return False

    async def _forward(self, request: h11.Request, url: Url) -> bool:
        server, route = await self._connect(url)
        uplink = asyncio.create_task(self._uplink(_outgoing(request, url, route), server))
        downlink = asyncio.create_task(self._downlink(server))
        try:
            await asyncio.wait({uplink, downlink}, return_when=asyncio.FIRST_COMPLETED)
            if uplink.done() and uplink.exception() is None and uplink.result():
                return False
            answered = await downlink
        except (h11.ProtocolError, OSError) as error:
            self._drop_server()
            return await self._answer(UNANSWERED, f"{url.host}: {error}")
        finally:
            await _cancelled(uplink, downlink)
        if self._client.http.our_state is h11.SWITCHED_PROTOCOL:
            await splice(self._client, server)
        if not (answered and server.reusable()):
            self._drop_server()
        return answered

    async def _connect(self, url: Url) -> tuple[Wire, Route]:
        """Return the last request's connection if it went to the same place, else a new one."""
        same = self._route is not None and self._route[0] == url.netloc
        if self._server and self._route and same and not self._server.reader.at_eof():
            return self._server, self._route[1]
        self._drop_server()
        route = await self._router.connect(url.host, url.port, tunnel=False)
        self._server, self._route = Wire(h11.CLIENT, route.streams), (url.netloc, route)
        return self._server, route

    async def _uplink(self, request: h11.Request, server: Wire) -> bool:
        """Carry the request out; then True if the client leaves before its answer came."""
        await server.send(request)
        while not isinstance(event := await self._client.receive(), h11.EndOfMessage):
            if not isinstance(event, h11.Data):
                return True
            await server.send(event)
        await server.send(event)
        return await self._client.gone()

    async def _downlink(self, server: Wire) -> bool:
        """Carry the answer back to its end; False if the protocol was switched instead."""
        hints = 0
        while True:
            event = await server.receive()
            match event:
                case h11.InformationalResponse(status_code=101):
                    await self._client.send(event)
                    return False
                case h11.InformationalResponse() if hints < _MAX_HINTS:
                    hints += 1
                    await self._client.send(event)
                case h11.Response():
                    await self._client.send(_incoming(event))
                case h11.Data():
                    await self._client.send(event)
                case h11.EndOfMessage():
                    await self._client.send(event)
                    return True
                case _:
                    raise h11.RemoteProtocolError("the server gave no answer")

    async def _answer(self, verdict: str, reason: str) -> bool:
        """Answer in the guard's own name, if the client still waits for an answer."""
        if self._client.http.our_state not in {h11.SEND_RESPONSE, h11.IDLE}:
            return False
        text = reason.encode("ascii", "replace").replace(b"\r", b" ").replace(b"\n", b" ")[:300]
        headers = [(VERDICT, verdict), ("content-length", str(len(text))), ("connection", "close")]
        await self._client.send(
            h11.Response(status_code=int(verdict), reason=text, headers=headers)
        )
        await self._client.send(h11.Data(data=text))
        await self._client.send(h11.EndOfMessage())
        return False

    def _drop_server(self) -> None:
        if self._server:
            self._server.close()
        self._server = self._route = None


def _bracketed(authority: str) -> str:
    """Mend `::1:443`, as httpcore2 writes the target of a tunnel."""
    host, _, port = authority.rpartition(":")
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else authority


def _outgoing(request: h11.Request, url: Url, route: Route) -> h11.Request:
    """The request for the far end: its own host in `Host`, nothing that was meant for us."""
    headers = [(b"Host", url.netloc.encode()), *end_to_end(request.headers, dropping=[b"host"])]
    upgrade = dict(request.headers).get(b"upgrade")
    if upgrade:
        headers += [(b"Connection", b"Upgrade"), (b"Upgrade", upgrade)]
    target = url.target
    if route.via_proxy is not None:
        headers += route.via_proxy
        target = f"http://{url.netloc}{url.target}"
    return h11.Request(method=request.method, target=target.encode(), headers=headers)


def _incoming(response: h11.Response) -> h11.Response:
    return h11.Response(
        status_code=response.status_code,
        reason=response.reason,
        headers=end_to_end(response.headers, dropping=[VERDICT.encode()]),
    )


async def _cancelled(*tasks: asyncio.Task[bool]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
