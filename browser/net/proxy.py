"""The proxy's side of one client connection: CONNECT tunnels, plain HTTP, upgrades."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import h11

from browser.errors import ConnectFailed, Refused
from browser.net.resolve import NameUnknown
from browser.net.url import Url, parse
from browser.net.wire import Wire, end_to_end, splice

if TYPE_CHECKING:
    from browser.net.dial import Streams
    from browser.net.route import Route, Router

# How our own client tells the guard's answers from a server's: never passed on from outside.
VERDICT = "x-egress-verdict"
REFUSED, UNREACHABLE, UNKNOWN = "403", "502", "503"
"""The verdicts are the statuses: those of a tunnel are all that its client gets to see."""


# Interim answers (1xx) before the final one; servers send one or two, floods never end.
_MAX_HINTS = 16


class ProxyConnection:
    """Serves one client until it leaves."""

    def __init__(self, streams: Streams, router: Router) -> None:
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
        route = await self._router.tunnel(url.host, url.port)
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
            return await self._answer(UNREACHABLE, f"{url.host}: {error}")
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
        route = await self._router.forward(url.host, url.port)
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
    """Mend `::1:443`, as httpcore writes the target of a tunnel."""
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
