"""Resolves names and connects to the addresses that the guard allows.

Security: the connection goes to the address that was classified; the name is not resolved again.
`tunnel` connects through the egress proxy for protocols other than HTTP.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from browser.errors import ConnectFailed, NameUnknown
from browser.net.guard import error_from_verdict
from browser.net.url import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.net.guard import Address

# getaddrinfo blocks a thread until the name server answers. This pool is larger than asyncio's
# default (CPU count + 4), so that a few names that never resolve do not delay the others.
_MAX_THREADS = 16
# How long an answer is cached, in seconds: a page looks up the same few names dozens of times.
_CACHE_S = 60.0
_TIMEOUT_S = 10.0
# RFC 8305: seconds before the next address is tried as well.
_STAGGER_S = 0.25
_CONNECT_TIMEOUT_S = 10.0
# Bytes buffered from a stream before its sender has to wait.
MAX_STREAM_BUFFER_BYTES = 256 * 1024

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class SystemResolver:
    """The operating system's resolver, with a short-lived cache; one request per name at a time."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="resolve")
        self._answers: dict[str, tuple[float, asyncio.Task[Sequence[Address]]]] = {}

    async def __call__(self, host: str) -> Sequence[Address]:
        """Return the addresses of `host`, in the system's order of preference."""
        now = asyncio.get_running_loop().time()
        started, answer = self._answers.get(host, (0.0, None))
        failed = answer and answer.done() and (answer.cancelled() or answer.exception())
        if answer is None or failed or now - started > _CACHE_S:
            answer = asyncio.create_task(self._resolve(host))
            self._answers[host] = (now, answer)
        # Shielded: when one caller is cancelled, others may be waiting for the same answer.
        return await asyncio.shield(answer)

    def close(self) -> None:
        """Cancel all requests; threads that are waiting for a name server finish on their own."""
        for _, answer in self._answers.values():
            answer.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _resolve(self, host: str) -> Sequence[Address]:
        def getaddrinfo() -> list[str]:
            infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            return [str(address[0]) for *_, address in infos]

        try:
            lookup = asyncio.get_running_loop().run_in_executor(self._threads, getaddrinfo)
            found = await asyncio.wait_for(lookup, _TIMEOUT_S)
        except TimeoutError as error:
            raise ConnectFailed(f"no name server answered for {host}") from error
        except (OSError, UnicodeError) as error:
            raise NameUnknown(f"the host name {host} is unknown: {error}") from error
        return tuple(dict.fromkeys(ip_address(text.partition("%")[0]) for text in found))


async def dial(addresses: Sequence[Address], port: int) -> Streams:
    """Connect to the first address that answers. Raises ConnectFailed with the first error."""
    try:
        async with asyncio.timeout(_CONNECT_TIMEOUT_S):
            sock = await _connect_to_fastest(addresses, port)
    except TimeoutError as error:
        raise ConnectFailed(f"no response from port {port} of {addresses[0]}") from error
    return await asyncio.open_connection(sock=sock, limit=MAX_STREAM_BUFFER_BYTES)


async def _connect_to_fastest(addresses: Sequence[Address], port: int) -> socket.socket:
    """Happy Eyeballs (RFC 8305): address families alternate, the resolver's preferred one first."""
    first = [a for a in addresses if a.version == addresses[0].version]
    second = [a for a in addresses if a.version != addresses[0].version]
    waiting = deque(a for a in chain.from_iterable(zip_longest(first, second)) if a is not None)
    attempts: list[asyncio.Task[socket.socket]] = []
    running: set[asyncio.Task[socket.socket]] = set()
    errors: list[OSError] = []
    winner = None
    try:
        while winner is None and (waiting or running):
            if waiting:
                attempts.append(asyncio.create_task(_connect(waiting.popleft(), port)))
                running.add(attempts[-1])
            done, running = await asyncio.wait(
                running,
                timeout=_STAGGER_S if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            for attempt in done:
                try:
                    winner = winner or attempt.result()
                except OSError as error:
                    errors.append(error)
    finally:
        # Nothing is awaited here: if this task is cancelled too, no socket may stay open.
        for attempt in attempts:
            if attempt.cancel() or attempt.cancelled() or attempt.exception() is not None:
                continue
            if attempt.result() is not winner:
                attempt.result().close()  # this one connected too, but later
    if winner is not None:
        return winner
    # asyncio's message is the same for all failures; errno shows the cause.
    reason = os.strerror(errors[0].errno or 0).lower()
    raise ConnectFailed(f"port {port} of {addresses[0]}: {reason}")


async def _connect(address: Address, port: int) -> socket.socket:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, (str(address), port))
    except BaseException:
        sock.close()
        raise
    return sock


def authority(host: str, port: int) -> str:
    """Format `host:port` for a CONNECT request, with IPv6 addresses in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def tunnel(proxy_url: str, host: str, port: int, *, timeout: float) -> socket.socket:
    """Connect to `host` through the proxy at `proxy_url`; blocking, so call it in a thread.

    `timeout` (s) applies to every operation on the socket. Raises Refused, ConnectFailed.
    """
    proxy = parse(proxy_url)
    assert proxy is not None, "the egress has an address"
    target = authority(host, port)
    connection = socket.create_connection((proxy.host, proxy.port), timeout=timeout)
    head = b""
    try:
        connection.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        while not head.endswith(b"\r\n\r\n"):
            # Read byte by byte: a mail server may start sending immediately, and none of its bytes
            # may be consumed here.
            byte = connection.recv(1)
            if not byte:
                raise ConnectionAbortedError("the egress proxy closed the connection")
            head += byte
    except OSError as error:
        connection.close()
        raise ConnectFailed(f"{target}: {error}") from error
    _, status, reason = head.decode("ascii", "replace").partition("\r\n")[0].split(" ", 2)
    if status == "200":
        return connection
    connection.close()
    raise error_from_verdict(status, reason)
