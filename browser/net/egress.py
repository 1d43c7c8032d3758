"""The one way out of a run: a loopback proxy that resolves, classifies and dials in one place.

    browser ──proxy──┐
    HttpClient ──────┼─> Egress ─ host rules ─ resolve ─ classify each address ─ dial that address
    model clients ───┘

What was classified is what is dialled, so no second answer of a name server can change the
target, and no redirect, frame, worker or WebSocket can go round it.
"""

from __future__ import annotations

import asyncio
from typing import Self

from browser.net.dial import STREAM_LIMIT
from browser.net.guard import EgressPolicy, Guard, Refusal
from browser.net.peer import is_strangers
from browser.net.proxy import ProxyConnection
from browser.net.resolve import Resolve, SystemResolver
from browser.net.route import Router, Upstream

__all__ = ["CHROMIUM_FLAGS", "Egress", "EgressPolicy", "Refusal"]

CHROMIUM_FLAGS = (
    # loopback goes round a proxy by default; the guard must see it to refuse it
    "--proxy-bypass-list=<-loopback>",
    # QUIC is UDP and would not go through an HTTP proxy
    "--disable-quic",
    # WebRTC only over the proxy, that is: not at all, as it cannot carry UDP
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # no name of a page leaves as a DNS question of the browser's own
    "--dns-prefetch-disable",
    "--disable-features=AsyncDns,DnsOverHttps,NetworkTimeServiceQuerying",
    "--disable-background-networking",
)
"""What Chromium must be started with beside `--proxy-server`, so that nothing goes round it."""


class Egress:
    """The guard and its proxy, for the length of `async with`.

    `resolve` answers names in place of the system's resolver (a test's own name server).
    Raises ValueError where the policy holds a pattern or proxy URL that is none.
    """

    def __init__(self, policy: EgressPolicy | None = None, resolve: Resolve | None = None) -> None:
        self.policy = policy or EgressPolicy()
        self._system = SystemResolver()
        self.guard = Guard(self.policy, resolve or self._system)
        upstream = self.policy.upstream_proxy
        self._router = Router(self.guard, Upstream.parse(upstream) if upstream else None)
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, limit=STREAM_LIMIT, backlog=512
        )
        self.guard.own_port = self.port
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        await self._server.wait_closed()
        self._system.close()

    @property
    def port(self) -> int:
        """The loopback port that the proxy listens on."""
        assert self._server, "Egress is used inside `async with`"
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def proxy_url(self) -> str:
        """The proxy for browsers and HTTP clients."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """What was turned away, oldest first (the last thousand)."""
        return tuple(self.guard.refusals)

    def check_url(self, url: str) -> None:
        """Raise Refused for what can be told without asking a name server."""
        self.guard.check_url(url)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if is_strangers(writer.get_extra_info("peername")[1], self.port):
            writer.transport.abort()
            return
        client = asyncio.current_task()
        assert client
        self._clients.add(client)
        try:
            await ProxyConnection((reader, writer), self._router).serve()
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()  # the client has left, or the run is over
        finally:
            self._clients.discard(client)
