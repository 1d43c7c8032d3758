"""Names to addresses, asked once, and connections to those that the guard has passed.

What is classified is what is dialled. `tunnel` connects through the egress for what speaks no HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import h11

from browser.errors import ConnectFailed, NameUnknown, Refused
from browser.net.guard import REFUSED, UNKNOWN
from browser.net.url import parse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from browser.net.guard import Address

# getaddrinfo blocks a thread for as long as the name server is silent; more of them than asyncio's
# default pool (CPU count + 4), so that a few dead names do not hold up the living.
_THREADS = 16
# Seconds that an answer is kept: one page asks for the same few names dozens of times.
_KEEP_S = 60.0
_TIMEOUT_S = 10.0


class SystemResolver:
    """The operating system's resolver, with a short memory and one question per name at a time."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="resolve")
        self._answers: dict[str, tuple[float, asyncio.Task[Sequence[Address]]]] = {}

    async def __call__(self, host: str) -> Sequence[Address]:
        """Return the addresses of `host`, in the system's order of preference."""
        now = asyncio.get_running_loop().time()
        asked_at, answer = self._answers.get(host, (0.0, None))
        if answer is None or now - asked_at > _KEEP_S or _failed(answer):
            answer = asyncio.create_task(self._ask(host))
            self._answers[host] = (now, answer)
        return await asyncio.shield(answer)

    def close(self) -> None:
        """Forget all answers; threads still waiting for a name server end by themselves."""
        for _, answer in self._answers.values():
            answer.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _ask(self, host: str) -> Sequence[Address]:
        loop = asyncio.get_running_loop()
        question = loop.run_in_executor(self._threads, _getaddrinfo, host)
        try:
            found = await asyncio.wait_for(question, _TIMEOUT_S)
        except TimeoutError as error:
            raise ConnectFailed(f"no name server answered for {host}") from error
        except (OSError, UnicodeError) as error:
            raise NameUnknown(f"the name {host} is unknown: {error}") from error
        return tuple(dict.fromkeys(ip_address(text.partition("%")[0]) for text in found))


def _getaddrinfo(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def _failed(answer: asyncio.Task[Sequence[Address]]) -> bool:
    return answer.done() and (answer.cancelled() or answer.exception() is not None)


# RFC 8305: a quarter of a second before the next address is tried beside the first.
_STAGGER_S = 0.25
CONNECT_TIMEOUT_S = 10.0
# Bytes read ahead on a stream before its sender is made to wait.
STREAM_LIMIT = 256 * 1024

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def dial(
    addresses: Sequence[Address], port: int, *, within: float = CONNECT_TIMEOUT_S
) -> Streams:
    """Connect to whichever address answers first. Raises ConnectFailed with the first reason."""
    try:
        async with asyncio.timeout(within):
            sock = await _race(_interleaved(addresses), port)
    except TimeoutError as error:
        raise ConnectFailed(f"no answer from port {port} of {addresses[0]}") from error
    return await asyncio.open_connection(sock=sock, limit=STREAM_LIMIT)


async def _race(addresses: Sequence[Address], port: int) -> socket.socket:
    attempts: set[asyncio.Task[socket.socket]] = set()
    errors: list[OSError] = []
    async with _closing_losers(attempts):
        for address in addresses:
            attempts.add(asyncio.create_task(_connect(address, port)))
            if sock := await _first(attempts, errors, within=_STAGGER_S):
                return sock
        if sock := await _first(attempts, errors, within=None):
            return sock
    # asyncio words every failure alike; the number tells refused from unreachable
    reason = os.strerror(errors[0].errno or 0).lower()
    raise ConnectFailed(f"port {port} of {addresses[0]}: {reason}")


async def _first(
    attempts: set[asyncio.Task[socket.socket]], errors: list[OSError], *, within: float | None
) -> socket.socket | None:
    """Wait for the first attempt that succeeds, dropping those that fail."""
    while attempts:
        done, _ = await asyncio.wait(attempts, timeout=within, return_when=asyncio.FIRST_COMPLETED)
        for attempt in done:
            attempts.discard(attempt)
            error = attempt.exception()
            if error is None:
                return attempt.result()
            if not isinstance(error, OSError):
                raise error
            errors.append(error)
        if not done:
            break
    return None


@contextlib.asynccontextmanager
async def _closing_losers(attempts: set[asyncio.Task[socket.socket]]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        for attempt in attempts:
            attempt.cancel()
        for outcome in await asyncio.gather(*attempts, return_exceptions=True):
            if isinstance(outcome, socket.socket):
                outcome.close()


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


def _interleaved(addresses: Sequence[Address]) -> list[Address]:
    """Alternate the families, beginning with the one that the resolver prefers."""
    first = [a for a in addresses if a.version == addresses[0].version]
    second = [a for a in addresses if a.version != addresses[0].version]
    return [a for a in chain.from_iterable(zip_longest(first, second)) if a is not None]


def tunnel(proxy_url: str, host: str, port: int, *, timeout: float) -> socket.socket:
    """Connect to `host` through the proxy at `proxy_url`; blocks, so it is called in a thread.

    The socket keeps `timeout` (s) for whatever is done with it. Raises Refused, ConnectFailed.
    """
    proxy = parse(proxy_url)
    assert proxy is not None, "the egress has an address"
    connection = socket.create_connection((proxy.host, proxy.port), timeout=timeout)
    try:
        status, reason = _ask_for_tunnel(
            connection, f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        )
    except (OSError, h11.ProtocolError) as error:
        connection.close()
        raise ConnectFailed(f"{host}:{port}: {error}") from error
    if status == "200":
        return connection
    connection.close()
    known = {REFUSED: Refused, UNKNOWN: NameUnknown}
    raise known.get(status, ConnectFailed)(reason)


def _ask_for_tunnel(connection: socket.socket, authority: str) -> tuple[str, str]:
    """Ask for the tunnel; gives the status and its reason, having read no byte beyond them."""
    wire = h11.Connection(h11.CLIENT)
    request = h11.Request(method="CONNECT", target=authority, headers=[("Host", authority)])
    connection.sendall((wire.send(request) or b"") + (wire.send(h11.EndOfMessage()) or b""))
    while (event := wire.next_event()) is h11.NEED_DATA:
        # A server that speaks first, as of mail, may do so at once: no byte of it is taken here.
        wire.receive_data(connection.recv(1))
    if isinstance(event, h11.Response):
        return str(event.status_code), event.reason.decode("ascii", "replace")
    raise h11.RemoteProtocolError("the egress closed the connection")
