"""Finding the way to a host: directly, or through the upstream proxy that the user named."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

import h11
from ada_url import URL

from browser.errors import ConnectFailed
from browser.net.dial import Streams, dial
from browser.net.url import DEFAULT_PORTS
from browser.net.wire import Header, Wire

if TYPE_CHECKING:
    from browser.net.guard import Guard


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


class Router:
    """Connects to what the guard passes. Its methods raise Refused or ConnectFailed."""

    def __init__(self, guard: Guard, upstream: Upstream | None = None) -> None:
        self._guard = guard
        self._upstream = upstream

    async def tunnel(self, host: str, port: int) -> Route:
        """Connect for raw bytes."""
        if self._upstream is None or self._guard.is_named(host, port):
            return await self._direct(host, port)
        await self._vet(host, port)
        streams = await self._dial_upstream(self._upstream)
        authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return Route(await _request_tunnel(streams, authority, self._upstream.headers))

    async def forward(self, host: str, port: int) -> Route:
        """Connect for plain HTTP requests."""
        if self._upstream is None or self._guard.is_named(host, port):
            return await self._direct(host, port)
        await self._vet(host, port)
        return Route(await self._dial_upstream(self._upstream), via_proxy=self._upstream.headers)

    async def _direct(self, host: str, port: int) -> Route:
        return Route(await dial(await self._guard.addresses(host, port), port))

    async def _vet(self, host: str, port: int) -> None:
        """Classify where a name leads from here, if it can be told from here.

        Behind some proxies no public name resolves: then host rules and literals are all there
        is to judge by, and the proxy decides.
        """
        with contextlib.suppress(ConnectFailed):
            await self._guard.addresses(host, port)

    async def _dial_upstream(self, upstream: Upstream) -> Streams:
        try:
            return await asyncio.open_connection(upstream.host, upstream.port)
        except OSError as error:
            where = f"{upstream.host}:{upstream.port}"
            raise ConnectFailed(f"the upstream proxy {where}: {error}") from error


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
