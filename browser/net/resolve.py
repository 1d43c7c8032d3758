"""Names to addresses, asked once: what is classified is what is dialled."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import TYPE_CHECKING, Protocol

from browser.errors import ConnectFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.net.address import Address

# getaddrinfo blocks a thread for as long as the name server is silent; more of them than asyncio's
# default pool (CPU count + 4), so that a few dead names do not hold up the living.
_THREADS = 16
# Seconds that an answer is kept: one page asks for the same few names dozens of times.
_KEEP_S = 60.0
_TIMEOUT_S = 10.0


class NameUnknown(ConnectFailed):
    """There is no such host: asking again will not help."""


class Resolve(Protocol):
    """Answer a host name (ASCII form) with its addresses; raise NameUnknown if it has none."""

    async def __call__(self, host: str) -> Sequence[Address]:
        """Return at least one address, the preferred one first."""
        ...


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
