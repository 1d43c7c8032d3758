"""A run's only route to the network: a loopback proxy that resolves, classifies and dials.

    browser ──proxy──┐
    HttpClient ──────┤                ┌────────────── Guard ──────────────┐
    model clients ───┼─> Egress ─ host rules ─> resolve ─> classify each ─> dial that address
    services, mail ──┘      │                                address     (or an upstream proxy)
                            └─ other users of this machine are rejected

The connection goes to the address that was classified, so a second DNS answer cannot change the
target (DNS rebinding), and no redirect, frame, worker or WebSocket can bypass the check. `guard`
decides, `dial` resolves and connects, `proxy` speaks HTTP with the clients.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import sys
from typing import TYPE_CHECKING, Self

from browser.net.dial import MAX_STREAM_BUFFER_BYTES, SystemResolver
from browser.net.guard import EgressPolicy, Guard
from browser.net.proxy import Connector, ProxyConnection

if TYPE_CHECKING:
    from browser.net.guard import Resolve

__all__ = ["CHROMIUM_FEATURES_OFF", "CHROMIUM_FLAGS", "Egress", "EgressPolicy"]

CHROMIUM_FLAGS = (
    # By default, loopback requests bypass the proxy; the guard must see them to refuse them.
    "--proxy-bypass-list=<-loopback>",
    # QUIC is UDP and would bypass an HTTP proxy.
    "--disable-quic",
    # WebRTC may only use the proxy, which cannot carry UDP; in effect, WebRTC is disabled.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # The browser sends no DNS requests itself.
    "--dns-prefetch-disable",
    "--disable-background-networking",
)
"""Flags that Chromium needs in addition to `--proxy-server`, so that nothing bypasses the proxy."""
CHROMIUM_FEATURES_OFF = ("AsyncDns", "DnsOverHttps", "NetworkTimeServiceQuerying")
"""Features to turn off for the same reason."""


class Egress:
    """The guard and its proxy, running inside `async with`.

    `resolve` replaces the system's resolver (in tests). Raises ValueError for an invalid pattern or
    proxy URL in the policy.
    """

    def __init__(self, policy: EgressPolicy | None = None, resolve: Resolve | None = None) -> None:
        self.policy = policy or EgressPolicy()
        self._system = SystemResolver()
        self.guard = Guard(self.policy, resolve or self._system)
        self._connector = Connector(self.guard, self.policy.upstream_proxy)
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, limit=MAX_STREAM_BUFFER_BYTES, backlog=512
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

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if _is_of_other_user(writer.get_extra_info("peername")[1], self.port):
            writer.transport.abort()
            return
        client = asyncio.current_task()
        assert client
        self._clients.add(client)
        try:
            await ProxyConnection((reader, writer), self._connector).serve()
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()  # the client has disconnected, or the run is over
        finally:
            self._clients.discard(client)


# linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h. One exact request takes 11 µs; reading
# /proc/net/tcp takes 5 ms on a machine with a thousand sockets.
_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST = 1
_HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port
_INET_REQUEST = struct.Struct("=BBBBI")  # family, protocol, extensions, padding, states
_SOCKET_ID = struct.Struct("!HH4s12x4s12xI8s")  # ports, addresses, interface, cookie
_UID_OFFSET = _HEADER.size + 4 + _SOCKET_ID.size + 12  # after state, id and three counters
_ALL_TCP_STATES = 0xFFFF_FFFF
_NO_COOKIE = b"\xff" * 8
_LOOPBACK = socket.inet_aton("127.0.0.1")
_ROOT_UID = 0


def _is_of_other_user(peer_port: int, own_port: int) -> bool:
    """Whether the loopback connection from `peer_port` belongs to another user of this machine.

    False if the operating system cannot tell (only Linux can). A password would work everywhere,
    but Playwright can pass one to Chromium only by intercepting every request, which disables its
    cache (measured: reopening a page with 20 images takes 22 requests instead of one, and 210 ms
    instead of 130).
    """
    family = getattr(socket, "AF_NETLINK", None)
    if sys.platform == "win32" or family is None:
        return False
    body = _INET_REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, _ALL_TCP_STATES)
    body += _SOCKET_ID.pack(peer_port, own_port, _LOOPBACK, _LOOPBACK, 0, _NO_COOKIE)
    head = _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _REQUEST, 1, 0)
    try:
        with socket.socket(family, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as kernel:
            kernel.send(head + body)
            answer = kernel.recv(4096)
    except OSError:
        return False  # a container may forbid the request
    if _HEADER.unpack_from(answer)[1] != _SOCK_DIAG_BY_FAMILY:
        return False
    user = int.from_bytes(answer[_UID_OFFSET : _UID_OFFSET + 4], sys.byteorder)
    return user not in {os.geteuid(), _ROOT_UID}
